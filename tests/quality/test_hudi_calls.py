"""Hudi's storage calls: what does not fit the model is a line of the boundary, and what is wrong has a finding."""

from __future__ import annotations

from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from nbcc.model import Step
from nbcc.model.mechanisms import actions
from nbcc.model.mechanisms.crashes import ACTOR_CRASHES
from nbcc.simulator.lockstep.findings import names
from nbcc.simulator.lockstep.schedule import no_choice
from tools.hudi_calls import soak
from tools.hudi_calls.cast import CALL, FAILS, STALLS, Cast, draw_cast, writer
from tools.hudi_calls.groups import Shared, groups, is_atomic
from tools.hudi_calls.labels import changes_of_actions
from tools.hudi_calls.play import Ordered, Played, is_taken, play
from tools.hudi_calls.summary import load
from tools.hudi_calls.tours import Toured
from tools.hudi_calls.verdict import EXPLAINED, RIGHT, UNDONE, WRONG_ROWS, explained, leaves_lock, missed_conflicts

BOUNDARY = (Path(__file__).parents[2] / "specs" / "boundary.md").read_text("utf-8")


@pytest.mark.parametrize("operation", load()["operations"])
def test_each_action_of_several_calls_is_in_the_boundary(operation: str) -> None:
    counts = changes_of_actions(operation, load()["operations"][operation]["seen"])
    assert counts.keys() <= actions().keys()
    assert [action for action, count in counts.items() if count > 1 and f"`{action}`" not in BOUNDARY] == []


@pytest.mark.parametrize("operation", load()["operations"])
def test_each_action_that_reads_without_the_lock_is_in_the_boundary(operation: str) -> None:
    found = load()["operations"][operation]
    assert {name: group["changes"] for name, group in found["groups"].items()} == changes_of_actions(
        operation, found["seen"]
    )
    loose = [name for name, group in found["groups"].items() if not is_atomic(group)]
    assert [name for name in loose if f"`{name}`" not in BOUNDARY] == []


RUN = (
    "list /.hoodie/timeline",
    "get /.hoodie/timeline/1.rollback.requested",
    "put /.hoodie/.heartbeat/2",
    "rename /.hoodie/timeline/2.deltacommit.requested",
    "put /.hoodie/lock",
    "list /.hoodie/timeline",
    "delete /.hoodie/lock",
    "stat /.hoodie/timeline/2.deltacommit.inflight",
    "get /.hoodie/hoodie.properties",
    "rename /.hoodie/timeline/2.deltacommit.inflight",
)


def test_an_action_has_the_reads_before_its_change_that_see_others() -> None:
    """Only requested and inflight instants of writes are changed: a get of a rollback sees nothing of others."""
    found = groups("upsert", RUN, Shared.of([RUN]))
    assert found == {
        "writer_requests_instant": {"changes": 1, "before": {"list": 1}, "locked": {}},
        "writer_starts_writing": {"changes": 1, "before": {"stat": 1}, "locked": {"list": 1}},
    }


@pytest.mark.parametrize(
    ("group", "atomic"),
    [
        ({"changes": 1, "before": {}, "locked": {"list": 2}}, True),
        ({"changes": 1, "before": {"get": 1}, "locked": {}}, False),
        ({"changes": 2, "before": {}, "locked": {}}, False),
    ],
)
def test_an_action_is_atomic_if_it_has_one_change_and_reads_under_the_lock(group: dict[str, Any], atomic: bool) -> None:
    assert is_atomic(group) == atomic


@pytest.mark.parametrize("operation", load()["operations"])
def test_each_call_of_an_operation_has_had_each_fault(operation: str) -> None:
    figures = load()["operations"][operation]
    calls = sum(figures["calls"].values())
    points = {fault: seen["points"] for fault, seen in figures["faults"].items()}
    assert points == {"end": calls, "tear": figures["calls"]["put"], "fail": calls}
    assert sum(figures["stalls"].values()) == calls


def test_each_verdict_that_is_explained_names_a_finding() -> None:
    assert {*UNDONE, *(name for _, name, _ in EXPLAINED)} <= {*names()}
    assert explained(Played(Cast("upsert", "non-blocking", {}), (), (), {}, {}, {}), "right") == "right"


