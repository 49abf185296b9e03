"""Long-lived processes retire old commits: services plan, and timelines are ordered, as in a new process."""

from __future__ import annotations

import random
from dataclasses import replace
from operator import itemgetter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbcc.engine import Table
from nbcc.engine.actions.archive import left_behind
from nbcc.engine.actions.schedule_clean import _plan
from nbcc.engine.config import TableConfig
from nbcc.engine.config.maintenance import MaintenancePolicy, PolicyName
from nbcc.engine.context import Context
from nbcc.engine.lock import held
from nbcc.engine.names import bucket_file_id
from nbcc.engine.services.cleaning import Policy
from nbcc.engine.services.collecting import MarkerPaths, leftovers
from nbcc.engine.services.consumers import publish_progress
from nbcc.engine.services.plan import current_slices, worth_compacting, worth_log_compacting
from nbcc.engine.services.retirement import retire_unneeded
from nbcc.engine.services.triggers import compaction_due
from nbcc.engine.timeline import Timeline, load, lsm, put_requested
from nbcc.engine.timeline.commits import Commits
from nbcc.engine.timeline.instant import Instant, parse_instant
from nbcc.engine.timeline.metadata import CommitMetadata, encode_commit, own_extra
from nbcc.engine.timeline.retired import RetiredInstants
from nbcc.engine.timeline.timeline import FOLDER
from nbcc.engine.writes.claims import new_time
from nbcc.engine.writes.commit_protocol import complete
from tests.builders.archived_tables import reopened
from tests.builders.files import t
from tests.builders.tables import SCHEMA, HourClock, batch, make_table, table_of, tick
from tests.builders.timeline_states import STATES

from .walk import CONSUMED, OPERATIONS


def decisions(context: Context, config: TableConfig) -> list[object]:
    """What services decide about a table: slices, plans, leftovers and what to archive again."""
    listed = load(context.storage)
    history, now = context.history(listed), timeline_of(context).newest or tick(1)
    timeline = history.current
    slices = retire_unneeded(context, timeline, context.rules)
    policies: list[PolicyName] = ["KEEP_LATEST_COMMITS", "KEEP_LATEST_BY_HOURS", "KEEP_LATEST_FILE_VERSIONS"]
    return [
        slices,
        [worth(context, timeline) for worth in (worth_compacting, worth_log_compacting)],
        [_plan(context, config, Policy(name, 2), history, slices, now) for name in policies],
        leftovers(context, history, MarkerPaths.of(context), batch_hours=30, leftover_seconds=3600),
        left_behind(context, listed),
        compaction_due(context, timeline, MaintenancePolicy(compact_commits=1)),
    ]


def timeline_of(context: Context) -> Timeline:
    return context.history().whole


def same_decisions(table: Table) -> None:
    """A process that has retired commits decides like one that has just started, and can read the same timeline."""
    context, config = table.context, table.config
    fresh = replace(context, own_commits=Commits(context.storage))
    assert decisions(context, config) == decisions(fresh, config)
    assert timeline_of(context) == timeline_of(replace(context, own_commits=Commits(context.storage)))


@pytest.mark.parametrize("seed", [0, 11, 15])
def test_a_process_that_forgets_decides_like_a_new_one(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lsm, "LEVEL_FILES", 3)
    chance, table = random.Random(seed), make_table(tmp_path, clock=HourClock(), buckets=2, options=CONSUMED)
    for step in chance.choices(list(OPERATIONS), list(OPERATIONS.values()), k=100):
        step(table, chance)
        same_decisions(table)
    archived = table.context.commits.archive
    assert len(archived.retired) > 20, "the test retires something"
    known = [each for index in archived._indexes.values() for each in index.completed]
    assert not [each for each in known if each.key in archived.retired]


