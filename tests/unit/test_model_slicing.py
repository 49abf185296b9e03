"""Slices, plans and reads as the RFC has them, on tables written down by hand."""

from __future__ import annotations

from math import inf

import pytest

from nbcc.model import FileSlice, Protocol
from nbcc.model.kernel.merge import NOTHING, Fold
from nbcc.model.kernel.planning import plan
from nbcc.model.kernel.reads import as_of, changes, incremental, read_optimized, table_as_of
from nbcc.model.kernel.slicing import file_slices
from nbcc.model.kernel.table import Compaction, GroupPlan, Plan, Table, Write, table_of

RFC = Protocol()


def write(requested: int, completed: int | None, *, base: int | None = None, groups: int = 1) -> Write:
    return Write(requested, completed, "w", 1, tuple((g, 1) for g in range(groups)), (base,) * groups)


def compaction(requested: int, completed: int | None, base: int | None, *takes: int) -> tuple[Plan, Compaction | None]:
    part = GroupPlan(0, base, tuple((time, 1) for time in takes))
    return Plan(requested, "c", True, (part,)), Compaction(requested, completed, "c") if completed else None


def table(*parts: Write | tuple[Plan, Compaction | None]) -> Table:
    plans = [part for part in parts if not isinstance(part, Write)]
    done = [each for _, each in plans if each is not None]
    published: list[Write | Compaction] = [each for each in parts if isinstance(each, Write) and each.completed]
    published += done
    pending = tuple(part for part in parts if isinstance(part, Write) and not part.completed)
    return table_of(tuple(published), tuple(each for each, _ in plans), pending)


DEMO = table(
    compaction(10, 20, None), write(21, 40), write(30, 50), compaction(60, 80, 10, 21, 30), write(35, 90)
)  # fmt: skip
"""The RFC's "Demo Conducive to Comprehension"; its very first base file counts as one of a compaction of nothing."""


def test_the_demo_of_the_rfc() -> None:
    assert file_slices(DEMO, 0, RFC) == (
        FileSlice(0, 10, 10, ((21, 1), (30, 1))),
        FileSlice(0, 60, 60, ((35, 1),)),
    )


def test_the_demo_by_requested_time_loses_the_late_log() -> None:
    newest = file_slices(DEMO, 0, Protocol(slicing="requested"))[-1]

    assert newest == FileSlice(0, 60, 60, ())


def test_the_demo_by_the_base_instant_in_the_name() -> None:
    named = table(compaction(10, 20, None), write(21, 40, base=10), compaction(60, 80, 10, 21), write(35, 90, base=10),
                  write(70, 95, base=60))  # fmt: skip

    assert file_slices(named, 0, Protocol(slicing="base_instant")) == (
        FileSlice(0, 10, 10, ((21, 1), (35, 1))),
        FileSlice(0, 60, 60, ((70, 1),)),
    )


def test_a_log_that_completes_at_the_barrier_belongs_to_its_slice() -> None:
    at = table(write(1, 3), compaction(3, 5, None))

    assert file_slices(at, 0, RFC) == (FileSlice(0, 3, 3, ((1, 1),)),)


def test_a_group_without_barrier_has_one_slice_in_the_order_of_completion() -> None:
    assert file_slices(table(write(1, 6), write(2, 4)), 0, RFC) == (FileSlice(0, None, None, ((2, 1), (1, 1))),)
    by_request = Protocol(merge_order="requested")
    assert file_slices(table(write(1, 6), write(2, 4)), 0, by_request)[0].logs == ((1, 1), (2, 1))


def test_a_pending_plan_has_a_slice_before_it_has_a_log() -> None:
    assert file_slices(table(write(1, 2), compaction(3, None, None, 1)), 0, RFC) == (
        FileSlice(0, None, None, ((1, 1),)),
        FileSlice(0, 3, None, ()),
    )


def test_a_group_that_a_plan_leaves_alone_has_no_barrier_of_it() -> None:
    two = table(write(1, 2, groups=2), compaction(3, 4, None, 1))

    assert [each.barrier for each in file_slices(two, 1, RFC)] == [None]


@pytest.mark.parametrize(("completed", "taken"), [(2, ((1, 1),)), (3, ()), (None, ())])
def test_a_plan_takes_completion_before_its_barrier_strictly(completed: int | None, taken: tuple[object, ...]) -> None:
    found = plan(table(write(1, completed)), 1, 3, RFC)

    assert found == ((GroupPlan(0, None, taken),) if taken else ())  # type: ignore[arg-type]


