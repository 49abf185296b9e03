"""Slices, plans and reads as the RFC has them, on tables written down by hand."""

from __future__ import annotations

from math import inf

import pytest

from nbcc.model import FileSlice
from nbcc.model.kernel.merge import NOTHING, Fold
from nbcc.model.kernel.planning import plan
from nbcc.model.kernel.reads import changes, read_optimized
from nbcc.model.kernel.table import GroupPlan
from nbcc.model.rules import Rules
from tests.builders.slicing import DEMO, RFC, compaction, table, under, write


def test_the_demo_of_the_rfc() -> None:
    assert RFC.file_slices(DEMO, 0) == (
        FileSlice(0, 10, 10, ((21, 1), (30, 1))),
        FileSlice(0, 60, 60, ((35, 1),)),
    )


def test_the_demo_by_requested_time_loses_the_late_log() -> None:
    newest = under(slicing="requested").file_slices(DEMO, 0)[-1]

    assert newest == FileSlice(0, 60, 60, ())


def test_the_demo_by_the_base_instant_in_the_name() -> None:
    named = table(compaction(10, 20, None), write(21, 40, base=10), compaction(60, 80, 10, 21), write(35, 90, base=10),
                  write(70, 95, base=60))  # fmt: skip

    assert under(slicing="base_instant").file_slices(named, 0) == (
        FileSlice(0, 10, 10, ((21, 1), (35, 1))),
        FileSlice(0, 60, 60, ((70, 1),)),
    )


def test_a_log_that_completes_at_the_barrier_belongs_to_its_slice() -> None:
    at = table(write(1, 3), compaction(3, 5, None))

    assert RFC.file_slices(at, 0) == (FileSlice(0, 3, 3, ((1, 1),)),)


def test_a_group_without_barrier_has_one_slice_in_the_order_of_completion() -> None:
    assert RFC.file_slices(table(write(1, 6), write(2, 4)), 0) == (FileSlice(0, None, None, ((2, 1), (1, 1))),)
    by_request = under(merge_order="requested")
    assert by_request.file_slices(table(write(1, 6), write(2, 4)), 0)[0].logs == ((1, 1), (2, 1))


def test_a_pending_plan_has_a_slice_before_it_has_a_log() -> None:
    assert RFC.file_slices(table(write(1, 2), compaction(3, None, None, 1)), 0) == (
        FileSlice(0, None, None, ((1, 1),)),
        FileSlice(0, 3, None, ()),
    )


def test_a_group_that_a_plan_leaves_alone_has_no_barrier_of_it() -> None:
    two = table(write(1, 2, groups=2), compaction(3, 4, None, 1))

    assert [each.barrier for each in RFC.file_slices(two, 1)] == [None]


@pytest.mark.parametrize(("completed", "taken"), [(2, ((1, 1),)), (3, ()), (None, ())])
def test_a_plan_takes_completion_before_its_barrier_strictly(completed: int | None, taken: tuple[object, ...]) -> None:
    found = plan(RFC, table(write(1, completed)), 1, 3)

    assert found == ((GroupPlan(0, None, taken),) if taken else ())  # type: ignore[arg-type]


def test_a_plan_goes_on_from_the_newest_base_and_leaves_pending_groups_alone() -> None:
    after = table(write(1, 2), compaction(3, 4, None, 1), write(5, 6))
    assert plan(RFC, after, 1, 7) == (GroupPlan(0, 3, ((5, 1),)),)

    pending = table(write(1, 2), compaction(3, None, None, 1), write(5, 6))
    assert plan(RFC, pending, 1, 7) == ()


def test_a_plan_that_takes_any_log() -> None:
    found = plan(under(plan_takes="any_log"), table(write(1, None), write(2, 4)), 1, 5)

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
    assert RFC.as_of(DEMO, 0, time) == shape


def test_a_pending_compaction_is_read_together_with_the_slice_before_it() -> None:
    pending = table(write(1, 2), compaction(4, None, None, 1), write(3, 5))

    assert RFC.as_of(pending, 0, inf) == Fold(None, ((1, 1), (3, 1)))


def test_as_of_by_requested_time_leaves_later_slices_alone() -> None:
    late = table(write(1, 2), write(3, 9), compaction(4, 6, None, 1))
    by_request = under(as_of_axis="requested")

    assert by_request.as_of(late, 0, 3) == Fold(None, ((1, 1),))
    assert by_request.as_of(late, 0, 4) == Fold(Fold(None, ((1, 1),)), ((3, 1),))


def test_as_of_by_requested_time_begins_with_the_earliest_completion() -> None:
    inverted, by_request = table(write(1, 6), write(3, 5)), under(as_of_axis="requested")

    assert by_request.as_of(inverted, 0, 2) == NOTHING
    assert by_request.as_of(inverted, 0, 3) == Fold(None, ((3, 1), (1, 1)))


def test_read_optimized_is_the_newest_base_alone() -> None:
    assert read_optimized(RFC, DEMO, 0, inf) == Fold(BASE, ())
    assert read_optimized(RFC, table(write(1, 2)), 0, inf) == NOTHING


@pytest.mark.parametrize(
    ("after", "until", "rules", "logs"),
    [
        (0, 100, RFC, ((21, 1), (30, 1), (35, 1))),
        (40, 50, RFC, ((30, 1),)),
        (50, 89, RFC, ()),
        (21, 35, under(incremental_axis="requested"), ((30, 1), (35, 1))),
    ],
)
def test_incremental(after: int, until: int, rules: Rules, logs: tuple[tuple[int, int], ...]) -> None:
    assert rules.incremental(DEMO, 0, after, until) == Fold(None, logs)


def test_changes_are_two_states() -> None:
    assert changes(RFC, DEMO, 0, 45, 95) == (RFC.as_of(DEMO, 0, 45), RFC.as_of(DEMO, 0, 95))


def test_what_a_reader_that_does_not_ask_sees() -> None:
    dirty = table(write(1, 2), write(3, None))

    assert under(visibility="any").as_of(dirty, 0, inf) == Fold(None, ((1, 1), (3, 1)))
    assert RFC.as_of(dirty, 0, inf) == Fold(None, ((1, 1),))


def test_where_tombstones_stand_when_logs_fold_first() -> None:
    late = table(write(1, 2), write(3, 9), compaction(4, 6, None, 1), write(7, 8))
    by_completion, by_request = under(fold="logs_first"), under(fold="logs_first", merge_order="requested")

    assert by_completion.as_of(late, 0, inf).logs_before_tombstones == 0
    assert by_request.as_of(late, 0, inf) == Fold(Fold(None, ((1, 1),)), ((3, 1), (7, 1)), 1)


def test_the_table_as_it_stood() -> None:
    then = RFC.table_as_of(DEMO, 70)

    assert [write.requested for write in then.writes] == [21, 30]
    assert [(plan.requested, done) for plan, done in zip(then.plans, then.completed, strict=True)] == [
        (10, 20),
        (60, None),
    ]
