"""hudi-rs reads random tables as nbcc does; what a rule of specs/boundary.md takes out is named and counted. Each rule
of the protocol hudi-rs-0.5.0 has a history that hudi-rs reads as the rule says, not as without it.
"""

from __future__ import annotations

import datetime
import random
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final

import pyarrow as pa
import pytest

from nbcc.engine import Table
from nbcc.engine.errors import NbccError
from nbcc.model import Model, Protocol, World
from nbcc.simulator.lockstep.crosscheck import readers
from nbcc.simulator.lockstep.crosscheck.check import Check, CheckOptions
from nbcc.simulator.lockstep.crosscheck.disagreement import Disagreement
from nbcc.simulator.lockstep.crosscheck.foreign import foreign_rows
from nbcc.simulator.lockstep.crosscheck.history import PlayedHistory
from nbcc.simulator.lockstep.crosscheck.readers import AS_HUDI_RS
from nbcc.simulator.lockstep.crosscheck.report import Tally
from nbcc.simulator.lockstep.systems.registry import factory
from tests.builders.state_checkpoints import COPIES
from tests.builders.tables import make_table, table_of

pytest.importorskip("hudi")

BY_DAY, AT_NIGHT = range(12), range(750)
UTC: Final = datetime.UTC
ORDERINGS: Final[dict[pa.DataType, tuple[Any, ...]]] = {
    pa.int64(): (0, 1, 2, -(2**63)),
    pa.int32(): (0, 1, 2, -5),
    pa.string(): ("", "a", "b"),
    pa.date32(): tuple(datetime.date(1970, 1, day) for day in (1, 2, 3)),
    pa.timestamp("us", "UTC"): tuple(datetime.datetime(1970, 1, 1, 0, 0, second, tzinfo=UTC) for second in (0, 1, 2)),
}
"""Type of the ordering column -> its values, the first of which are 0 or empty."""

ZEROS: Final = {pa.int32(): 0, pa.date32(): datetime.date(1970, 1, 1)}
"""Types of 32 bits -> the value that stands for a delete without an ordering value in Hudi's delete blocks."""

PARTITIONS: Final = ("p", "a b", "ü", "%2F", "a/b", "#1", "A.b", "&", "💥", "\\", "null", "~")
KEYS: Final = ("k0", "k1", "k2", "a/b", "é")
ZERO: Final = "a delete with the ordering value 0 of 32 bits"
Key = tuple[str | None, str | None]


@dataclass
class RandomTable:
    """A table with a random history, and the keys that a rule takes out, each with the rule."""

    table: Table
    chance: random.Random
    ordering: pa.DataType
    partitions: list[str]
    out: dict[Key, str] = field(default_factory=dict)

    def row(self) -> tuple[Any, ...]:
        part = self.chance.choice(self.partitions)
        return self.chance.choice(KEYS), part, self.chance.choice(ORDERINGS[self.ordering])

    def rows(self, most: int = 3) -> dict[tuple[Any, ...], tuple[Any, ...]]:
        return {row[:2]: row for row in (self.row() for _ in range(self.chance.randint(1, most)))}

    def upsert(self) -> None:
        rows = [(*row, self.chance.choice(("x", "y", None))) for row in self.rows().values()]
        self.table.upsert(table_of(self.table.config.schema, *rows))

    def update(self) -> None:
        """Set the column `a` alone, which only a table of partial updates takes."""
        rows = [(*row, "u") for row in self.rows().values()]
        self.table.upsert(table_of(self.table.config.schema, *rows), columns=["a"])

    def delete(self) -> None:
        rows = self.rows().values()
        self.table.delete(table_of(self.table.config.schema.remove(3), *rows))
        zero = ZEROS.get(self.ordering, "none")
        self.out |= {row[:2]: ZERO for row in rows if row[2] == zero}

    def overwrite(self) -> None:
        self.table.insert_overwrite(table_of(self.table.config.schema, (*self.row(), "new")))

    def compact(self) -> None:
        self.table.compact()

    def log_compact(self) -> None:
        self.table.log_compact()

    def clean(self) -> None:
        self.table.clean(retained=1)

    def archive(self) -> None:
        self.table.archive(retained=2)