def test_a_plan_goes_on_from_the_newest_base_and_leaves_pending_groups_alone() -> None:
    after = table(write(1, 2), compaction(3, 4, None, 1), write(5, 6))
    assert plan(after, 1, 7, RFC) == (GroupPlan(0, 3, ((5, 1),)),)

    pending = table(write(1, 2), compaction(3, None, None, 1), write(5, 6))
    assert plan(pending, 1, 7, RFC) == ()


def test_a_plan_that_takes_any_log() -> None:
    found = plan(table(write(1, None), write(2, 4)), 1, 5, Protocol(plan_takes="any_log"))

    assert found == (GroupPlan(0, None, ((2, 1), (1, 1))),)


BASE = Fold(Fold(None, ()), ((21, 1), (30, 1)))


@pytest.mark.parametrize(
    ("time", "shape"),
    [
        (10, NOTHING),
        (20, Fold(Fold(None, ()), ())),
        (45, Fold(Fold(None, ()), ((21, 1),))),
        (70, BASE),
        (80, Fold(BASE, ())),
        (95, Fold(BASE, ((35, 1),))),
        (inf, Fold(BASE, ((35, 1),))),
    ],
)
def test_as_of(time: float, shape: Fold) -> None:
    assert as_of(DEMO, 0, time, RFC) == shape


def test_a_pending_compaction_is_read_together_with_the_slice_before_it() -> None:
    pending = table(write(1, 2), compaction(4, None, None, 1), write(3, 5))

    assert as_of(pending, 0, inf, RFC) == Fold(None, ((1, 1), (3, 1)))


def test_as_of_by_requested_time_leaves_later_slices_alone() -> None:
    late = table(write(1, 2), write(3, 9), compaction(4, 6, None, 1))
    by_request = Protocol(as_of_axis="requested")

    assert as_of(late, 0, 3, by_request) == Fold(None, ((1, 1),))
    assert as_of(late, 0, 4, by_request) == Fold(Fold(None, ((1, 1),)), ((3, 1),))


def test_as_of_by_requested_time_begins_with_the_earliest_completion() -> None:
    inverted, by_request = table(write(1, 6), write(3, 5)), Protocol(as_of_axis="requested")

    assert as_of(inverted, 0, 2, by_request) == NOTHING
    assert as_of(inverted, 0, 3, by_request) == Fold(None, ((3, 1), (1, 1)))


def test_read_optimized_is_the_newest_base_alone() -> None:
    assert read_optimized(DEMO, 0, inf, RFC) == Fold(BASE, ())
    assert read_optimized(table(write(1, 2)), 0, inf, RFC) == NOTHING


@pytest.mark.parametrize(
    ("after", "until", "protocol", "logs"),
    [
        (0, 100, RFC, ((21, 1), (30, 1), (35, 1))),
        (40, 50, RFC, ((30, 1),)),
        (50, 89, RFC, ()),
        (21, 35, Protocol(incremental_axis="requested"), ((30, 1), (35, 1))),
    ],
)
def test_incremental(after: int, until: int, protocol: Protocol, logs: tuple[tuple[int, int], ...]) -> None:
    assert incremental(DEMO, 0, after, until, protocol) == Fold(None, logs)


def test_changes_are_two_states() -> None:
    assert changes(DEMO, 0, 45, 95, RFC) == (as_of(DEMO, 0, 45, RFC), as_of(DEMO, 0, 95, RFC))


def test_what_a_reader_that_does_not_ask_sees() -> None:
    dirty = table(write(1, 2), write(3, None))

    assert as_of(dirty, 0, inf, Protocol(visibility="any")) == Fold(None, ((1, 1), (3, 1)))
    assert as_of(dirty, 0, inf, RFC) == Fold(None, ((1, 1),))


def test_where_tombstones_stand_when_logs_fold_first() -> None:
    late = table(write(1, 2), write(3, 9), compaction(4, 6, None, 1), write(7, 8))
    by_completion, by_request = Protocol(fold="logs_first"), Protocol(fold="logs_first", merge_order="requested")

    assert as_of(late, 0, inf, by_completion).tombstones == 0
    assert as_of(late, 0, inf, by_request) == Fold(Fold(None, ((1, 1),)), ((3, 1), (7, 1)), 1)


def test_the_table_as_it_stood() -> None:
    then = table_as_of(DEMO, 70, RFC)

    assert [write.requested for write in then.writes] == [21, 30]
    assert [(plan.requested, done) for plan, done in zip(then.plans, then.completed, strict=True)] == [
        (10, 20),
        (60, None),
    ]
