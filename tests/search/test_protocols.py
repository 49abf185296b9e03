"""Each weaker protocol breaks the promises that its file names, by a shortest interleaving of pinned length."""

from __future__ import annotations

from functools import cache

import pytest

from nbcc.model import Model, Protocol, World
from nbcc.model.promises import PROMISES
from nbcc.model.protocol import choices
from nbcc.simulator import specs
from nbcc.simulator.search.explore import Result, Verdict, explore
from nbcc.simulator.search.verdicts import load

from .pins import OPTIMISTIC, SIZES, case, search, violated

# These lose nothing.
KEEPING = ("time_service", "test_and_set", "occ", "resolved", "log", "free", "put_if_absent", "exclusive", "several",
           # Of a log that is shared; what they lose in addition to it is pinned in sizes.toml.
           "shared", "appended", "earlier", "in_front",
           "by_range", "dual_write", "moved", "updates_only", "parallel",
           # No promise is of what its reader loses: agreement with the maker of a base file (test_foreign_services.py).
           "by_the_table")  # fmt: skip
WEAKER = [
    (name, value)
    for name, values in choices().items()
    for value in values[1:]
    if value not in KEEPING and name not in OPTIMISTIC
]
BREAKS = {
    ("clustering", "file_ids"): {"SNAP", "INCR", "CDC"},
    ("replacing", "file_ids"): {"SNAP", "INCR", "CDC", "RO", "PART", "LAWS"},
    ("slicing", "requested"): {"SNAP", "INCR", "CDC", "QUIET", "PART"},
    ("slicing", "base_instant"): {"SNAP", "INCR", "CDC", "QUIET", "PART"},
    ("slicing", "temporal"): {"SNAP", "INCR", "CDC", "PART"},
    ("barriers", "base_files"): {"SNAP", "TRAVEL", "INCR", "CDC", "QUIET", "PART"},
    ("merge_order", "requested"): {"SNAP", "INCR", "CDC", "RO", "QUIET"},
    ("as_of_axis", "requested"): {"SNAP", "TRAVEL", "INCR", "CDC", "QUIET"},
    ("as_of_axis", "requested_slices"): {"SNAP", "TRAVEL", "INCR", "CDC"},
    ("as_of_bound", "before"): {"SNAP", "INCR", "CDC"},
    ("incremental_axis", "requested"): {"INCR"},
    ("checkpoint", "before_pending"): {"INCR"},
    ("scheduling", "serial"): {"USEFUL"},
    ("checkpoint", "fenced"): {"FRESH"},
    ("behind_horizon", "skipped"): {"INCR"},
    ("as_of_pending", "refused"): {"ANSWER"},
    ("completion_time", "outside_lock"): {"SNAP", "TRAVEL", "INCR", "CDC", "RO", "QUIET", "PART", "MONO", "LAWS"},
    ("tombstones", "drop"): {"SNAP", "INCR", "CDC", "QUIET"},
    ("listing", "once"): {"SNAP", "TRAVEL"},
    ("read_time", "clock"): {"SNAP", "TRAVEL", "ANSWER"},
    ("fold", "logs_first"): {"SNAP", "INCR", "CDC", "QUIET"},
    ("plan_takes", "any_log"): {"SNAP", "TRAVEL", "INCR", "CDC", "ATOM", "RO", "QUIET", "PART", "LAWS"},
    ("visibility", "all_earlier"): {"SNAP", "TRAVEL", "INCR", "CDC", "PART"},
    ("concurrency", "single_writer"): {"FIRST"},
    ("file_ids", "generated"): {"SNAP", "KEY"},
    ("visibility", "any"): {"SNAP", "TRAVEL", "INCR", "CDC", "ATOM"},
    ("bulk_insert", "unchecked"): {"SNAP", "INCR", "CDC", "RO", "QUIET", "PART", "LAWS"},
    ("visibility", "unless_pending"): {"SNAP", "TRAVEL", "INCR", "CDC", "ATOM", "QUIET"},
    ("failed_writes", "eager"): {"REC"},
    ("lost_answer", "reported_failed"): {"ACK"},
    ("lock_wait", "times_out"): {"FREE"},
    ("bucket_count", "own"): {"SNAP", "KEY"},
    ("batch_ids", "at_request"): {"ONCE"},
    ("batch_ids", "ignored"): {"ONCE"},
    ("replay_difference", "keep"): {"ONCE"},
    ("rollback_check", "before_lock"): {"SNAP", "TRAVEL", "INCR", "CDC", "QUIET", "REC"},
    ("plan_check", "before_lock"): {"PART", "CLEAN", "RETAIN", "MONO"},
    ("commit_check", "before_lock"): {"SNAP", "TRAVEL", "INCR", "CDC", "QUIET", "REC"},
    ("commit_check", "none"): {"SNAP", "TRAVEL", "INCR", "CDC", "QUIET", "REC"},
    ("retention", "barrier"): {"PART", "CLEAN", "RETAIN"},
    ("retention", "any_barrier"): {"PART", "CLEAN", "RETAIN", "PROGRESS"},
    ("horizon", "after_delete"): {"ANSWER", "CLEAN"},
    ("fencing", "storage"): {"SNAP", "TRAVEL", "INCR", "CDC", "RO", "MONO", "FREE", "PROGRESS"},
    ("clock", "local"): {"SNAP", "TRAVEL", "INCR", "CDC", "RO", "MONO"},
    ("clock", "seconds"): {"SNAP", "TRAVEL", "INCR", "CDC", "RO", "PART", "MONO"},
    ("lock_expiry", "never"): {"PROGRESS"},
    ("archive_bound", "none"): {"ARCH"},
    ("restore_by", "requested"): {"TRAVEL", "REC"},
    ("restore_pending", "ignored"): {"SNAP", "INCR", "CDC", "ATOM", "RO", "QUIET", "USEFUL", "LAWS", "REC"},
    ("savepoint_keeps", "base_files"): {"CLEAN", "SAVED"},
    ("savepoint_keeps", "nothing"): {"CLEAN", "SAVED"},
    ("archive_lookup", "before_listing"): {"SNAP", "TRAVEL", "FRESH", "ARCH", "ACK"},
    ("archive_lookup", "never"): {"SNAP", "TRAVEL", "INCR", "CDC", "RO", "FRESH", "QUIET", "PART", "ARCH", "ACK"},
    ("state_checkpoint_tail", "requested"): {"SAME"},
    ("state_checkpoint_restored", "used"): {"SAME"},
    ("first_slice", "first_requested"): {"SNAP", "TRAVEL", "INCR", "CDC", "PART"},
    ("window_merge", "slice_of_window"): {"INCR", "QUIET"},
    ("window_merge", "slice_of_table"): {"INCR", "QUIET"},
    ("window_merge", "slice_of_files"): {"INCR"},
    ("window_merge", "slice_of_files_from"): {"INCR"},
    ("window_merge", "uncompacted_slices"): {"INCR", "QUIET"},
    ("coordinator_state", "all"): {"ACK"},
    ("restored_id", "none"): {"ONCE"},
    ("recommit_check", "since_beginning"): {"FIRST"},
    ("flink_rollback", "by_heartbeat"): {"ACK", "REC"},
    ("older_checkpoint", "accepted"): {"ONCE"},
    ("write_error", "fails_commit"): {"ACK"},
    ("window_deletes", "omitted"): {"INCR"},
    ("metadata_commit", "after_data"): {"SNAP", "TRAVEL", "INCR", "CDC"},
    ("metadata_lock", "outside_lock"): {"SNAP", "INCR", "CDC"},
    ("metadata_again", "refused"): {"PROGRESS"},
    ("metadata_read", "before_timeline"): {"SNAP", "TRAVEL"},
    ("metadata_trust", "listed"): {"SNAP", "TRAVEL", "INCR", "CDC", "ATOM"},
    ("entry_slice", "entered"): {"SNAP", "TRAVEL", "INCR", "CDC", "QUIET"},
    ("entry_taken", "entered"): {"SNAP", "TRAVEL", "INCR", "CDC", "ATOM", "QUIET"},
    ("entry_barrier", "before_pending"): {"USEFUL"},
    ("log_compaction_rank", "own"): {"SNAP", "INCR", "CDC", "RO", "QUIET"},
    ("columns_shown", "current"): {"SNAP", "TRAVEL", "INCR"},
    ("columns_shown", "last_commit"): {"SNAP", "INCR"},
    ("columns_written", "at_open"): {"SNAP", "QUIET"},
    ("merge_laws", "not_idempotent"): {"LAWS"},
    ("merge_laws", "not_commutative"): {"LAWS"},
    ("merge_laws", "not_associative"): {"SNAP", "INCR", "CDC", "QUIET", "LAWS"},
    ("column_merge", "by_row"): {"SNAP", "INCR", "CDC", "RO", "QUIET"},
    ("column_merge", "by_row_in_base"): {"SNAP", "INCR", "CDC", "QUIET"},
    ("log_compaction_window", "included"): {"INCR"},
    ("mapping_check", "at_open"): {"SNAP", "INCR", "CDC", "PART"},
    ("sorted_home", "value"): {"SNAP", "INCR", "CDC", "ATOM", "QUIET", "PART", "KEY"},
    ("inserts", "newest"): {"SNAP", "INCR", "CDC"},
    ("inserts", "unchecked"): {"SNAP", "INCR", "CDC", "RO", "PART", "KEY"},
    ("settled_by", "listing"): {"SNAP", "TRAVEL", "ATOM"},
    ("services", "foreign"): {"SNAP", "INCR", "CDC", "RO", "QUIET"},
    ("claims", "none"): {"MONO"},
    ("tombstone_logs", "by_time"): {"SNAP", "TRAVEL", "INCR", "CDC", "QUIET", "MONO"},
}
RESTS_ON = {
    "recommit_check": {"concurrency": "occ"},
    "claims": {"decision": "log"},
    "tombstone_logs": {"decision": "log", "claims": "none"},
    "settled_by": {"decision": "free", "publication": "parallel"},
}
"""Choices that matter only together with others."""

