"""Files that nbcc writes and Apache Hudi does not, and that every release must read right (docs/contract.md).

Tombstones: the deletes that a compaction's base files forget are kept in a log of the compaction's own instant.
Replace: all rows of partitions are replaced as a compaction plan that takes nothing, whose base files are the new rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from nbcc.engine import Table
from nbcc.simulator.lockstep.peers.process import peer
from tests.builders.pending import Replacement, Row, Write, batch_of, groups_of, make_versioned_table, replace

from .readers import BUNDLES, Rows, by_bundle, by_hudi_rs

VERSIONS = {"1.0.2": ("8",), "1.1.1": ("8", "9"), "1.2.0": ("8", "9"), "hudi-rs": ("8", "9")}
CASES = [(reader, version) for reader in (*BUNDLES, "hudi-rs") for version in VERSIONS[reader]]
FORMATS = ("avro", "parquet")

Check = Callable[[Table, Rows], None]


@pytest.fixture(scope="module", autouse=True)
def _one_process_after() -> Iterator[None]:
    """End the processes of older releases after these tests."""
    yield
    for version in BUNDLES[:-1]:
        peer("hudi", version).close()


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0]} version {case[1]}")
def case(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Callable[..., Table], Check]:
    """A function that makes a table, and one that compares both snapshots, nbcc's and the reader's, with rows."""
    reader, version = request.param
    read = by_hudi_rs if reader == "hudi-rs" else by_bundle(reader)

    def check(table: Table, expected: Rows) -> None:
        ours = {(row["id"], row["ts"], row["value"]) for row in table.snapshot().to_pylist()}
        assert ours == expected, "the engine's own snapshot"
        assert read(tmp_path) == expected, f"the snapshot of {reader}"

    return partial(make_versioned_table, tmp_path, version), check


@pytest.mark.parametrize("log_format", FORMATS)
def test_kept_tombstones_hide_what_comes_late(case: tuple[Callable[..., Table], Check], log_format: str) -> None:
    make, check = case
    table = make(options={"hoodie.logfile.data.block.format": log_format})
    table.upsert(batch_of([("p0", "k1", 1, "a"), ("p0", "k2", 5, "b"), ("p0", "k3", 2, "c"), ("p1", "k1", 1, "d")]))
    late, later = Write(table, ("p0", "k1", 3, "late"), ("p0", "k2", 6, "B")), Write(table, ("p0", "k1", 4, "later"))
    table.upsert(batch_of([("p0", "k1", 5, None)]))
    rest = {("k3", 2, "c"), ("k1", 1, "d")}
    check(table, {("k2", 5, "b"), *rest})

    table.compact()  # the base files hold nothing of the delete
    check(table, {("k2", 5, "b"), *rest})
    late.commit()
    check(table, {("k2", 6, "B"), *rest})
    table.upsert(batch_of([("p0", "k1", 2, "older still")]))
    check(table, {("k2", 6, "B"), *rest})

    table.compact()  # which carries the tombstone over into a log of its own
    check(table, {("k2", 6, "B"), *rest})
    later.commit()
    check(table, {("k2", 6, "B"), *rest})
    table.upsert(batch_of([("p0", "k1", 6, "back")]))
    check(table, {("k1", 6, "back"), ("k2", 6, "B"), *rest})


NEW: tuple[Row, ...] = (("p0", "k9", 2, "new"), ("p0", "k3", 0, "new"))


@pytest.mark.parametrize("rows", [NEW, ()], ids=["overwrite", "delete"])
def test_a_replacing_write_hides_what_completed_before_it(
    case: tuple[Callable[..., Table], Check], rows: tuple[Row, ...]
) -> None:
    make, check = case
    table = make()
    table.upsert(batch_of([("p0", f"k{n}", 7, "old") for n in range(4)] + [("p1", "k1", 1, "other")]))
    table.compact()
    table.upsert(batch_of([("p0", "k1", 8, "log")]))
    over = Write(table, ("p0", "k1", 0, "meanwhile"))  # begun before, completed after: not hidden, with any ordering
    before = {("k0", 7, "old"), ("k1", 8, "log"), ("k2", 7, "old"), ("k3", 7, "old"), ("k1", 1, "other")}
    check(table, before)

    replacement = replace(table, "p0")
    check(table, before)
    replacement.write(*rows)
    check(table, before)
    table.upsert(batch_of([("p0", "k2", 9, "meanwhile")]))
    pending = {("k0", 7, "old"), ("k1", 8, "log"), ("k2", 9, "meanwhile"), ("k3", 7, "old"), ("k1", 1, "other")}
    check(table, pending)
    replacement.commit()
    new = {(key, ordering, value) for _, key, ordering, value in rows if value}
    after = {*new, ("k2", 9, "meanwhile"), ("k1", 1, "other")}
    check(table, after)
    over.commit()
    check(table, {*after, ("k1", 0, "meanwhile")})
    table.upsert(batch_of([("p0", "k9", 1, "too old"), ("p0", "k4", 1, "more")]))
    lost = set() if new else {("k9", 1, "too old")}
    check(table, {*after, *lost, ("k1", 0, "meanwhile"), ("k4", 1, "more")})
    table.compact()
    check(table, {*after, *lost, ("k1", 0, "meanwhile"), ("k4", 1, "more")})


def test_a_replacing_write_during_the_first_writes_of_a_group(case: tuple[Callable[..., Table], Check]) -> None:
    """No write has completed in the groups: they get an empty base file before the plan."""
    make, check = case
    table = make()
    table.upsert(batch_of([("p1", "k1", 1, "other")]))
    over = Write(table, ("p0", "k1", 0, "meanwhile"), ("p0", "k2", 0, "meanwhile"))
    replacement = replace(table, "p0")
    replacement.write(("p0", "k1", 5, "new"))
    check(table, {("k1", 1, "other")})
    table.upsert(batch_of([("p0", "k2", 3, "after")]))
    check(table, {("k1", 1, "other"), ("k2", 3, "after")})
    over.commit()
    check(table, {("k1", 1, "other"), ("k1", 0, "meanwhile"), ("k2", 3, "after")})
    replacement.commit()
    check(table, {("k1", 1, "other"), ("k1", 5, "new"), ("k2", 3, "after")})
    again = replace(table, "p0", "p1")
    again.write()
    again.commit()
    check(table, set())


@pytest.mark.parametrize("reader", [*BUNDLES, "hudi-rs"])
def test_without_a_slice_before_it_hudi_shows_the_rows_of_a_pending_plan(reader: str, tmp_path: Path) -> None:
    """The reason why `replace` opens new groups first. hudi-rs reads no uncommitted base file."""
    table = make_versioned_table(tmp_path, "8")
    table.upsert(batch_of([("p1", "k1", 1, "other")]))
    Replacement(table, groups_of(table, "p0")).write(("p0", "k1", 5, "new"))
    read = by_hudi_rs if reader == "hudi-rs" else by_bundle(reader)
    dirty = set() if reader == "hudi-rs" else {("k1", 5, "new")}
    assert read(tmp_path) == {("k1", 1, "other"), *dirty}