TIMELINE = "/.hoodie/timeline/"
LOG = "/p/.group_1.log.1_0-1-1"
UNDOES = (
    ("w1", STALLS, f"put {LOG}"),
    ("w1", CALL, f"put {LOG}"),
    ("s1", CALL, "list /.hoodie/timeline"),
    ("w1", CALL, "rename /.hoodie/timeline/1_2.deltacommit"),
    ("s1", CALL, f"delete {LOG}"),
)
"""The finding `clean-undoes-a-commit`: a clean at work deletes the log of a write that completes at step 4."""


def lost(*steps: tuple[str, str, str]) -> str:
    """Return what explains the loss of the rows of w1, and of no other ones, after these steps."""
    cast = Cast("upsert", "non-blocking", {"w1": writer("w1", 3), "w2": writer("w2", 2), "s1": ("clean", {})})
    done = tuple(Step(actor, action) for actor, action, _ in steps)
    played = Played(cast, done, tuple(call for *_, call in steps), {}, {}, {"w1": 4, "w2": 1})
    assert explained(played, WRONG_ROWS.format(cast.rows({"w1"}), cast.rows({"w1", "w2"}))) == ""
    assert explained(played, WRONG_ROWS.format(cast.rows(set()), cast.rows({"w1", "w2"}))) == ""
    return explained(played, WRONG_ROWS.format(cast.rows({"w2"}), cast.rows({"w1", "w2"})))


def test_rows_are_lost_as_a_finding_predicts() -> None:
    assert lost(*UNDOES) == UNDONE[0]
    plan = ("s1", CALL, f"rename {TIMELINE}2.rollback.requested")
    assert lost(*UNDOES[:2], plan, *UNDOES[3:]) == UNDONE[1]
    assert lost(*UNDOES[:4], plan, UNDOES[4]) == UNDONE[0]
    without_markers = ("s1", CALL, f"delete {TIMELINE}1_2.deltacommit")
    assert lost(*UNDOES[:4], plan, without_markers) == UNDONE[0]


@pytest.mark.parametrize(
    ("action", "call", "left"),
    [
        (CALL, "stat /.hoodie/lock", False),
        (FAILS, "stat /.hoodie/lock", True),
        (FAILS, "get /.hoodie/hoodie.properties", False),
        (ACTOR_CRASHES, "get /.hoodie/hoodie.properties", True),
    ],
)
def test_a_lock_stays_taken_after_a_death_or_a_failed_release(action: str, call: str, left: bool) -> None:
    cast = Cast("upsert", "optimistic, lock file", {"w1": writer("w1", 2)})
    assert leaves_lock(Played(cast, (Step("w1", action),), (call,), {}, {}, {})) == left


@pytest.mark.parametrize(("at", "name"), [(2, "stalled-write-commits-after-its-rollback"), (4, UNDONE[0])])
def test_a_commit_is_rolled_back_before_or_after_it_completes(at: int, name: str) -> None:
    """The clean finds no markers: it deletes the instant of w1, and no log."""
    steps = [(actor, action, call.replace(LOG, f"{TIMELINE}1.deltacommit.inflight")) for actor, action, call in UNDOES]
    steps.insert(at, steps.pop())
    cast = Cast("upsert", "non-blocking", {"w1": writer("w1", 3), "s1": ("clean", {})})
    calls = tuple(call for *_, call in steps)
    completed = calls.index(UNDOES[3][2]) + 1
    played = Played(cast, tuple(Step(*step[:2]) for step in steps), calls, {}, {}, {"w1": completed})
    assert explained(played, "validate: BROKEN undone-and-completed") == name


