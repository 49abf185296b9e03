"""Changes that a careless author could make in a relation, in the model or in a claim: the comparison sees each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from nbcc.simulator.mutants import Mutant, applied
from nbcc.simulator.prove.bridge import compare
from nbcc.simulator.prove.claims import judge
from nbcc.simulator.prove.lemmas import Lemmas, cleaning, core, heartbeats, log_compaction, optimistic, ranks, replaces
from nbcc.simulator.prove.lemmas.services import SERVICE
from nbcc.simulator.prove.lemmas.state import (
    ANSWERED,
    GROUP,
    LOG,
    PLAN,
    READER,
    WRITE,
    any_time,
    complete,
    has_base,
    published,
)
from nbcc.simulator.prove.logic import Term, both, either, implies, no
from nbcc.simulator.prove.system import Claim, System
from nbcc.simulator.prove.worlds import MOST, elements_of, models
from tests.search.relations import BY_NAME, LEMMAS_OF, OF_FILE, difference


class OnePlanOfTheTable(core.Core):
    def new_part(self, s: Any, g: Term) -> Term:
        return both(super().new_part(s, g), s.every(PLAN, lambda q: implies(s.planned(q), s.done(q))))


class OneCompactionOfAGroup(ranks.Ranks):
    def new_part(self, s: Any, g: Term) -> Term:
        return both(super().new_part(s, g), no(has_base(s, g)))


class NoPlanBesideARollback(heartbeats.Heartbeats):
    def may_schedule(self, s: Any, c: Term, p: Term) -> Term:
        return both(super().may_schedule(s, c, p), s.every(SERVICE, lambda a: s.service_work(a) == 0))


class PlansWaitForAllGroups(log_compaction.LogCompaction):
    def new_part(self, s: Any, g: Term) -> Term:
        return both(super().new_part(s, g), s.every(GROUP, lambda h: self.is_idle(s, h)))


class ReplacesWaitForAllGroups(replaces.Replaces):
    def may_replace(self, s: Any, c: Term, p: Term) -> Term:
        return both(super().may_replace(s, c, p), s.every(PLAN, lambda q: implies(s.planned(q), s.done(q))))


class OnlyPlansOfTheDead(core.Core):
    def may_resume(self, s: Any, c: Term, p: Term) -> Term:
        return both(super().may_resume(s, c, p), s.dead_compactor(s.runner(p)))


class BarrierOff(core.Core):
    def takes(self, s: Any, log: Term) -> Term:
        return both(super().takes(s, log), s.completed(s.write_of(log)) < s.clock())


class CleansTheBaseOfTheHorizon(cleaning.Cleaning):
    def is_older(self, s: Any, g: Term, h: Term, time: Term) -> Term:
        return s.some(PLAN, lambda q: both(self.counts(s, q, g, h), time <= s.barrier(q)))


class ConflictsInAllGroups(optimistic.Optimistic):
    def conflicts(self, s: Any, w: Term) -> Term:
        """A conflict needs a write of every file group of the writer."""
        return both(super().conflicts(s, w), s.every(LOG, lambda a: implies(s.write_of(a) == w, s.some(
            LOG, lambda b: both(s.group_of(a) == s.group_of(b), s.write_of(b) != w, published(s, s.write_of(b)))))))


def guarded(name: str, action: str, guard: Any) -> System:
    """The relation in which one action has another guard besides its own."""
    system = BY_NAME[name]
    assert action in {each.name for each in system.actions}
    return replace(system, actions=tuple(a.extend(guard) if a.name == action else a for a in system.actions))


def of(relation: type[core.Core], name: str) -> System:
    return relation(LEMMAS_OF[name].options(any_plan=False)).system()


RELATIONS = {
    "one pending plan of the table": ("core", lambda: of(OnePlanOfTheTable, "core")),
    "a reader begins only while no writer is dead": ("core", lambda: guarded(
        "core", "reader starts listing", lambda s, d: s.every(WRITE, lambda w: no(s.dead_writer(w))))),
    "only plans of dead compactors are resumed": ("core", lambda: of(OnlyPlansOfTheDead, "core")),
    "a plan takes logs up to the time before its barrier": ("core", lambda: of(BarrierOff, "core")),
    "one compaction of a group": ("ranks", lambda: of(OneCompactionOfAGroup, "ranks")),
    "no plan beside a rollback": ("heartbeats", lambda: of(NoPlanBesideARollback, "heartbeats")),
    "files are deleted while no reader reads": ("cleaning", lambda: guarded(
        "cleaning", "cleaner deletes files", lambda s, *_: s.every(
            READER, lambda d: either(s.reading(d) == 0, s.reading(d) >= ANSWERED)))),
    "a clean deletes the base file of its horizon": ("cleaning", lambda: of(CleansTheBaseOfTheHorizon, "cleaning")),
    "a plan waits for the log compactions of all groups": (
        "log_compaction", lambda: of(PlansWaitForAllGroups, "log_compaction")),
    "a replace waits for the plans of all groups": ("replaces", lambda: of(ReplacesWaitForAllGroups, "replaces")),
    "readers wait for the archiver": ("archiving", lambda: guarded(
        "archiving", "reader looks into archive", lambda s, *_: s.every(
            WRITE, lambda w: implies(s.archived(w), s.removed(w))))),
    "a conflict needs all file groups": ("optimistic", lambda: of(ConflictsInAllGroups, "optimistic")),
}  # fmt: skip


@pytest.mark.parametrize("mutant", RELATIONS)
def test_a_relation_that_is_too_narrow_differs_from_the_model(mutant: str) -> None:
    name, changed = RELATIONS[mutant]
    assert difference(name, changed()) is not None


def model_mutant(name: str, place: str, expression: str) -> Mutant:
    return Mutant(name=name, about="", source="", breaks="", target="model", detector="search",
                  replace=f"nbcc.model.{place}", with_=expression)  # fmt: skip


MODELS = {
    "pending plans are looked for in group 0": ("kernel.planning:may_plan", "lambda table, group: original(table, 0)"),
    "a base file is written once a group": (
        "kernel.planning:may_plan",
        "lambda table, group: not any(plan.part_in(group) for plan in table.plans)",
    ),
}


@pytest.mark.parametrize("mutant", MODELS)
def test_a_changed_model_differs_from_its_relation(mutant: str) -> None:
    with applied(model_mutant(mutant, *MODELS[mutant])):
        assert difference_of_model("core") is not None


def difference_of_model(name: str) -> str | None:
    system = BY_NAME[name]
    seen = (compare(model, system, MOST, elements_of(model, system)) for model in models(name, OF_FILE[name]))
    return next((each.difference for each in seen if each.difference), None)


class ReadsMayMiss(core.Core):
    """A read contains only completed logs, and may miss some."""

    def claims(self) -> tuple[Claim, ...]:
        return (Claim("SNAP", "", self.snap),)

    def snap(self, s: Any) -> Term:
        t = any_time(s)
        return s.every(PLAN, LOG, lambda q, log: implies(
            both(self.readable(s, q, s.group_of(log), t), self.snapshot_on(s, q, log, t)),
            complete(s, s.write_of(log), t)))  # fmt: skip


class Snapshots(core.Core):
    """The relation with one claim."""

    def claims(self) -> tuple[Claim, ...]:
        return tuple(claim for claim in super().claims() if claim.promise == "SNAP")


def file_of(relation: type[core.Core]) -> Lemmas:
    return replace(LEMMAS_OF["core"], relation=relation)


def test_a_claim_that_says_less_than_its_promise_is_seen() -> None:
    assert judge(file_of(Snapshots))["SNAP"].weaker == {}
    assert judge(file_of(ReadsMayMiss))["SNAP"].weaker


def test_a_read_of_the_model_that_drops_newer_slices_breaks_the_promise_and_no_claim() -> None:
    drops = "lambda rules, table, group, time: (original(rules, table, group, time)[0], ())"
    with applied(model_mutant("drops newer slices", "kernel.reads:base_and_writes", drops)):
        assert "" in judge(file_of(Snapshots))["SNAP"].weaker
