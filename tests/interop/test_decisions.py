"""Apache Hudi and hudi-rs read every published prefix of tables in each of nbcc's ways to decide a commit.

Readers are compared after each announcement, each entry of the decision log and each timeline file, while the writer
that has put it waits. Ordering values are all different, so that every reader must return the same rows
(docs/contract.md, SNAP). Their windows differ by the named rules of `hudi_differences` only, and Hudi refuses as-of
reads after the request of a pending write.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hudi import HudiQueryType, HudiReadOptions

from nbcc.engine import Table
from nbcc.engine.config.options import DECISION, REQUESTS
from nbcc.engine.data.jobs import InProcessJobs
from nbcc.simulator.lockstep.peers.process import PeerRefused, peer
from nbcc.simulator.lockstep.systems.rows import SCHEMA
from tests.builders.heartbeats import Died, dies
from tests.builders.hudi_differences import DELETES_LEFT_OUT, DIFFERENCES, hudi_incremental
from tests.builders.pending import batch_of, snapshot_of
from tests.engine.free_tables import Hooked, assert_decided_once, eager, entries

from .readers import NEWEST, Rows, by_bundle, by_hudi_rs

MODES = {
    "requests without the lock": {DECISION: "lock", REQUESTS: "put_if_absent"},
    "shared": {DECISION: "shared"},
    "free": {DECISION: "free"},
}
COMPLETED = r"\.hoodie/timeline/\d+_\d+\."
ENTRY = r"\.nbcc/decisions/"
ANNOUNCEMENT = r"\.nbcc/announced/"
Answer = list[tuple[Any, ...]]
Moment = tuple[str, Callable[[], None]]  # a pattern of paths, and what happens there
NEVER: Moment = ("(?!)", dies)


@dataclass
class Paused(Hooked):
    """A storage that calls `before` or `after` a put of a path that matches a pattern."""

    before: Moment = NEVER
    after: Moment = NEVER

    def put(self, path: str, data: bytes) -> None:
        self._pause(path)
        self.inner.put(path, data)

    def put_if_absent(self, path: str, data: bytes) -> bool:
        self._pause(path)
        created = self.inner.put_if_absent(path, data)
        if re.search(self.after[0], path):
            self.after[1]()
        return created

    def _pause(self, path: str) -> None:
        if re.search(self.before[0], path):
            call, self.before = self.before[1], NEVER
            call()


@dataclass
class Readers:
    """Compares what Hudi, hudi-rs and nbcc read of a table."""

    table: Table
    folder: Path
    published: list[tuple[str, Rows]] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def compare(self) -> None:
        """Compare the snapshot, and the as-of read and three windows up to a newly published instant."""
        snapshot = snapshot_of(self.table)
        assert {row[:3] for row in self._hudis(kind="snapshot")} == snapshot == by_hudi_rs(self.folder)
        self.counts["snapshots"] += 1
        instants = self.table.timeline()
        times = sorted(each.completed for each in instants if each.completed)
        if times and (not self.published or times[-1] != self.published[-1][0]):
            assert [time for time, _ in self.published] == times[:-1], "instants are published in ascending order"
            self.published.append((times[-1], snapshot))
            pending = [each.requested for each in instants if not each.completed and each.action == "deltacommit"]
            self._compare_as_of(times[-1], pends=min(pending, default="~") <= times[-1])
            for after in {"000", *times[:1], *times[-2:-1]} - {times[-1]}:
                self._compare_window(after, times[-1])

    def _compare_as_of(self, time: str, *, pends: bool) -> None:
        ours = listed(self.table.as_of(time))
        assert {row[:3] for row in ours} == by_hudi_rs(self.folder, HudiReadOptions().with_as_of_timestamp(time))
        if pends:
            with pytest.raises(PeerRefused, match="HoodieTimeTravelException"):
                self._hudis(kind="as_of", until=time)
        else:
            assert self._hudis(kind="as_of", until=time) == ours, time
        self.counts["as-of reads that Hudi refuses" if pends else "as-of reads"] += 1

    def _compare_window(self, after: str, until: str) -> None:
        """Neither reader returns deletes; hudi-rs does not hide what completes after a pending plan."""
        both, hudis = (self._window(after, until, names) for names in ({DELETES_LEFT_OUT}, DIFFERENCES))
        assert self._hudis(kind="incremental", after=after, until=until) == hudis, (after, until)
        options = HudiReadOptions().with_query_type(HudiQueryType.Incremental)
        options = options.with_start_timestamp(after).with_end_timestamp(until)
        assert {row[:3] for row in both} == by_hudi_rs(self.folder, options), (after, until)
        self.counts["windows"] += 1

    def _window(self, after: str, until: str, differences: Collection[str]) -> Answer:
        return listed(hudi_incremental(self.table.context, self.table.config, after.zfill(17), until, differences))

    def _hudis(self, **query: Any) -> Answer:
        return sorted(map(tuple, peer("hudi").ask("read", str(self.folder), **query)))


def listed(rows: pa.Table) -> Answer:
    return sorted((row["id"], row["ts"], row["value"], row["_hoodie_commit_time"]) for row in rows.to_pylist())


@pytest.fixture(params=MODES)
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Table:
    return Table.create(
        None, tmp_path, SCHEMA, record_key="id", ordering_fields="ts", partition_by="part", buckets=1,
        options=MODES[request.param],
    )  # fmt: skip


@pytest.fixture
def readers(table: Table, tmp_path: Path) -> Iterator[Readers]:
    peer("hudi").ask("open", str(tmp_path))
    yield Readers(table, tmp_path)
    peer("hudi").ask("forget", str(tmp_path))


@dataclass
class Writers:
    """Actors whose rows have ascending ordering values, and whose puts let the readers read."""

    readers: Readers
    orderings: Iterator[int] = field(default_factory=lambda: count(1))

    def actor(self, before: Moment = NEVER) -> Table:
        context = self.readers.table.context
        moments = f"{COMPLETED}|{ENTRY}|{ANNOUNCEMENT}"
        storage = Paused(context.storage, before=before, after=(moments, self.readers.compare))
        paused = replace(context, storage=storage, jobs=InProcessJobs(storage, context.names))
        return Table(paused, self.readers.table.config)

    def write(self, *keys: str, actor: Table | None = None, deletes: bool = False) -> None:
        rows = [(f"p{int(key[1:]) % 2}", key, next(self.orderings), None if deletes else key) for key in keys]
        (actor or self.actor()).upsert(batch_of(rows))

    def dies(self, before: str, *keys: str) -> None:
        """A writer dies before its first put of such a path, if it puts any."""
        try:
            self.write(*keys, actor=self.actor((before, dies)))
        except Died:
            self.readers.compare()


def test_hudi_and_hudi_rs_read_every_published_prefix(table: Table, readers: Readers) -> None:
    writers = Writers(readers)
    writers.write("k0", "k1", "k2", "k3")
    writers.actor().compact()  # every file group has a base file, because of apache/hudi#19774

    def meanwhile() -> None:
        """While a writer is pending, two announce and die, another commits, and a compaction is planned."""
        writers.dies(ENTRY, "k0", "k4")
        writers.dies(ENTRY, "k1", "k2")
        writers.write("k3", "k1")
        assert writers.actor().schedule_compaction() is not None
        readers.compare()

    writers.write("k1", "k5", actor=writers.actor((r"\.log\.", meanwhile)))
    writers.write("k2", "k0", deletes=True)
    writers.actor().run_compaction()
    writers.dies(COMPLETED, "k6", "k2")
    writers.dies(f"{ANNOUNCEMENT}|{COMPLETED}", "k7")
    writers.write("k0", "k3")
    eager(writers.actor()).rollback()
    writers.write("k4", deletes=True)
    for time, hudis in readers.published:
        assert {row[:3] for row in listed(table.as_of(time))} == hudis
    if table.context.rules.decision != "lock":
        assert_decided_once(table)
        assert max(len(entry.items) for entry in entries(table)) == 3, "one entry decides three commits"
    assert len(readers.counts) == 4
    assert min(readers.counts.values()) >= 4, "every kind of read was compared several times"


def test_readers_that_do_not_read_the_log_refuse_parallel_publication(tmp_path: Path) -> None:
    """An instant may be missing before a later one, which no reader sees that lists the timeline alone."""
    table = Table.create(
        None, tmp_path, SCHEMA, record_key="id", ordering_fields="ts", partition_by="part", buckets=1,
        options={DECISION: "free"},
    )  # fmt: skip
    table.upsert(batch_of([("p", "k", 1, "v")]))
    by_hudi_rs(tmp_path)
    table.convert("free", "parallel")
    with pytest.raises(PeerRefused, match="Unsupported table version code: 1009"):
        by_bundle(NEWEST)(tmp_path)
    with pytest.raises(Exception, match="Only support table version"):
        by_hudi_rs(tmp_path)
    table.convert("free")
    assert by_bundle(NEWEST)(tmp_path) == by_hudi_rs(tmp_path) == {("k", 1, "v")}