@pytest.mark.parametrize(
    "steps",
    [
        (UNDOES[1], *UNDOES[1:]),
        (*UNDOES[:2], UNDOES[1], *UNDOES[3:]),
        UNDOES[:4],
        (*UNDOES[:4], ("s1", CALL, "delete /p/.group_2.log.1_0-1-1")),
        (*UNDOES[:4], ("s1", FAILS, f"delete {LOG}")),
        (*UNDOES[:2], ("s1", CALL, f"delete {LOG}"), UNDOES[3]),
    ],
    ids=["no stall", "a clean that began later", "no delete", "another file", "a failed delete", "deleted before"],
)
def test_no_finding_explains_another_loss_of_rows(steps: tuple[tuple[str, str, str], ...]) -> None:
    assert lost(*steps) == ""


def test_a_seed_draws_one_cast() -> None:
    drawn = [draw_cast(Random(seed).randrange) for seed in range(200)]
    assert drawn == [draw_cast(Random(seed).randrange) for seed in range(200)]
    assert all(len(cast.actors) > 1 and cast.writers for cast, _ in drawn)


def test_a_reader_sees_the_highest_ordering_of_the_completed_writes() -> None:
    cast = Cast("upsert", "non-blocking", {"w1": writer("w1", 3), "w2": writer("w2", 2)})
    assert cast.rows(set()) == {"a1": "x0", "a2": "y0"}
    assert cast.rows({"w2"}) == {"a1": "by w2", "a2": "y0", "b2": "of w2"}
    assert cast.rows({"w1", "w2"}) == {"a1": "by w1", "a2": "y0", "b1": "of w1", "b2": "of w2"}


@pytest.mark.parametrize(("mode", "missed"), [("optimistic", 1), ("non-blocking", 0)])
def test_a_commit_during_an_optimistic_write_is_a_conflict(mode: str, missed: int) -> None:
    cast = Cast("upsert", mode, {"w1": writer("w1", 2), "w2": writer("w2", 3)})
    overlapping = Played(cast, (), (), {}, {"w1": 3, "w2": 1}, {"w1": 9, "w2": 5})
    assert len([*missed_conflicts(overlapping)]) == missed
    assert not [*missed_conflicts(overlapping._replace(started={"w1": 6, "w2": 1}))]


def test_recorded_steps_of_an_actor_without_a_call_are_left_out() -> None:
    order = Ordered([Step("w1", CALL), Step("w2", CALL), Step("w1", CALL)])
    only_w1 = [Step("w1", CALL)]
    both = [*only_w1, Step("w2", CALL)]
    chosen = [order.next(no_choice, ready) for ready in (both, only_w1, both)]
    assert [step and step.actor for step in chosen] == ["w1", "w1", "w1"]


@pytest.mark.parametrize(
    ("file", "text", "taken"),
    [
        ("lock", "{}", True),
        (".locks/table_lock.json", '{"expired": false, "validUntil": 1, "owner": "w1"}', True),
        (".locks/table_lock.json", '{"expired": true, "validUntil": 1, "owner": "w1"}', False),
    ],
)
def test_a_lock_file_or_a_lease_is_taken(tmp_path: Path, file: str, text: str, taken: bool) -> None:
    assert not is_taken(tmp_path)
    lock = tmp_path / ".hoodie" / file
    lock.parent.mkdir(parents=True)
    lock.write_text(text)
    assert is_taken(tmp_path) == taken


WRONG = "w1 succeeded, and its write is not completed"


