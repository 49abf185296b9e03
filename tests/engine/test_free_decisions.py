"""Commits without a lock: the bound, plans, rollbacks, a lone writer, and what is refused."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from benchmarks.requests import GOALS
from nbcc.engine.actions import schedule_compaction, schedule_rollback
from nbcc.engine.clock import to_instant, to_millis
from nbcc.engine.config.options import DECISION, SKEW
from nbcc.engine.context import Context
from nbcc.engine.definition.load import PROPERTIES
from nbcc.engine.errors import Conflict, Unsupported
from nbcc.engine.storage import Storage
from nbcc.engine.table import Table
from nbcc.engine.timeline import Instant
from nbcc.engine.timeline.announcements import Announced, Announcement, announced_instants, put_announcement
from nbcc.engine.timeline.decisions import LogEntry, last_entry, rival_of
from nbcc.engine.writes import announced, deciding
from nbcc.engine.writes.commits import write_commit
from nbcc.engine.writes.data_write import write
from nbcc.engine.writes.deciding import create_entry, decide_announced
from nbcc.engine.writes.unlocked_request import request_without_lock
from nbcc.simulator.lockstep.s3.faults import Request
from nbcc.simulator.lockstep.s3.server import Bucket
from tests.builders.heartbeats import Died, dies
from tests.builders.meanwhile import before_next
from tools.accesses.recorder import object_kind

from .free_tables import SCHEMA, Hooked, assert_decided_once, eager, entries, keys, made, rows, through

LONE = GOALS["free"][0]
"""The most requests in sequence of a lone writer, until its instant is published."""

@pytest.fixture
def table(tmp_path: Path) -> Table:
    return made(tmp_path / "t")


def test_a_live_writer_fails_at_most_two_creates(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before each of its creates another writer commits, which has listed the announcements or not."""
    put, failed = rival_of, list[int]()

    def races(storage: Storage, entry: LogEntry) -> LogEntry | None:
        if isinstance(storage, Hooked):
            with monkeypatch.context() as patched:
                patched.setattr(deciding, "rival_of", put)
                through_other = Table(table.context, table.config)
                through_other.upsert(rows(f"other{len(failed)}"))
        rival = put(storage, entry)
        if isinstance(storage, Hooked) and rival is not None:
            failed.append(entry.number)
        return rival

    monkeypatch.setattr(deciding, "rival_of", races)
    through(table, Hooked(table.context.storage)).upsert(rows("mine"))
    assert 1 <= len(failed) <= 2
    assert "mine" in keys(table)


def test_a_refused_writer_ends_and_decides_nothing_for_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy table others might create every entry first, so that it would never learn of its conflict."""
    table = made(tmp_path / "t", mode="OPTIMISTIC_CONCURRENCY_CONTROL")
    table.upsert(rows("a"))
    dead, _ = request_without_lock(table.context, "deltacommit")

    def faster() -> None:
        table.upsert(rows("faster"))
        put_announcement(table.context.storage, Announcement(Announced(dead, "deltacommit"), _empty_commit(table)))
        monkeypatch.setattr(deciding, "create_entry", lambda *_: pytest.fail("it creates an entry"))

    before_next(monkeypatch, announced, "_announce", faster)
    with pytest.raises(Conflict, match="has written bucket 0"):
        table.upsert(rows("slower"))
    monkeypatch.undo()
    table.upsert(rows("b"))
    assert keys(table) == ["a", "b", "faster"]
    assert_decided_once(table)


def test_an_author_that_dies_before_it_publishes_is_not_waited_for(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(deciding, "carry_out", dies)
        with pytest.raises(Died):
            table.upsert(rows("dead"))
    assert keys(table) == []
    table.upsert(rows("alive"))
    assert keys(table) == ["alive", "dead"]
    assert_decided_once(table)


def test_services_need_no_lock(table: Table) -> None:
    for ts in range(3):
        table.upsert(rows("a", f"b{ts}", ts=ts))
    assert table.log_compact() is not None
    table.upsert(rows("c"))
    compacted = table.compact()
    assert compacted is not None
    table.delete(rows("b0", ts=9))
    assert table.cluster(["ts"]) is not None
    assert table.clean(retained=1) is not None
    now = table.context.clock.take()
    assert len(table.as_of(now)) == 4
    assert keys(table) == ["a", "b1", "b2", "c"]
    assert {step.service for step in table.maintain()} >= {"state"}
    assert_decided_once(table)


def test_a_plan_takes_exactly_what_completed_before_its_time(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write that commits after the entry from which the plan is made belongs to the new slice."""
    table.upsert(rows("a", ts=1))
    tail = last_entry(table.context.storage)
    assert tail is not None

    def meanwhile() -> None:
        table.upsert(rows("a", ts=2))
        table.upsert(rows("b"))

    before_next(monkeypatch, schedule_compaction, "encode_plan", meanwhile)
    plan = table.schedule_compaction()
    assert plan is not None
    assert plan.requested == tail.plan_time("compaction"), "the log reserved it; a clock's time might be in use"
    [operation] = table.context.commits.plan(plan.requested).operations
    assert len(operation.logs) == 1
    done = [instant for instant in table.timeline() if instant.completed]
    assert sum((instant.completed or "") < plan.requested for instant in done) == 1
    table.run_compaction(plan)
    assert sorted(zip(*table.snapshot().select(["id", "ts"]).to_pydict().values(), strict=True)) == [("a", 2), ("b", 0)]


