"""Footprints: which segments others could have seen half done."""

from __future__ import annotations

from nbcc.simulator.lockstep.control.calls import ARCHIVE
from nbcc.simulator.lockstep.control.footprints import Access, violations

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


FILE = "00000000-0000-0000-0000-000000000000-0"
LOGS = [f".{FILE}_20240101000000001.log.{version}_0-0-1" for version in (1, 2)]
BASE = f"{FILE}_0-0-1_20240101000000003.parquet"
CLEAN = ".hoodie/timeline/20240101000000005.clean.requested"
ANOTHER = COMMIT.replace("001_", "004_")


BEGUN = REQUESTED.replace("compaction", "deltacommit")


def asks_why(actor: str, step: int) -> list[Access]:
    """What a reader does that has met a missing file: it lists the timeline and reads the plans of the cleans."""
    return [*listing(actor, step, False), Access(actor, step, "get", CLEAN, False)]


def missing(path: str) -> Access:
    return Access("r1", 0, "get", path, False, "missing")


def cleaned(*paths: str) -> list[Access]:
    return [Access("d1", step, "delete", path, False) for step, path in enumerate(paths, 1)]


def test_to_ask_why_a_data_file_is_missing_is_no_second_access() -> None:
    others = [*cleaned(LOGS[0], BASE), *publishes("w1", 5)]
    assert violations([missing(LOGS[0]), *asks_why("r1", 0), *others]) == []
    assert violations([missing(BASE), *asks_why("r1", 0), *others]) == []


def test_nor_is_it_to_ask_which_restore_has_taken_a_commit_or_a_plan_away() -> None:
    for path in (ANOTHER, REQUESTED):
        others = [*cleaned(path), *publishes("w1", 5)]
        assert violations([missing(path), *asks_why("r1", 0), *others]) == []


def test_to_ask_why_is_one_where_it_is_used_or_something_else_was_missing() -> None:
    others = [*cleaned(*LOGS), *publishes("w1", 5)]
    [used] = violations([missing(LOGS[0]), *asks_why("r1", 0), missing(LOGS[1]), *asks_why("r1", 0), *others])
    assert "list.begin .hoodie/timeline (conflicts with put of w1 in step 5) comes after get" in used
    [found] = violations([missing(LOGS[0])._replace(outcome="done"), *asks_why("r1", 0), *others])
    assert "list.begin .hoodie/timeline" in found
    [no_plan] = violations([missing(BEGUN), *asks_why("r1", 0), *cleaned(BEGUN), *publishes("w1", 5)])
    assert "list.begin .hoodie/timeline" in no_plan
    [more] = violations([missing(LOGS[0]), *asks_why("r1", 0), Access("r1", 0, "get", REQUESTED, False, "missing"),
                         *cleaned(LOGS[0], REQUESTED), *publishes("w1", 5)])  # fmt: skip
    assert "list.begin .hoodie/timeline" in more


def test_an_archiver_is_atomic_while_a_listing_explains_an_error() -> None:
    asked = [Access("r1", 0, f"list.{end}", ARCHIVE.rstrip("/"), False) for end in ("begin", "end")]
    archives = [Access("arch1", 1, "put", f"{ARCHIVE}{name}", True) for name in ("1_1_0.parquet", "manifest_1")]
    assert violations([missing(LOGS[0]), *asked, *archives, *cleaned(LOGS[0])]) == []
    [other] = violations([*asked, *archives, *cleaned(LOGS[0])])
    assert other.startswith("step 1 of arch1 is not atomic: ")


def test_a_delete_in_vain_is_free_only_after_what_it_would_have_deleted() -> None:
    """The second of two rollbackers finds nothing; had the files come after it, they would be there for good."""
    puts = [Access("w1", step, "put", path, False) for step, path in enumerate(LOGS)]
    in_vain = [Access("b2", 6, "delete", path, False, "missing") for path in LOGS]
    assert violations([*puts, *in_vain]) == []
    assert len(violations([*puts, *(access._replace(outcome="done") for access in in_vain)])) == 1
    early = [access._replace(step=0) for access in in_vain]
    late = [access._replace(step=step) for step, access in enumerate(puts, 1)]
    assert len(violations([*early, *late])) == 1
    assert len(violations([*puts, *(access._replace(verb="get") for access in in_vain)])) == 1
    reads = [Access("r1", step, "get", path, False) for step, path in enumerate(LOGS)]
    assert len(violations([*reads, *(access._replace(outcome="done") for access in in_vain)])) == 1


def archives(*paths: str) -> list[Access]:
    return [Access("v1", step, "delete", path, True) for step, path in enumerate(paths, 5)]


def test_completed_instants_that_leave_for_the_archive_are_read_in_either() -> None:
    gets = [Access("r1", 0, "get", path, False) for path in (COMMIT, ANOTHER)]
    assert violations([*gets, *archives(COMMIT, ANOTHER)]) == []
    planner = [Access("c1", 0, "lock.acquire", "", False), *listing("c1", 0, True)]
    free = Access("v1", 5, "delete", COMMIT, False)
    assert violations([*planner, *planner[1:], free]) == []