def test_a_history_is_shrunk_to_the_switches_and_the_fault_that_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The verdict needs s1 to make its second call while w1 stalls before its third one. Each actor makes six calls."""

    def repeated(_: object, cast: Cast, steps: tuple[Step, ...]) -> tuple[Played, str]:
        order, done, wrong = Ordered(steps), [], RIGHT
        left = dict.fromkeys(cast.actors, 6)
        while any(left.values()):
            step = order.next(no_choice, [Step(actor, CALL) for actor in left if left[actor]])
            assert step is not None
            done.append(step)
            left[step.actor] -= step.action == CALL
            if step == Step("s1", CALL) and left["s1"] == 4 and Step("w1", STALLS) in done and left["w1"] == 4:
                wrong = WRONG
        return Played(cast, tuple(done), ("",) * len(done), {}, {}, {}), wrong

    monkeypatch.setattr(soak, "again", repeated)
    cast = Cast("upsert", "non-blocking", {"w1": writer("w1", 2), "w2": writer("w2", 3), "s1": ("clean", {})})
    mixed = [Step(actor, CALL) for actor in ("w2", "w1", "s1", "w2", "w1", "w2")]
    begun, wrong = repeated(None, cast, (Step("w1", FAILS), *mixed, Step("w1", STALLS), *mixed[2::-1], mixed[2]))
    assert (wrong, soak.size(*begun[:2])[:2]) == (WRONG, (3, 2))
    found, same = soak.shrunk(None, begun, wrong)  # type: ignore[arg-type]
    assert same == wrong
    assert soak.size(*found[:2]) == (2, 1, 2, 13)


CALLS = {
    "w1": ("stat /", f"rename {TIMELINE}1.deltacommit.requested", "get /", f"rename {TIMELINE}1.deltacommit.inflight",
           f"put {LOG}", "list /", f"rename {TIMELINE}1_4.deltacommit", "delete /"),
    "c1": ("list /", f"rename {TIMELINE}2.compaction.requested", f"rename {TIMELINE}2.compaction.inflight",
           "put /p/group_2.parquet", f"rename {TIMELINE}2_3.commit"),
}  # fmt: skip
"""The calls of a write and a compaction: those that stand for steps of the model, and others."""


def toured(*steps: tuple[str, str]) -> tuple[list[str], list[str]]:
    """Return the calls that stand for steps, and the missed steps, in a tour of these steps."""
    schedule = Toured([Step(*step) for step in steps], {"w1": "upsert", "c1": "compaction"})
    left = {actor: [*calls] for actor, calls in CALLS.items()}
    taken = []
    while any(left.values()):
        enabled = [Step(actor, CALL, (("call", calls[0]),)) for actor, calls in left.items() if calls]
        step = schedule.next(no_choice, enabled)
        assert step is not None
        taken.append(left[step.actor].pop(0))
    return [call.rpartition("/")[2] for call in taken if len(call) > 8], [step.action for step in schedule.missed]


def test_a_tour_takes_steps_of_the_model_by_the_calls_that_stand_for_them() -> None:
    begins = ("w1", "writer_requests_instant"), ("c1", "compactor_schedules_plan"), ("c1", "compactor_starts_plan")
    ends = ("c1", "compactor_takes_lock"), ("c1", "compactor_publishes_instant"), ("w1", "writer_publishes_instant")
    works = ("w1", "writer_starts_writing"), ("c1", "compactor_writes_base"), ("w1", "writer_writes_log")
    calls, missed = toured(*begins, *works, *ends)
    assert missed == []
    assert calls == [
        "1.deltacommit.requested", "2.compaction.requested", "2.compaction.inflight", "1.deltacommit.inflight",
        "group_2.parquet", ".group_1.log.1_0-1-1", "2_3.commit", "1_4.deltacommit",
    ]  # fmt: skip
    assert toured(begins[0], works[2])[1] == ["writer_writes_log"]


class LockOfTheSecond:
    """Stands in for Hudi's process: w1 waits for a lock that w2 holds at its first call and releases after it."""

    def __init__(self) -> None:
        self.left = {"w1": ["put a"], "w2": ["put b", "put c"]}
        self.held = True

    def ask(self, step: str, path: str, actor: str, **_: object) -> dict[str, str]:
        if step != "next" or (actor == "w1" and self.held):
            return {}
        calls = self.left[actor]
        self.held &= actor != "w2" or len(calls) == 2
        return {"call": calls.pop(0)} if calls else {"value": ""}


def test_an_actor_goes_on_that_waits_for_a_lock_which_another_step_releases(tmp_path: Path) -> None:
    """w1 is asked before w2, whose step is still on its way then."""
    tables: Any = SimpleNamespace(hudi=LockOfTheSecond())
    cast = Cast("upsert", "optimistic", {"w1": writer("w1", 2), "w2": writer("w2", 3)})
    first = play(tables, tmp_path, cast, Ordered([Step("w2", CALL), Step("w1", CALL)]))
    assert [step.actor for step in first.steps] == ["w2", "w1", "w2"]
