"""Proofs for any number of actors: every obligation of the default holds, and each weaker option fails one."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nbcc.simulator import specs
from nbcc.simulator.cli.main import run
from nbcc.simulator.search.mutants import applied, load
from nbcc.simulator.search.prove import evidence
from nbcc.simulator.search.prove.evidence import missing, stale
from nbcc.simulator.search.prove.lemmas import LEMMAS, Lemmas, core, replaces
from nbcc.simulator.search.prove.lemmas.state import GROUP, IDLE, PLAN, READY, has_base
from nbcc.simulator.search.prove.logic import Term, at, both, implies, no
from nbcc.simulator.search.prove.obligations import Obligation, ObligationResult, discharge, obligations
from nbcc.simulator.search.prove.proof import LemmaVerdict, Proof
from nbcc.simulator.search.prove.proof import prove as prove_all
from nbcc.simulator.search.prove.reachable import search
from nbcc.simulator.search.prove.system import Move, ProvedSystem
from nbcc.simulator.search.prove.words import facts
from nbcc.simulator.search.verdicts.search_bounds import pins
from nbcc.simulator.view.proof import picture

BY_NAME = {lemmas.name: lemmas for lemmas in LEMMAS}
PROVABLE = {claim.promise for lemmas in LEMMAS for claim in lemmas.system().claims}
CORE, RANKS = BY_NAME["core"], BY_NAME["ranks"]
WEAKER = [
    (CORE, "slicing", "requested", {"SNAP", "PART"}),
    (CORE, "completion_time", "outside_lock", {"TRAVEL", "INCR", "MONO"}),
    (CORE, "plan_takes", "any_log", set()),
    (CORE, "listing", "once", set()),
    (CORE, "read_time", "clock", set()),
    (CORE, "visibility", "any", {"ATOM", "TRAVEL"}),
    (CORE, "as_of_axis", "requested", {"TRAVEL"}),
    (CORE, "incremental_axis", "requested", {"INCR"}),
    (RANKS, "merge_order", "requested", {"QUIET", "SNAP", "INCR"}),
    (RANKS, "tombstones", "drop", set()),
    (BY_NAME["commit_time"], "merge_order", "requested", {"QUIET", "SNAP", "INCR"}),
    (BY_NAME["batches"], "batch_ids", "at_request", set()),
    (BY_NAME["batches"], "batch_ids", "ignored", set()),
    (BY_NAME["heartbeats"], "failed_writes", "eager", set()),
    (BY_NAME["heartbeats"], "rollback_check", "before_lock", set()),
    (BY_NAME["heartbeats"], "commit_check", "before_lock", set()),
    (BY_NAME["heartbeats"], "commit_check", "none", set()),
    (BY_NAME["optimistic"], "conflict_check", "before_lock", set()),
    (BY_NAME["optimistic"], "conflict_window", "requested", set()),
    (BY_NAME["cleaning"], "retention", "barrier", set()),
    (BY_NAME["cleaning"], "retention", "any_barrier", set()),
    (BY_NAME["cleaning"], "horizon", "after_delete", set()),
    (BY_NAME["archiving"], "archive_bound", "none", set()),
    (BY_NAME["archiving"], "archive_lookup", "never", set()),
    (BY_NAME["archiving"], "archive_lookup", "before_listing", set()),
    (BY_NAME["decisions"], "claims", "none", set()),
    (BY_NAME["free_commits"], "as_of_axis", "requested", {"TRAVEL"}),
    (BY_NAME["free_rollbacks"], "as_of_axis", "requested", {"TRAVEL"}),
    (BY_NAME["log_compaction"], "log_compaction_rank", "own", {"SNAP", "INCR"}),
    (BY_NAME["log_compaction"], "log_compaction_window", "included", {"INCR"}),
    (BY_NAME["replaces"], "replacing", "file_ids", {"SNAP", "PART"}),
    (BY_NAME["resizes"], "mapping_check", "at_open", set()),
    (BY_NAME["resizes_rolled_back"], "mapping_check", "at_open", set()),
    (BY_NAME["resizes_cleaned"], "mapping_check", "at_open", set()),
]
"""An option value of the model, and the promises that the clauses then no longer imply.