def test_what_goes_for_good_is_not_read_in_either() -> None:
    pending = [REQUESTED, REQUESTED.replace("003", "004")]
    gets = [Access("r1", 0, "get", path, False) for path in pending]
    assert len(violations([*gets, *archives(*pending)])) == 1
    without_lock = [*listing("r1", 0, False), *listing("r1", 0, False)]
    assert len(violations([*without_lock, *archives(COMMIT)])) == 1
    logs = [Access("r1", 0, "get", path, False) for path in LOGS]
    assert len(violations([*logs, *archives(*LOGS)])) == 1
    twice = [Access("w1", 0, "put", path, False) for path in (COMMIT, ANOTHER)]
    assert len(violations([*twice, *archives(COMMIT, ANOTHER)])) == 1


VERSION = f"{ARCHIVE}_version_"
MANIFEST = f"{ARCHIVE}manifest_1"


def test_the_archive_is_one_access_with_the_listing_before_it() -> None:
    look = [Access("r1", 0, "get", path, False) for path in (VERSION, MANIFEST)]
    moves = [
        Access("v1", 1, "put", MANIFEST, True),
        Access("v1", 2, "delete", VERSION, True),
        Access("v1", 3, "delete", MANIFEST, True),
        *publishes("w1", 5),
    ]
    assert violations([*listing("r1", 0, False), *look, *moves]) == []
    assert len(violations([*look, *listing("r1", 0, False), *moves])) == 1
    assert len(violations([Access("r1", 0, "get", COMMIT, False, "missing"), *look, *moves])) == 1
    assert len(violations([*listing("r1", 0, False), Access("r1", 0, "put", VERSION, False), *moves])) == 1
    not_there = Access("r1", 0, "get", COMMIT, False, "missing")
    assert len(violations([*listing("r1", 0, False), not_there, *publishes("w1", 5)])) == 1
    folder = [access._replace(path="p=1") for access in listing("r1", 0, False)]
    into_it = Access("w1", 6, "put", f"p=1/{BASE}", False)
    assert len(violations([*folder, *look, *moves, into_it])) == 1


BASE = "p/00000000-0000-0000-0000-000000000000-0_{}_20240101000000003.parquet"
LOG = "p/.00000000-0000-0000-0000-000000000000-0_20240101000000003.log.1_{}"


def attempt(actor: str, step: int) -> list[Access]:
    """A compactor puts a base file and its log of deletes."""
    return [Access(actor, step, "put", name.format(actor), False) for name in (BASE, LOG)]


def removal(actor: str, step: int, of: str) -> list[Access]:
    """A compactor deletes the files of another one before it publishes."""
    return [Access(actor, step, "delete", name.format(of), True) for name in (LOG, BASE)]


def test_files_of_a_rival_that_no_actor_reads_are_unobserved() -> None:
    rivals = [*attempt("c1", 0), *attempt("c2", 1), *removal("c1", 2, of="c2")]
    assert violations(rivals) == []


def test_files_of_a_rival_that_an_actor_reads_are_observed() -> None:
    read = Access("r1", 3, "get", LOG.format("c2"), False)
    rivals = [*attempt("c1", 0), *attempt("c2", 1), *removal("c1", 4, of="c2")]
    assert violations([*rivals[:4], read, *rivals[4:]]) == []  # the base file alone is unobserved
    both = [read, read._replace(path=BASE.format("c2"))]
    assert len(violations([*rivals[:4], *both, *rivals[4:]])) == 3


def test_files_of_one_writer_are_observed_although_no_actor_reads_them() -> None:
    assert len(violations([*attempt("w1", 0), *removal("roll1", 1, of="w1")])) == 2


def test_a_get_that_misses_a_deleted_object_conflicts_with_the_deletion_and_not_with_the_put() -> None:
    files = attempt("c1", 0)
    deleted = Access("clean1", 1, "delete.all", LOG.format("c1"), False)
    missed = Access("r1", 2, "get", BASE.format("c1"), False, "missing")
    assert violations([*files, deleted, missed]) == []
    early = [missed._replace(step=0), *(each._replace(step=1) for each in files), deleted._replace(step=2)]
    assert len(violations(early)) == 1


def test_a_plan_that_its_runner_has_listed_is_read_as_of_the_listing() -> None:
    """Another runner, whose plan a restore has undone, deletes the plan later: this runner would list again."""
    inflight = REQUESTED.replace(".requested", ".inflight")
    read = [*listing("c1", 1, False), Access("c1", 1, "get", REQUESTED, False)]
    removed = [Access("c2", 2, "delete", REQUESTED, True), *publishes("w1", 3)]
    assert violations([*read, Access("c1", 1, "put", inflight, False), *removed]) == []
    assert len(violations([*read, *removed])) == 1, "a reader does not list again"
    unlisted = [Access("c1", 1, "get", REQUESTED, False), *listing("c1", 1, False)]
    assert len(violations([*unlisted, Access("c1", 1, "put", inflight, False), *removed])) == 1
