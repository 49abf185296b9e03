"""Footprints: which segments others could have seen half done."""

from __future__ import annotations

from nbcc.simulator.control.footprints import Access, violations

REQUESTED = ".hoodie/timeline/20240101000000003.compaction.requested"
COMMIT = ".hoodie/timeline/20240101000000001_20240101000000002.deltacommit"
TIMELINE = ".hoodie/timeline"


def listing(actor: str, step: int, locked: bool) -> list[Access]:
    return [Access(actor, step, f"list.{end}", TIMELINE, locked) for end in ("begin", "end")]


def publishes(actor: str, step: int) -> list[Access]:
    return [Access(actor, step, "put", COMMIT, True), Access(actor, step, "lock.release", "", True)]


def plans(actor: str, step: int) -> list[Access]:
    return [
        Access(actor, step, "lock.acquire", "", False),
        *listing(actor, step, True),
        Access(actor, step, "clock.take", "", True),
        Access(actor, step, "put", REQUESTED, True),
        Access(actor, step, "lock.release", "", True),
    ]


def test_a_plan_made_under_the_lock_is_atomic() -> None:
    assert violations([*plans("c1", 0), *publishes("w1", 1), *listing("r1", 2, False)]) == []


def test_a_listing_after_the_lock_was_given_back_is_found() -> None:
    found = violations([*plans("c1", 0), *listing("c1", 0, False), *publishes("w1", 1)])
    assert found == [
        "step 0 of c1 is not atomic: list.begin .hoodie/timeline (conflicts with put of w1 in step 1) "
        "comes after lock.release"
    ]


def test_two_conflicting_accesses_in_a_segment_are_found() -> None:
    other = COMMIT.replace("001_", "004_")
    found = violations(
        [Access("w1", 0, "put", COMMIT, False), Access("w1", 0, "put", other, False), *listing("r1", 1, False)]
    )
    assert len(found) == 1
    assert "comes after put .hoodie/timeline" in found[0]


def test_a_listing_that_is_one_segment_is_one_access() -> None:
    assert violations([*listing("r1", 0, False), *publishes("w1", 1)]) == []


def test_reading_a_published_object_conflicts_with_nothing_and_missing_it_does() -> None:
    put = Access("w1", 0, "put", COMMIT, False)
    read = [Access("r1", 1, "get", COMMIT, False), Access("r1", 1, "get", COMMIT, False)]
    assert violations([put, *read]) == []
    missed = [access._replace(step=0, outcome="missing") for access in read]
    assert len(violations([*missed, put._replace(step=1)])) == 1


def test_the_dead_cannot_come_between() -> None:
    """A compactor that took up a dead one's plan removes its files, one after the other."""
    late = [f"{n:08d}-0000-0000-0000-000000000000-0_0-0-1_20240101000000003.parquet" for n in (0, 1)]
    puts = [Access("c1", step, "put", path, False) for step, path in enumerate(late)]
    deletes = [Access("c2", 5, "delete", path, True) for path in late]
    assert len(violations([*puts, *deletes])) == 1
    assert violations([*puts, *deletes], {"c1": 2}) == []
    together = [access._replace(step=0) for access in puts]
    assert len(violations([*together, *deletes])) == 2
    assert violations([*together, *deletes], {"c1": 2}) == []
    assert len(violations([*puts, *deletes], {"c1": 7})) == 1


def test_unobserved_objects_are_exempt() -> None:
    inflight = COMMIT.replace("_20240101000000002.deltacommit", ".deltacommit.inflight")
    marker = ".hoodie/.temp/20240101000000001/x.marker.APPEND"
    accesses = [Access("w1", 0, "put", path, False) for path in (inflight, marker)]
    assert violations([*accesses, *listing("r1", 1, False), *listing("r1", 1, False)[:1]]) == []


def test_times_taken_outside_the_lock_conflict() -> None:
    outside = [Access(actor, step, "clock.take", "", False) for step, actor in enumerate(["w1", "w2"])]
    put = Access("w1", 0, "put", COMMIT, False)
    assert len(violations([outside[0], put, outside[1], *listing("r1", 2, False)])) == 1