def test_a_query_retires_nothing(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    for number in range(6):
        table.upsert(batch(("k1", number, "x")))
        table.compact()
    table.clean(retained=1)
    table.archive(retained=1)
    context, timeline = table.context, table.context.history().current
    before = len(context.commits.archive.retired)
    current_slices(context, timeline, context.rules)
    worth_compacting(context, timeline)
    worth_log_compacting(context, timeline)
    compaction_due(context, timeline, MaintenancePolicy(compact_commits=1))
    assert len(context.commits.archive.retired) == before
    retire_unneeded(context, timeline, context.rules)
    assert len(context.commits.archive.retired) > before


def test_a_restore_needs_what_was_retired(tmp_path: Path) -> None:
    """A restore undoes the base file that had put the logs of an archived write before the horizon."""
    table = make_table(tmp_path)
    for number in range(2):
        table.upsert(batch(("k1", number, "x")))
    table.savepoint()
    for number in range(2, 5):
        table.upsert(batch(("k1", number, "x")))
        table.compact()
    table.clean(retained=1)
    table.archive(retained=1)
    same_decisions(table)
    assert len(table.context.commits.archive.retired) == 1
    table.restore()
    same_decisions(table)
    assert table.snapshot().column("ts").to_pylist() == [1]


def test_inputs_of_a_pending_log_compaction_are_not_retired(tmp_path: Path) -> None:
    """An overwrite hides the inputs of a log compaction. Its log takes their place, before the overwrite."""
    table = make_table(tmp_path)
    for number in range(2):
        table.upsert(batch(("old", number, "x")))
    plan = table.schedule_log_compaction()
    for number in range(2, 4):
        table.insert_overwrite(batch(("new", number, "x")))
    table.clean(retained=1)
    table.archive(retained=1)
    same_decisions(table)
    log_compaction = table.run_log_compaction(plan)
    for number in range(4, 6):
        table.upsert(batch(("new", number, "x")))
        same_decisions(table)
    assert table.compact()
    assert reopened(table).snapshot().column("id").to_pylist() == ["new"]
    for _ in range(2):
        table.clean(retained=1)
        table.archive(retained=1)
        same_decisions(table)
    assert log_compaction
    assert log_compaction.key in table.context.commits.archive.retired
    content = table.context.commits.content(log_compaction)
    table.context.storage.put(f"{FOLDER}/{log_compaction.file_name}", content)  # left behind by an archiver that died
    same_decisions(table)


def test_a_consumer_that_was_passed_does_not_stop_cleaning(tmp_path: Path) -> None:
    """The oldest write that the consumer has not read is retired."""
    table = make_table(tmp_path, clock=HourClock(), options={"nbcc.consumer.hours": "12"})
    first = table.upsert(batch(("k1", 0, "x")))
    publish_progress(table.context, "follower", first.completed or "")
    for number in range(1, 8):
        table.upsert(batch(("k1", number, "x")))
        table.compact()
    assert table.clean(retained=1)
    table.archive(retained=1)
    same_decisions(table)
    assert len(table.context.commits.archive.retired) > 4
    table.upsert(batch(("k1", 9, "x")))
    table.compact()
    same_decisions(table)
    assert table.clean(retained=1), "the consumer is too late"


def test_the_commits_since_the_newest_compaction_are_counted(tmp_path: Path) -> None:
    """A replace hides the files of the newest compaction and of the writes after it."""
    table = make_table(tmp_path)
    for number in range(2):
        table.upsert(batch(("k1", number, "x")))
        table.compact()
    for number in range(2, 4):
        table.upsert(batch(("k1", number, "x")))
    table.clean(retained=1)
    hide(table, "part=p")
    for number in range(4, 6):
        table.upsert(table_of(SCHEMA, ("kq", "q", number, "x")))
    table.archive(retained=1)
    for _ in range(2):
        same_decisions(table)
    assert table.context.commits.archive.retired
    timeline = table.context.history().current
    assert compaction_due(table.context, timeline, MaintenancePolicy(compact_commits=5)) == {"commits": 5}


def hide(table: Table, partition: str) -> None:
    """Hide the file group of a partition, as an engine that replaces by file ids does."""
    context, groups = table.context, {partition: (bucket_file_id(0),)}
    with held(context.lock):
        requested = new_time(context, context.active(), claimed=False)
        put_requested(context.storage, requested, "replacecommit", b"")
    commit = CommitMetadata((), "INSERT_OVERWRITE", extra=own_extra(table.config.avro_schema), replaced=groups)
    complete(context, requested, "replacecommit", files=(), commit=encode_commit(commit), has_heartbeat=False)


def test_a_replace_is_not_retired(tmp_path: Path) -> None:
    """The commit of a compaction has base files in three partitions: one is hidden by a replace, one still counts."""
    table = make_table(tmp_path)
    table.upsert(table_of(SCHEMA, *((f"k{part}", part, 1, "x") for part in "pqr")))
    table.compact()
    hide(table, "part=p")
    for number in range(3, 6):
        table.upsert(table_of(SCHEMA, ("kq", "q", number, "x")))
        table.compact()
    table.clean(retained=1)
    table.archive(retained=1)
    for _ in range(2):
        same_decisions(table)
    assert table.context.commits.archive.retired, "the test retires something"


KINDS = (
    ("commit", "commit"), ("commit", "compaction"), ("deltacommit", "deltacommit"), ("deltacommit", "logcompaction"),
)  # fmt: skip


@given(st.lists(st.tuples(st.integers(1, 30), st.integers(31, 60), st.sampled_from(KINDS)), unique_by=itemgetter(0)))
def test_retired_instants_are_found_as_they_were(rows: list[tuple[int, int, tuple[str, str]]]) -> None:
    retired, there = RetiredInstants(), dict[str, Instant]()
    for begun, ended, (action, begun_as) in rows:
        instant = Instant(t(begun), action, "completed", t(ended))
        retired, added = retired.adding([(instant, begun_as)])
        assert added == {instant.key}
        assert retired.adding([(instant, begun_as)]) == (retired, set()), "it is there"
        there[t(begun)] = instant
    assert {t(n): retired.find(t(n)) for n in range(32)} == {t(n): there.get(t(n)) for n in range(32)}
    keys = {instant.key for instant in there.values()}
    asked = {(t(n), action) for n in range(32) for action in ("commit", "deltacommit")}
    assert {key for key in asked if key in retired} == keys
    assert list(retired.instants()) == sorted(there.values(), key=lambda instant: instant.requested)
    assert len(retired) == len(there)
    timeline = Timeline.of(retired.states())
    assert timeline.instants == tuple(retired.instants())
    assert timeline.begun_as == {(t(n), action): begun for n, _, (action, begun) in rows if action != begun}
    assert list(retired.states(after=t(15))) == [state for state in retired.states() if state.requested > t(15)]


@pytest.mark.parametrize(
    ("instant", "begun_as"),
    [
        (Instant("20260101000000", "commit", "completed", t(2)), "commit"),
        (Instant(t(1), "commit", "completed", "20260101000000"), "commit"),
        (Instant(t(1), "clean", "completed", t(2)), "clean"),
        (Instant(t(1), "commit", "completed", t(2)), "logcompaction"),
    ],
    ids=["requested with 14 digits", "completed with 14 digits", "clean", "unknown pending action"],
)
def test_unusual_instants_are_not_added(instant: Instant, begun_as: str) -> None:
    retired, added = RetiredInstants().adding([(instant, begun_as)])
    assert added == set()
    assert (len(retired), instant.key in retired, retired.find(instant.requested)) == (0, False, None)


def test_a_second_action_at_the_same_time_is_not_added() -> None:
    other = Instant(t(1), "deltacommit", "completed", t(3))
    both = [(Instant(t(1), "commit", "completed", t(2)), "commit"), (other, "deltacommit")]
    retired, added = RetiredInstants().adding(both)
    assert added == {(t(1), "commit")}
    assert other.key not in retired


@pytest.mark.parametrize("name", ["", "part-0.tmp", "2026", t(1) + "0", "٢٠٢٦٠١٠١٠٠٠٠٠١٠٠٠"])
def test_a_name_that_is_no_time_is_not_found(name: str) -> None:
    retired, _ = RetiredInstants().adding([(Instant(t(1), "commit", "completed", t(2)), "commit")])
    assert retired.find(name) is None


MORE = [*STATES, *(f"{t(n)}_{t(end)}.commit" for n, end in ((4, 12), (5, 11), (7, 9), (8, 10), (8, 13)))]


@given(st.permutations(MORE), st.integers(0, len(MORE)))
def test_a_timeline_that_grows_is_ordered_like_a_new_one(names: list[str], first: int) -> None:
    states = [instant for name in names if (instant := parse_instant(name))]
    before = Timeline.of(states[:first])
    assert {*before.completed} <= {*states}  # kept, and then extended
    grown, listed = before.with_states(states[first:]), Timeline.of(states[first:])
    assert grown.instants == listed.with_archived(before).instants == Timeline.of(states).instants
    assert grown.completed == listed.with_archived(before).completed == Timeline.of(states).completed
    assert grown.at(t(1)) == tuple(instant for instant in grown.instants if instant.requested == t(1))