An empty set: a clause of the invariant is not preserved, and nothing follows from it.
"""


def failures(lemmas: Lemmas, promises: set[str], **options: str) -> list[Obligation]:
    """The promises that the clauses do not imply; without promises the first clause that fails, new clauses first."""
    every = [*obligations(lemmas.system(**options))]
    if promises:
        asked = [each for each in every if each.kind == "implied" and each.clause in promises]
        return [each for each in asked if discharge(each).answer == "FAILED"]
    of_the_core = CORE.system().clauses.keys()
    every.sort(key=lambda each: (each.kind != "preserved", each.clause in of_the_core and lemmas is not CORE))
    return [next(each for each in every if discharge(each).answer == "FAILED")]


def test_every_obligation_of_the_core_is_proved() -> None:
    results = [discharge(each) for each in obligations(CORE.system())]
    assert [result.obligation.name for result in results if result.answer != "PROVED"] == []
    assert len(results) > 500


@pytest.mark.parametrize("lemmas", LEMMAS[1:], ids=lambda lemmas: lemmas.name)
def test_what_a_mechanism_adds_is_proved(lemmas: Lemmas) -> None:
    """The clauses that it adds to those of the core, over every action."""
    added = lemmas.system().clauses.keys() - CORE.system().clauses.keys()
    results = [discharge(each) for each in obligations(lemmas.system()) if each.clause in added]
    assert [result.obligation.name for result in results if result.answer != "PROVED"] == []
    assert len(results) > 20


@pytest.mark.nightly
@pytest.mark.parametrize("lemmas", LEMMAS[1:], ids=lambda lemmas: lemmas.name)
def test_every_obligation_of_a_mechanism_is_proved(lemmas: Lemmas) -> None:
    results = [discharge(each) for each in obligations(lemmas.system())]
    assert [result.obligation.name for result in results if result.answer != "PROVED"] == []


FIRST_OF_EACH = [next(row for row in WEAKER if row[0] is lemmas) for lemmas in LEMMAS
                 if lemmas.name != "resizes_by_range"]  # fmt: skip
"""By day one option of each file of lemmas that describes a weaker one."""


@pytest.mark.parametrize(
    ("lemmas", "option", "value", "promises"),
    [pytest.param(*row, marks=() if row in FIRST_OF_EACH else pytest.mark.nightly) for row in WEAKER],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_a_weaker_option_fails_an_obligation(lemmas: Lemmas, option: str, value: str, promises: set[str]) -> None:
    failed = failures(lemmas, promises, **{option: value})
    assert failed
    assert promises <= {each.clause for each in failed}


def weakened(system: ProvedSystem, name: str) -> ProvedSystem:
    """The system with one action that is always possible."""

    def unguarded(action: Move) -> Move:
        return replace(action, guard=lambda s, *_: s.clock() >= 0)

    return replace(system, actions=tuple(unguarded(a) if a.name == name else a for a in system.actions))


GUARDED = [
    "writer requests instant",
    "writer takes completion time",
    "compactor schedules plan",
    "reader ends listing again",
]


@pytest.mark.parametrize("name", GUARDED)
def test_an_action_without_its_guard_fails_an_obligation(name: str) -> None:
    of_it = [each for each in obligations(weakened(CORE.system(), name)) if each.action == name]
    failed = [each for each in of_it if each.kind == "preserved" and discharge(each).answer == "FAILED"]
    assert failed


class BoundaryOff(core.Core):
    """A plan takes logs from the second time after the last barrier on."""

    def takes(self, s: Any, log: Term) -> Term:
        late = s.completed(s.write_of(log)) >= s.barrier(s.newest(s.group_of(log))) + 2
        return both(super().takes(s, log), implies(has_base(s, s.group_of(log)), late))


class PlansWithoutLock(core.Core):
    """A plan is scheduled whether the lock is free or not."""

    def may_schedule(self, s: Any, c: Term, p: Term) -> Term:
        return both(
            s.work(c) == IDLE, no(s.dead_compactor(c)), no(s.planned(p)),
            s.every(PLAN, lambda q: implies(s.plan_before(q, p), s.planned(q))),
            s.some(GROUP, lambda g: self.new_part(s, g)),
        )  # fmt: skip


def changed(name: str, **parts: Any) -> ProvedSystem:
    system = CORE.system()
    assert name in {action.name for action in system.actions}
    return replace(system, actions=tuple(replace(a, **parts) if a.name == name else a for a in system.actions))


SKETCHED = {
    "a completion time is not new": lambda: changed(
        "writer takes completion time",
        updates=lambda s, w: {"completed": at(s.completed, w, to=s.clock()), "phase": at(s.phase, w, to=READY)},
    ),
    "the lock of a live writer expires": lambda: changed(
        "lock of a dead writer expires", guard=lambda s, w: s.writer_locks(w)
    ),
    "a plan misses logs after the barrier": lambda: BoundaryOff(CORE.options()).system(),
    "a plan is scheduled without the lock": lambda: PlansWithoutLock(CORE.options()).system(),
}
"""Weaker protocols that no option of the model describes."""


@pytest.mark.parametrize("name", SKETCHED)
def test_a_weaker_protocol_fails_an_obligation(name: str) -> None:
    preserved = (each for each in obligations(SKETCHED[name]()) if each.kind == "preserved")
    assert any(discharge(each).answer == "FAILED" for each in preserved)


def test_a_counterexample_is_printed_in_words_and_drawn() -> None:
    system = CORE.system(slicing="requested")
    failed = discharge(next(each for each in obligations(system) if each.clause == "SNAP"))
    lines = list(facts(system, failed))
    write = next(line for line in lines if re.match(r"write \d+: published", line))
    assert not any("val!" in line for line in lines)
    drawn = picture(system, failed)
    assert write.split(":")[0] in drawn
    assert "barrier t" in drawn
    time = write.split("requested ")[1].split(",")[0]
    assert f">t{time}<" in drawn


def test_a_protocol_that_the_relation_does_not_describe_is_undetermined() -> None:
    system, reason = CORE.under(
        {**{name: values[0] for name, values in CORE.described().items()}, "slicing": "temporal"}
    )
    assert system is None
    assert LemmaVerdict(CORE, reason=reason).promises["SNAP"] == "UNDETERMINED"
    assert LemmaVerdict(CORE, reason=reason, wanted=frozenset({"SNAP"})).promises == {"SNAP": "UNDETERMINED"}
    assert "slicing = temporal" in reason


@pytest.mark.nightly
@pytest.mark.parametrize("name", [name for name, known in pins().items() if known["violated"]])
def test_no_violated_promise_is_proved(name: str) -> None:
    """A protocol that the relation describes fails an obligation; of any other nothing is proved."""
    broken = [promise for promise in pins()[name]["violated"] if promise in PROVABLE]
    proof = prove_all(name, specs.protocol(name), broken)
    assert {promise for promise in broken if proof.promises[promise].answer == "PROVED"} == set()
    if broken and any(not part.reason for part in proof.parts):
        assert proof.answer == "FAILED"


def test_a_failed_obligation_is_followed_by_a_run_of_the_model(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    drawn = tmp_path / "counterexample.svg"
    assert run(["prove", "--protocol", "commit-checked-early", "--promise", "REC", "--svg", str(drawn)]) == 1
    assert "This step fails next: writer takes completion time" in drawn.read_text("utf-8")
    printed = capsys.readouterr().out
    assert "step: writer takes completion time (write 1)" in printed
    assert "a reachable run breaks REC in 9 steps" in printed
    assert "nbcc explore failed_writer --protocol commit-checked-early --promise REC" in printed


def test_an_invariant_that_is_too_weak_says_so() -> None:
    assert search(("demo",), specs.protocol("default"), ("SNAP",)) == ()


def test_the_command_proves_a_promise(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["prove", "--promise", "FIRST", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["promises"] == {
        "FIRST": {"verdict": "PROVED", "lemmas": {"optimistic": "PROVED"}, "missing": []}
    }, "no other promise was asked for"
    assert run(["prove", "--promise", "NOSUCH"]) == 2


def test_a_claim_that_leaves_something_out_is_proved_in_part(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["prove", "--promise", "REC"]) == 3, "neither a failure nor PROVED"
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["PROVED IN PART  REC       heartbeats, resizes_rolled_back", "  missing: restores"]


def test_a_claim_that_was_never_compared_with_its_promise_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    optimistic = BY_NAME["optimistic"]
    assert missing([optimistic], "FIRST") == ()
    seen = {"optimistic": {"FIRST": {"steps": 9, "broken": 1, "weaker": {}}}}
    for without, why in (
        ({}, "never compared"),
        ({"optimistic": {"FIRST": {**seen["optimistic"]["FIRST"], "broken": 0}}}, "shows little"),
        ({"optimistic": {"FIRST": {**seen["optimistic"]["FIRST"], "weaker": {"x = y": 1}}}}, "under x = y"),
    ):
        monkeypatch.setattr(evidence, "compared", lambda without=without: without)
        assert any(why in gap for gap in missing([optimistic], "FIRST"))
    monkeypatch.setattr(evidence, "compared", lambda: seen)
    assert missing([optimistic], "FIRST") == ()


def test_a_relation_or_a_model_that_changed_since_the_comparison_is_not_proved() -> None:
    """The cheapest file. Its promise MONO is PROVED as long as both sides are those that were compared."""
    of_replaces = BY_NAME["replaces"]
    assert stale(of_replaces) == ()
    [changed] = stale(replace(of_replaces, relation=OneReplace))
    assert "the relation has changed" in changed
    with applied(load("compactor-never-plans")):
        [changed] = stale(of_replaces)
    assert "the model has changed" in changed
    system = of_replaces.system()
    result = ObligationResult(next(each for each in obligations(system) if each.clause == "MONO"), "PROVED", 0.0)
    result = replace(result, obligation=replace(result.obligation, kind="implied"))
    assert LemmaVerdict(of_replaces, (result,), system=system).promises == {"MONO": "PROVED"}
    part = LemmaVerdict(of_replaces, (result,), system=system, stale=(changed,))
    assert part.promises == {"MONO": "PROVED IN PART"}
    assert Proof("default", (part,)).promises["MONO"].missing == (changed,)


class OneReplace(replaces.Replaces):
    """One overwriter at most."""

    def may_replace(self, s: Any, c: Term, p: Term) -> Term:
        return both(super().may_replace(s, c, p), s.every(PLAN, lambda q: no(s.replaces(q))))


@pytest.mark.nightly
def test_the_command_refutes_a_promise(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["prove", "--promise", "PART", "--protocol", "requested-time-slicing"]) == 1
    assert "FAILED          PART" in capsys.readouterr().out


def test_every_obligation_has_a_name_of_its_own() -> None:
    names = [each.name for each in obligations(CORE.system())]
    assert len(names) == len(set(names))
