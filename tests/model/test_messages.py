"""Messages of broken promises, word by word: the write, the row value, the file group, T."""

from __future__ import annotations

import pickle

import pytest

from nbcc.model import Model, Protocol, World
from nbcc.model.machine.transition import Refused, Step
from nbcc.model.promises import PROMISES
from nbcc.simulator import specs
from nbcc.simulator.search.explore import explore
from nbcc.simulator.search.jobs import SearchJob

SENTENCES = {
    ("demo", "slicing", "requested"): {
        "SNAP": "snapshot at t6 in group 0 misses w2's write (requested t3, completed t6): a key that w2 upserts with "
        "ordering value 1 shows no row, not the row of w2",
        "QUIET": "when c1 publishes: the snapshot changed in group 0: a key that w2 upserts with ordering value 1 "
        "showed the row of w2 and now shows no row",
        "PART": "readers put the log of w2's write (requested t3, completed t5) in group 0 before the barrier t4, "
        "whose plan misses it",
    },
    ("demo", "tombstones", "drop"): {
        "SNAP": "snapshot at t6 in group 0: a key that w1 deletes with ordering value 2 and w2 upserts with ordering "
        "value 1 shows the row of w2, not no row",
        "CDC": "change log (t0, t6] in group 0: a key that w1 deletes with ordering value 2 and w2 upserts with "
        "ordering value 1 goes from no row to the row of w2, not from no row to no row",
    },
    ("demo", "incremental_axis", "requested"): {
        "INCR": "incremental read (t0, t3] in group 0 holds w2's write (requested t2, completed t4): a key that w2 "
        "upserts with ordering value 1 shows the row of w2, not no row",
    },
    ("demo", "completion_time", "outside_lock"): {
        "TRAVEL": "when w1 publishes: the read as of t4 changed in group 0: a key that w1 upserts with ordering value "
        "1 showed no row and now shows the row of w1",
        "MONO": "w1 published its deltacommit (completed t2) after w2's deltacommit (completed t4)",
        "LAWS": "the base of t5 in group 0 leaves out w1's write (requested t1, completed t2) and merges a later "
        "completion",
    },
    ("demo", "merge_order", "requested"): {
        "RO": "read-optimised read at the barrier t5 in group 0: a key that w2 upserts with ordering value 1 and w1 "
        "upserts with ordering value 1 shows the row of w2, not the row of w1",
    },
    ("demo", "visibility", "any"): {
        "ATOM": "snapshot in group 0 holds a log of w1's write (requested t1, not completed), which has not completed",
    },
    ("demo", "plan_takes", "any_log"): {
        "PART": "the plan at t2 takes the log of w1's write (requested t1, completed t3) in group 0, which readers put "
        "after its barrier",
        "LAWS": "the base of t2 in group 0 merges the write requested at t1, whose rank is not decided yet",
    },
    ("demo", "concurrency", "single_writer"): {
        "FIRST": "w2's write (requested t2, completed t4) is published although w1's write (requested t1, completed "
        "t3) wrote group 0 after it had begun",
    },
    ("demo", "file_ids", "generated"): {
        "KEY": "a key of bucket 0 that both write is in two file groups: w1's write (requested t1, completed t3) and "
        "w2's write (requested t2, completed t4) put it into different file groups",
    },
    ("write_skew", "conflict_reads", "ignored"): {
        "ISO": "write skew: w1's write (requested t1, completed t3) read group 1, which w2's write (requested t2, "
        "completed t4) wrote, and the other way round in group 0",
    },
    ("readers", "listing", "once"): {
        "SNAP": "r1's snapshot at t4 in group 0 misses w1's write (requested t1, completed t2): a key that w1 upserts "
        "with ordering value 1 shows no row, not the row of w1",
        "TRAVEL": "when r1 reads: r1 answered at t4; that answer changed in group 0: a key that w1 upserts with "
        "ordering value 1 showed no row and now shows the row of w1",
    },
    ("cleaning", "retention", "barrier"): {
        "CLEAN": "the read as of t5 needs log 1 of t1 in group 0, which is deleted; the horizon is t5",
        "RETAIN": "the clean of t7 retains 1 commits and deletes log 1 of t1 in group 0, which the state of t5 needs",
    },
    ("cleaning", "horizon", "after_delete"): {
        "ANSWER": "the read as of t2 is answered, not refused as Cleaned",
    },
    ("demo", "as_of_pending", "refused"): {
        "ANSWER": "the read as of t3 is refused (NoAnswer), and its times are settled and retained",
    },
    ("demo", "scheduling", "serial"): {
        "USEFUL": "compacting group 0 is due, c1 is idle and the lock is free, but c1 cannot act",
    },
    ("savepoints", "savepoint_keeps", "nothing"): {
        "SAVED": "the savepoint of t1 needs log 1 of t1 in group 0, which is deleted",
    },
    ("consumers", "checkpoint", "fenced"): {
        "FRESH": "the window of cons1 ends at t1, and w1's write (requested t1, completed t3) returned",
    },
    ("archiving", "archive_bound", "none"): {
        "ARCH": "the deltacommit requested at t1 is pending, and t2 is archived past it: its files look older "
        "than the timeline",
    },
    ("archiving_readers", "archive_lookup", "before_listing"): {
        "ARCH": "r1 reads as of t4 and has found t1 on neither timeline",
        "ACK": "r1 has answered as of t0, and began after w1's write (requested t1, completed t2) had returned",
    },
    ("state_checkpoints", "state_checkpoint_tail", "requested"): {
        "SAME": "through the state checkpoint of t3 the snapshot changed in group 0: a key that w2 upserts with "
        "ordering value 1 showed the row of w2 and now shows no row",
    },
    ("answer_lost", "lost_answer", "reported_failed"): {
        "ACK": "w1's write (requested t1, completed t2) is visible to readers, and its caller received a failure",
    },
    ("sent_again", "batch_ids", "ignored"): {
        "ONCE": "one batch is committed twice: as w1's write (requested t1, completed t2) and as w2's write (requested "
        "t3, completed t4)",
    },
    ("sent_otherwise", "replay_difference", "keep"): {
        "ONCE": "w2 received the answer that its batch is written, and no commit has its rows: other rows are "
        "committed under its id by w1's write (requested t1, completed t2)",
    },
    ("failed_writer", "commit_check", "none"): {
        "REC": "w1's write (requested t1, completed t3) is completed, and a rollback of it is on the timeline",
    },
    ("failed_writer", "failed_writes", "eager"): {
        "REC": "w1's write requested at t1 is rolled back, and its heartbeat has not expired",
    },
    ("two_groups", "slicing", "requested"): {
        "ATOM": "snapshot holds a part of w1's write (requested t1, completed t6): its log version 1 in group 0 is "
        "missing",
    },
    ("log_versions", "merge_order", "requested"): {
        "INCR": "incremental read (t0, t4] in group 0: a key that w2 upserts with ordering value 1 and w1 upserts with "
        "ordering value 1 shows the row of w2, not the row of w1",
    },
    ("conditional_delete", "conflict_reads", "ignored"): {
        "ERASED": "the snapshot in group 1 shows the row of w2, which was written before w1's write (requested t1, "
        "completed t4) deleted the rows that match: a key that w2 upserts with ordering value 1",
    },
    ("lost_lock", "fencing", "storage"): {
        "FREE": "w1 is alive, and its write was refused publication",
    },
    ("crash_resume", "lock_expiry", "never"): {
        "PROGRESS": "no step is possible any more, and w2 never finishes its operation",
    },
}