SHOWS_IN = {
    ("coordinator_state", ""): "flink_failures",
    ("restored_id", ""): "flink_older_checkpoint",
    ("recommit_check", ""): "flink_older_checkpoint",
    ("flink_rollback", ""): "flink_two_jobs",
    ("older_checkpoint", ""): "flink_older_checkpoint",
    ("write_error", ""): "flink_failures",
    ("listing", ""): "readers",
    ("checkpoint", ""): "consumers",
    ("batch_identity", ""): "streams",
    ("empty_trigger", ""): "streams",
    ("behind_horizon", ""): "consumers_cleaned",
    ("read_time", ""): "readers",
    ("clock", ""): "skewed_clocks",
    ("fencing", ""): "lost_lock",
    ("claims", ""): "lost_lock",
    ("tombstone_logs", ""): "lost_lock",
    ("settled_by", ""): "free_readers",
    ("first_slice", ""): "first_log",
    ("bulk_insert", ""): "loads",
    ("failed_writes", ""): "failed_writer",
    ("lost_answer", ""): "answer_lost",
    ("batch_ids", ""): "sent_again",
    ("replay_difference", ""): "sent_otherwise",
    ("rollback_check", ""): "failed_writer",
    ("commit_check", ""): "failed_writer",
    ("plan_check", ""): "rivals",
    ("visibility", "unless_pending"): "failed_writer",
    ("log_compaction_rank", ""): "log_compaction",
    ("column_merge", ""): "partial_updates",
    ("merge_laws", ""): "merged_by_function",
    ("columns_shown", ""): "columns_added",
    ("columns_written", ""): "columns_added",
    ("log_compaction_window", ""): "log_compaction",
    ("entry_slice", ""): "metadata_entries",
    ("entry_taken", ""): "metadata_entries",
    ("entry_barrier", ""): "metadata_entries",
    ("metadata_commit", ""): "metadata_writers",
    ("metadata_lock", ""): "metadata_writers",
    ("metadata_again", ""): "metadata_services",
    ("metadata_read", ""): "metadata_readers",
    ("metadata_trust", ""): "metadata_writers",
    ("retention", ""): "cleaning",
    ("horizon", ""): "cleaning",
    ("lock_expiry", ""): "crash_resume",
    ("replacing", ""): "replaces",
    ("clustering", ""): "clustered",
    ("mapping_check", ""): "resized",
    ("sorted_home", ""): "sorted",
    ("inserts", "newest"): "record_index_three_writers",
    ("inserts", "unchecked"): "record_index",
    ("archive_bound", ""): "archiving",
    ("restore_by", ""): "restores",
    ("restore_pending", ""): "restores_compacted",
    ("savepoint_keeps", ""): "savepoints",
    ("archive_lookup", ""): "archiving_readers",
    ("state_checkpoint_tail", ""): "state_checkpoints",
    ("state_checkpoint_restored", ""): "state_checkpoints_restored",
}
"""The world for a choice, where it is not the demo's."""