def test_of_two_plans_from_one_entry_one_is_put(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """A compaction is planned while another actor plans a log compaction of the same logs."""
    for ts in range(2):
        table.upsert(rows("a", ts=ts))
    planned = list[Instant | None]()
    before_next(
        monkeypatch, schedule_compaction, "encode_plan", lambda: planned.append(table.schedule_log_compaction())
    )
    assert table.schedule_compaction() is None
    assert planned[0] is not None
    assert [instant.action for instant in table.timeline() if not instant.completed] == ["logcompaction"]
    assert announced_instants(table.context.storage) == []
    table.run_log_compaction()
    assert len(table.snapshot()) == 1


def test_a_write_that_is_announced_in_time_is_not_rolled_back(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its announcement arrives after the rollback was planned, and before an entry decides either: it is committed."""
    other = eager(table)

    def announces() -> None:
        [pending] = [instant for instant in table.timeline() if not instant.completed]
        assert put_announcement(
            table.context.storage, Announcement(Announced(pending.requested, "deltacommit"), _empty_commit(table))
        )

    table.upsert(rows("a"))
    dead, _ = request_without_lock(table.context, "deltacommit")
    before_next(monkeypatch, schedule_rollback, "encode_rollback_plan", announces)
    assert other.schedule_rollback() is None
    assert {instant.requested for instant in table.timeline() if instant.completed} >= {dead}
    assert announced_instants(table.context.storage) == []
    assert_decided_once(table)


def _empty_commit(table: Table) -> bytes:
    return write_commit(table.config, "", "UPSERT", (), {})


def test_a_rollback_that_is_decided_first_excludes_the_commit(table: Table) -> None:
    table.upsert(rows("a"))
    dead, _ = request_without_lock(table.context, "deltacommit")
    plan = eager(table).schedule_rollback()
    assert plan is not None
    put_announcement(table.context.storage, Announcement(Announced(dead, "deltacommit"), _empty_commit(table)))
    assert decide_announced(table.context).entry is None
    assert len(eager(table).rollback()) == 1
    assert announced_instants(table.context.storage) == []
    assert [instant.requested for instant in table.timeline() if instant.requested == dead] == []
    assert_decided_once(table)


def test_what_needs_the_lock_is_refused_before_anything_is_written(table: Table) -> None:
    """A repair writes rows again, and is checked under the lock."""
    table.upsert(rows("a"))
    before = [each.path for each in table.context.storage.list("")]
    with pytest.raises(Unsupported, match=r"nbcc\.decision=free.*convert it to nbcc\.decision=lock, log or shared"):
        write(table.context, table.config, rows("b"), "upsert", refused_by=lambda _: None)
    assert [each.path for each in table.context.storage.list("")] == before


def test_other_writers_are_refused_by_a_feature(table: Table, tmp_path: Path) -> None:
    properties = tmp_path / "t" / PROPERTIES
    text = properties.read_text()
    assert "free-decisions" in text
    properties.write_text(text.replace("free-decisions", "free-decisions-2"))
    with pytest.raises(Unsupported, match="its writers must know the features free-decisions-2"):
        Table.open(None, tmp_path / "t").upsert(rows("a"))


def lone(bucket: Bucket) -> Table:
    """A table in an object store, with a writer that was alone when it committed last."""
    table = Table.create(
        None, "s3://lake/t", SCHEMA, record_key="id", ordering_fields="ts", buckets=2,
        options={DECISION: "free", SKEW: "1"}, storage_options=bucket.options,
    )  # fmt: skip
    table.upsert(rows("a"))
    return table


def requests_in_sequence(table: Table, bucket: Bucket) -> tuple[int, int]:
    """Return the numbers of requests of an upsert, up to its publication and afterwards, that wait for one another."""
    bucket.requests.clear()
    bucket.latency_seconds = 0.05  # long enough for requests to overlap
    table.upsert(rows(*"abcdefgh"))
    bucket.latency_seconds = 0.0
    requests = [*bucket.requests]
    published = next(place for place, each in enumerate(requests) if re.search(r"\d+_\d+\.deltacommit$", each.key))
    before, after = requests[: published + 1], requests[published + 1 :]
    return Bucket(requests=before).depth(), Bucket(requests=after).depth()


def test_a_lone_writer_sends_few_requests_in_sequence(bucket: Bucket) -> None:
    table = lone(bucket)
    # On a busy machine requests of one round may be sent too late to overlap, so the best of three counts.
    before, after = zip(*(requests_in_sequence(table, bucket) for _ in range(3)), strict=True)
    assert min(before) <= LONE
    assert min(after) == 1, "one round of deletes"
    assert announced_instants(table.context.storage) == []


def rounds(requests: Iterable[Request]) -> list[str]:
    """Return the kinds of the requests of each round. A request is in the round after the last that it waited for."""
    places, found = list[tuple[float, int]](), dict[int, Counter[str]]()
    for each in sorted(requests, key=lambda request: request.began):
        number = 1 + max((place for ended, place in places if ended <= each.began), default=0)
        places.append((each.ended, number))
        kind = object_kind(each.key.removeprefix("t/").rstrip("/"))
        found.setdefault(number, Counter())[f"{each.method.lower()} {kind}"] += 1
    return ["; ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())) for _, kinds in sorted(found.items())]


def test_the_page_lists_the_requests_of_a_lone_writer(bucket: Bucket) -> None:
    page = (Path(__file__).parents[2] / "docs" / "locks.md").read_text("utf-8")
    listed = re.findall(r"^\| \d+ \| (.*) \|$", page.partition("| round |")[2].partition("\n\n")[0], re.MULTILINE)
    table, sent = lone(bucket), list[list[str]]()
    for _ in range(3):
        requests_in_sequence(table, bucket)
        sent.append(rounds(bucket.sent))
    assert listed in sent, sent


def test_a_writer_that_only_seemed_to_be_alone_commits_all_the_same(
    bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another writer commits between its look at the log and its create, and the announcement finds an entry."""
    table, other = lone(bucket), Table.open(None, "s3://lake/t", bucket.options)
    create, outcomes = create_entry, list[bool]()

    def late(context: Context, entry: LogEntry) -> bool:
        monkeypatch.setattr(announced, "create_entry", create)
        other.upsert(rows("other"))
        outcomes.append(create(context, entry))
        return outcomes[-1]

    monkeypatch.setattr(announced, "create_entry", late)
    table.upsert(rows("mine"))
    assert outcomes == [False]
    assert keys(table) == ["a", "mine", "other"]
    assert announced_instants(table.context.storage) == []
    assert_decided_once(table)


def test_an_early_entry_is_published_although_its_announcement_never_arrives(
    bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, other = lone(bucket), Table.open(None, "s3://lake/t", bucket.options)
    monkeypatch.setattr(announced, "_announce", dies)
    with pytest.raises(Died):
        table.upsert(rows("dead"))
    monkeypatch.undo()
    assert [item.data != b"" for item in entries(table)[-1].items] == [True]
    other.upsert(rows("b"))
    assert keys(other) == ["a", "b", "dead"]
    assert_decided_once(other)


def test_times_of_an_entry_with_many_items_are_waited_for(table: Table) -> None:
    """A thousand instants take two seconds of time, which the next writer's clock has not reached."""
    table.upsert(rows("a"))
    storage, newest = table.context.storage, last_entry(table.context.storage)
    assert newest is not None
    ahead = to_instant(to_millis(newest.time) + 700)
    assert rival_of(storage, LogEntry(newest.number + 1, (), ahead)) is None
    done = table.upsert(rows("b"))
    assert (done.completed or "") > ahead
    assert_decided_once(table)