@pytest.mark.parametrize(("world", "field", "value"), SENTENCES)
def test_what_a_broken_promise_says(world: str, field: str, value: str) -> None:
    model = Model(specs.world(world), Protocol.from_mapping({field: value}))
    expected = SENTENCES[world, field, value]
    found = explore(model, [PROMISES[name] for name in expected], until_all_broken=True).promises

    assert {name: each.because for name, each in found.items()} == expected


def test_bounded_says_who_fails_how_often() -> None:
    world, mutant = specs.world("free_compaction"), "announcements-decided-alone"
    found = SearchJob(world=world, mutant=mutant, promises=("BOUNDED",)).run(until_all_broken=True).promises["BOUNDED"]
    assert found.because == "w2 is alive, and failed 3 times to create an entry after its announcement"


def test_every_promise_has_its_words_here() -> None:
    # No option breaks WAIT, whose sentences are in tests/search/test_waits.py, or BOUNDED, which only mutants break.
    assert {name for sentences in SENTENCES.values() for name in sentences} == set(PROMISES) - {"WAIT", "BOUNDED"}


@pytest.mark.parametrize(
    ("readers", "lost_answers", "decision", "says"),
    [
        (0, 1, "lock", None),
        (0, 1, "log", None),
        (0, 0, "lock", "every answer of the store arrives in this world"),
        (0, 0, "log", "every answer of the store arrives in this world"),
        (1, 0, "lock", None),
        (1, 0, "log", None),
    ],
)
def test_where_ack_says_nothing(readers: int, lost_answers: int, decision: str, says: str | None) -> None:
    actors = {"writer": 1, "compactor": 1, "archiver": 1, "reader": readers}
    world = World(actors=actors, archives=1, instants_retained=1, lost_answers=lost_answers)
    unfit = PROMISES["ACK"].unfit
    assert unfit is not None
    assert unfit(Model(world, Protocol.from_mapping({"decision": decision}))) == says


def test_a_refusal_can_be_sent_to_another_process() -> None:
    refused = Refused(Step("w1", "writer_begins"), ("no writer may be writing",))
    received = pickle.loads(pickle.dumps(refused))
    assert (received.step, received.reasons, str(received)) == (refused.step, refused.reasons, str(refused))