EXTENDS = {"unclaimed-times": "decision-log", "parallel-commits-newest-listed": "parallel-commits"}


def test_every_protocol_but_the_default_is_pinned() -> None:
    assert ["default", *sorted(SIZES["protocols"])] == list(specs.protocol_names())


# What only a larger world shows is searched at night; by day test_kills.py kills each such choice in a small one.
BREAKING = [case(pinned["world"], name) for name, pinned in SIZES["protocols"].items() if pinned["violated"]]
KEEPS_ALL = [case(pinned["world"], name) for name, pinned in SIZES["protocols"].items() if not pinned["violated"]]
SHORT = [name for name, pinned in SIZES["protocols"].items() if pinned["violated"]]


@cache  # most weaker choices are those of a protocol, in the same world
def searched(world: World, protocol: Protocol) -> Result:
    return search(Model(world, protocol))


@pytest.mark.parametrize("name", KEEPS_ALL)
def test_another_choice_loses_nothing(name: str) -> None:
    assert search(specs.system(SIZES["protocols"][name]["world"], name)).verdict is Verdict.HOLDS


@pytest.mark.parametrize("name", BREAKING)
def test_a_protocol_breaks_what_is_pinned(name: str) -> None:
    pinned = SIZES["protocols"][name]
    model = specs.system(pinned["world"], name)
    result = searched(model.world, model.protocol)

    assert violated(result) == pinned["violated"]
    trace = result.promises[pinned["promise"]].trace
    assert trace is not None
    assert broken_along(model, pinned["promise"], trace) == [len(trace)]