def random_table(folder: Path, seed: int) -> RandomTable:
    chance = random.Random(seed)
    ordering, kind = chance.choice([*ORDERINGS]), chance.choice(("plain", "plain", "copy on write", "partial"))
    schema = pa.schema([("id", pa.string()), ("part", pa.string()), ("ts", ordering), ("a", pa.string())])
    options = {
        "hoodie.logfile.data.block.format": chance.choice(("parquet", "avro")),
        "hoodie.datasource.write.hive_style_partitioning": chance.choice(("true", "false")),
        "hoodie.write.table.version": chance.choice(("8", "9")),
    }
    if kind == "partial":
        options["nbcc.partial.update.mode"] = "SET_COLUMNS"
    table = make_table(
        folder / f"{seed}", schema=schema, buckets=chance.choice((1, 2)), options=options,
        merge_mode=chance.choice(("EVENT_TIME_ORDERING", "EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING")),
        **(COPIES if kind == "copy on write" else {}),
    )  # fmt: skip
    found = RandomTable(table, chance, ordering, chance.sample(PARTITIONS, 3))
    steps = {
        RandomTable.upsert: 8, RandomTable.update: 2, RandomTable.delete: 4, RandomTable.overwrite: 1,
        RandomTable.compact: 2, RandomTable.log_compact: 1, RandomTable.clean: 1, RandomTable.archive: 1,
    }  # fmt: skip
    found.upsert()
    for step in chance.choices([*steps], [*steps.values()], k=chance.randint(4, 12)):
        with suppress(NbccError):  # a table without logs has none to compact
            step(found)
    if kind == "partial":  # before a compaction Hudi's readers do not merge partial rows (specs/boundary.md)
        table.compact()
    return found


def rows(answer: pa.Table) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(row[name] for name in ("id", "part", "ts", "a")) for row in answer.to_pylist())


def left(answer: Counter[tuple[Any, ...]], out: dict[Key, str]) -> Counter[tuple[Any, ...]]:
    return Counter({row: count for row, count in answer.items() if row[:2] not in out})


def compared(folder: Path, seeds: range) -> Counter[str]:
    """Compare the tables, and count those that differ by the rules that explain it."""
    from hudi import HudiTable

    by_rule: Counter[str] = Counter()
    for seed in seeds:
        found = random_table(folder, seed)
        batches = HudiTable(str(folder / f"{seed}")).read()
        theirs = rows(pa.Table.from_batches(batches)) if batches else Counter()
        ours = rows(found.table.snapshot())
        assert left(theirs, found.out) == left(ours, found.out), seed
        differ = {row[:2] for row in (ours - theirs) + (theirs - ours)}
        by_rule.update({found.out[key] for key in differ} or {"equal"})
    return by_rule


def test_hudi_rs_reads_random_tables_as_nbcc_does(tmp_path: Path) -> None:
    assert compared(tmp_path, BY_DAY)["equal"] > len(BY_DAY) // 2


@pytest.mark.nightly
def test_hudi_rs_differs_only_by_the_rules_of_the_boundary(tmp_path: Path) -> None:
    by_rule = compared(tmp_path, AT_NIGHT)
    print(by_rule)
    assert by_rule.keys() == {"equal", ZERO}


pytest.importorskip("hudi")
RULES = sorted(AS_HUDI_RS.differences())
MOST = 300
KINDS = ("writer", "compactor", "log_compactor")
"""The actors whose histories distinguish the rules; others only take their steps."""


def without(rule: str) -> Protocol:
    """The setting with one rule back at its default."""
    return Protocol.from_mapping({name: value for name, value in AS_HUDI_RS.differences().items() if name != rule})


def fresh(world: World, protocol: Protocol) -> Model:
    """Not `Model` itself, so that the edges of the pinned world are not counted."""
    return Model(world, protocol)


@cache
def distinguishing_seeds() -> Mapping[str, int]:
    """By rule the first seed whose history has a read that would have another answer without it."""
    found: dict[str, int] = {}

    def look(history: PlayedHistory, tally: Tally) -> None:
        if readers.not_predicted(history):
            return
        for query in readers._queries(history):
            answers = (history.model, history.state, query, history.data)
            with_all = foreign_rows(*answers, AS_HUDI_RS)
            for rule in set(RULES) - found.keys():
                if foreign_rows(*answers, without(rule)) != with_all:
                    found[rule] = seed

    for seed in range(MOST):
        Check(CheckOptions(factory("model"), model=fresh, readers=(look,), kinds=KINDS)).play(Random(seed).randrange)
        if len(found) == len(RULES):
            break
    return found


@pytest.mark.parametrize("rule", RULES)
def test_hudi_rs_falsifies_the_setting_without_a_rule(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seed = distinguishing_seeds()[rule]
    setting = CheckOptions(factory("engine"), model=fresh, readers=(readers.hudi_rs,), kinds=KINDS)
    Check(setting).play(Random(seed).randrange)
    monkeypatch.setattr(readers, "AS_HUDI_RS", without(rule))
    with pytest.raises(Disagreement, match="by hudi-rs"):
        Check(setting).play(Random(seed).randrange)
