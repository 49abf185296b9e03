"""Random tables both ways: Apache Hudi reads nbcc's, nbcc reads Hudi's, and both write one table in turns.

Ordering values are all different, so that by event time every reader must give the same rows (docs/contract.md, SNAP).
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from nbcc.engine import Table
from nbcc.simulator.lockstep.peers.process import peer
from tests.builders.pending import Replacement, Row, Write, groups_of, make_versioned_table

from .readers import Rows, by_bundle

VERSIONS, BUCKETS, FORMATS = ("8", "9"), (1, 2, 7), ("avro", "parquet")
PARTITIONS = ("p0", "p1")
SHAPES = list(product(VERSIONS, BUCKETS, FORMATS))
KEYS, STEPS = 2, 10
LOG_FORMAT, VERSION = "hoodie.logfile.data.block.format", "hoodie.write.table.version"

Ask = Callable[..., Any]


class Source:
    """Batches of rows whose ordering values are all different; one in four rows deletes."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self._orderings = self.random.sample(range(1, 1000), 400)

    def rows(self) -> list[Row]:
        keys = self.random.sample(
            [(part, f"k{n}") for part in PARTITIONS for n in range(KEYS)], self.random.randint(1, 3)
        )
        numbered = [(part, key, self._orderings.pop()) for part, key in keys]
        return [
            (part, key, number, None if self.random.random() < 0.25 else f"v{number}") for part, key, number in numbered
        ]


def ours(table: Table) -> Rows:
    return {(row["id"], row["ts"], row["value"]) for row in table.snapshot().to_pylist()}


def to_peer(rows: list[Row]) -> list[list[Any]]:
    return [[key, part, ordering, value, value is None] for part, key, ordering, value in rows]


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[Ask]:
    """The peer about the table in the test's folder."""
    process = peer("hudi")
    yield lambda step, **arguments: process.ask(step, str(tmp_path), **arguments)
    process.ask("forget", str(tmp_path))


@pytest.fixture(scope="module")
def counted(pytestconfig: pytest.Config) -> Iterator[Counter[str]]:
    """What was compared, printed at the end."""
    counts: Counter[str] = Counter()
    yield counts
    reporter = pytestconfig.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        reporter.write_line("\nboth ways: " + ", ".join(f"{count} {what}" for what, count in sorted(counts.items())))


@pytest.mark.parametrize("shape", SHAPES)
def test_hudi_reads_our_random_tables(shape: tuple[str, int, str], tmp_path: Path, counted: Counter[str]) -> None:
    """Writes overlap, plans pend; every file group begins with a base file, because of apache/hudi#19774."""
    version, buckets, log_format = shape
    source = Source(SHAPES.index(shape))
    table = make_versioned_table(tmp_path, version, buckets=buckets, options={LOG_FORMAT: log_format})
    opening = Replacement(table, groups_of(table, *PARTITIONS))
    opening.write()
    opening.commit()
    read, begun = by_bundle("1.2.0"), list[Write]()
    for _ in range(STEPS):
        if begun and source.random.random() < 0.4:
            begun.pop(source.random.randrange(len(begun))).commit()
        elif source.random.random() < 0.3:
            table.schedule_compaction() if source.random.random() < 0.5 else table.run_compaction()
        else:
            begun.append(Write(table, *source.rows()))
        assert read(tmp_path) == ours(table)
        counted["states of our tables read by Hudi"] += 1


@pytest.mark.parametrize("shape", SHAPES)
def test_we_read_random_tables_of_hudi(
    shape: tuple[str, int, str], tmp_path: Path, asked: Ask, counted: Counter[str]
) -> None:
    """A first commit puts a log into every file group, because of apache/hudi#19774."""
    version, buckets, log_format = shape
    source = Source(100 + SHAPES.index(shape))
    more = {LOG_FORMAT: log_format, VERSION: version}
    asked("create", merge_mode="EVENT_TIME_ORDERING", buckets=buckets, partitions=PARTITIONS, more=more)
    asked("start", actor="w")
    asked("data", actor="w", rows=to_peer([(part, f"s{n}", 1, "first") for part in PARTITIONS for n in range(40)]))
    asked("commit", actor="w")
    begun, plans = list[str](), list[str]()
    for step in range(STEPS):
        if begun and source.random.random() < 0.4:
            asked("commit", actor=begun.pop(source.random.randrange(len(begun))))
        elif plans and source.random.random() < 0.5:
            asked("compact", actor=f"c{step}", instant=plans[0])
            asked("commit_compaction", actor=f"c{step}")
            plans.pop(0)
        elif source.random.random() < 0.2 and (plan := asked("plan", actor=f"c{step}")):
            plans.append(plan)
        else:
            asked("start", actor=f"w{step}")
            asked("data", actor=f"w{step}", rows=to_peer(source.rows()))
            begun.append(f"w{step}")
        hudis = {(key, ordering, value) for key, ordering, value, _ in asked("read", kind="snapshot")}
        assert ours(Table.open(None, tmp_path)) == hudis
        counted["states of Hudi's tables read by us"] += 1


@pytest.mark.parametrize(("version", "buckets"), list(product(VERSIONS, (1, 2, 7))))
def test_both_write_one_table(version: str, buckets: int, tmp_path: Path, asked: Ask, counted: Counter[str]) -> None:
    """Writes of nbcc and of Hudi overlap in a table of nbcc, and both compact it."""
    source = Source(200 + 10 * VERSIONS.index(version) + buckets)
    table = make_versioned_table(tmp_path, version, buckets=buckets)
    opening = Replacement(table, groups_of(table, *PARTITIONS))
    opening.write()
    opening.commit()
    asked("open", merge_mode="EVENT_TIME_ORDERING", buckets=buckets, partitions=PARTITIONS, more={VERSION: version})
    begun: list[Callable[[], object]] = []
    for step in range(STEPS):
        chance = source.random.random()
        if begun and chance < 0.4:
            begun.pop(source.random.randrange(len(begun)))()
        elif chance < 0.6:
            begun.append(Write(table, *source.rows()).commit)
            counted["writes of ours into a table of both"] += 1
        elif chance < 0.9:
            actor = f"w{step}"
            asked("start", actor=actor)
            asked("data", actor=actor, rows=to_peer(source.rows()))
            begun.append(partial(asked, "commit", actor=actor))
            counted["writes of Hudi's into a table of both"] += 1
        else:
            table.compact()
        hudis = {(key, ordering, value) for key, ordering, value, _ in asked("read", kind="snapshot")}
        assert ours(table) == hudis
        counted["states of tables of both"] += 1