@pytest.mark.parametrize("name", SHORT)
def test_what_it_extends_survives_the_same_interleaving(name: str) -> None:
    """Where it is a behaviour of the protocol that it extends at all: then the setting alone is to blame."""
    pinned = SIZES["protocols"][name]
    extends = EXTENDS.get(name) or ("occ" if name.startswith("occ-") else "default")
    model, standard = specs.system(pinned["world"], name), specs.system(pinned["world"], extends)
    found = explore(model, [PROMISES[pinned["promise"]]], until_all_broken=True)
    trace = found.promises[pinned["promise"]].trace
    assert trace is not None
    assert len(trace) == pinned["violated"][pinned["promise"]]

    state, taken = standard.initial, 0
    for step in trace:
        if standard.refusal(state, step):
            break
        state, taken = standard.apply(state, step), taken + 1
    assert broken_along(standard, pinned["promise"], trace[:taken]) == []
    changes_steps = {"completion-outside-lock", "single-listing", "colliding-seconds", "test-and-set"}
    changes_steps |= {"occ-check-before-lock", "occ-by-start-time", "occ-by-file-id", "occ-timeline-reloaded"}
    changes_steps |= {"occ-services-first", "occ-early-detection", "occ-reads-ignored"}
    changes_steps |= {"bulk-insert-unchecked", "hudi-1.2.0-occ"}
    changes_steps |= {"clean-behind-pending-plan", "clean-by-requested-time"}  # the cleaner plans other files
    changes_steps |= {"commit-checked-early", "commit-unchecked", "eager-rollback", "rollback-chosen-early"}
    changes_steps |= {"plan-checked-early"}
    changes_steps |= {"lost-answer-is-failure", "batch-ids-at-request", "batch-ids-ignored", "lock-wait-times-out"}
    changes_steps |= {"batch-known-by-its-id"}
    changes_steps |= {"rfc-22-option-1", "occ-clustering"}
    changes_steps |= {"metadata-compacts-pending"}  # by default there is no entry to compact
    changes_steps |= {"metadata-after-data", "metadata-outside-lock", "metadata-read-first", "metadata-refused-again"}
    changes_steps |= {"savepoints-ignored", "savepoints-without-logs", "restore-by-request", "restore-leaves-pending"}
    changes_steps |= {"resize-unchecked", "rfc-42-dual-write"}
    changes_steps |= {"sort-by-value"}  # by default a writer chooses no value of the sort column
    changes_steps |= {"rollback-block-in-front", "unclaimed-times"}
    changes_steps |= {"flink-1.2.0"}
    changes_steps |= {"archive-unread", "old-manifest", "archive-past-pending"}
    assert (taken < len(trace)) == (name in changes_steps)


def shows_in(field: str, value: str) -> str:
    return SHOWS_IN.get((field, value)) or SHOWS_IN.get((field, ""), "demo")


@pytest.mark.parametrize(("field", "value"), [case(shows_in(*each), *each) for each in WEAKER])
def test_each_weaker_choice_breaks_exactly_these(field: str, value: str) -> None:
    world = specs.world(shows_in(field, value))

    protocol = Protocol.from_mapping({**RESTS_ON.get(field, {}), field: value})
    assert violated(searched(world, protocol)).keys() == BREAKS[field, value]


BY_MUTANTS = {"WAIT", "BOUNDED"}


def test_each_promise_is_broken_by_some_choice() -> None:
    """ISO and ERASED are of optimistic writers alone: the choices that break ISO are pinned in sizes.toml, and searched
    above; the matrix has those that break ERASED.

    No option breaks WAIT or BOUNDED: their mutants do (specs/kills.md).
    """
    pinned = [pin["violated"] for name, pin in SIZES["protocols"].items() if name.startswith("occ-")]
    assert set().union(*BREAKS.values()) == set(PROMISES) - {"ISO", "ERASED", *BY_MUTANTS}
    cells = [row["promises"].items() for row in load("quick")["protocols"].values()]
    judged = {name for row in cells for name, cell in row if cell["verdict"] == "VIOLATED"}
    assert set().union(*BREAKS.values(), *pinned) | (judged & {"ERASED"}) == set(PROMISES) - BY_MUTANTS


@pytest.mark.parametrize(("field", "value"), [("tombstones", "drop"), ("fold", "logs_first")])
def test_by_commit_time_no_tombstone_is_needed(field: str, value: str) -> None:
    world = specs.world("demo").replace(merge_mode="COMMIT_TIME_ORDERING")

    assert search(Model(world, Protocol.from_mapping({field: value}))).verdict is Verdict.HOLDS


def broken_along(model: Model, name: str, trace: tuple[object, ...]) -> list[int]:
    """After how many steps of a trace the promise is broken."""
    promise, state = PROMISES[name], model.initial
    broken = []
    for taken, step in enumerate(trace, start=1):
        after = model.apply(state, step)  # type: ignore[arg-type]  # a trace of this model holds its steps
        if promise.holds(model, state, step, after):  # type: ignore[arg-type]
            broken.append(taken)
        state = after
    return broken
