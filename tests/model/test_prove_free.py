"""The proof of commits without a lock: each weaker rule fails an obligation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from nbcc.simulator.search.prove.lemmas import entries, free_clauses
from nbcc.simulator.search.prove.lemmas.entries import COMMITS, LEARNS, LEARNT, LISTED, WRITES
from nbcc.simulator.search.prove.lemmas.free_commits import FreeCommits, FreeOptions
from nbcc.simulator.search.prove.lemmas.state import WRITING
from nbcc.simulator.search.prove.logic import Term, at, both, choose, either, implies, no
from nbcc.simulator.search.prove.obligations import Obligation, discharge, obligations
from nbcc.simulator.search.prove.system import Move, NewTimes, ProvedSystem
from tests.builders.free_cuts import FreeCuts

SYSTEM = FreeCommits(FreeOptions()).system()


def changed(name: str, **parts: Any) -> ProvedSystem:
    assert name in {action.name for action in SYSTEM.actions}
    return replace(SYSTEM, actions=tuple(replace(a, **parts) if a.name == name else a for a in SYSTEM.actions))


def with_barrier(time: Callable[[Any], Term]) -> ProvedSystem:
    """The relation in which a plan has another barrier than the time that its last entry reserves."""
    schedules = next(each for each in SYSTEM.actions if each.name == "compactor schedules plan")
    changes = schedules.extend(None, lambda s, c, p: {"barrier": at(s.barrier, p, to=time(s))})
    return changed(schedules.name, updates=changes.updates)


class ListsBeforeItLearns(FreeCommits):
    """An author that has listed may learn the tail without listing again."""

    def authors(self) -> tuple[Move, ...]:
        learns, *others = super().authors()
        return (
            *others,
            replace(
                learns, guard=lambda s, a: either(s.deciding(a) == LEARNS, s.deciding(a) == LISTED),
                updates=lambda s, a: {
                    **self.learns(s, a), "deciding": at(s.deciding, a, to=choose(
                        s.deciding(a) == LISTED, LISTED, LEARNT))}),
        )  # fmt: skip


class DecidesItsOwnWrite(FreeCommits):
    """Of all listed writes, an entry decides that of its author only."""

    def put(self, s: Any, a: Term, times: NewTimes) -> Any:
        def mine(w: Term) -> Term:
            return both(WRITES.lists(s, a, w), s.writes_as(w) == a)

        return super().put(s, a, times) | {
            "entry_of_write": lambda w: choose(mine(w), s.tail() + 1, s.entry_of_write(w)),
            "phase": lambda w: choose(mine(w), entries.DECIDED, s.phase(w)),
        }


class ListsDecidedWrites(FreeCommits):
    """A listing leaves out nothing that is on the timeline."""

    def listing(self) -> tuple[Move, ...]:
        starts, ends = super().listing()
        return (
            starts.extend(None, lambda s, a: {
                "lists_write": lambda b, w: choose(b == a, WRITES.announced(s, w), s.lists_write(b, w))}),
            ends,
        )  # fmt: skip


class PublishesInAnyOrder(FreeCommits):
    def is_next(self, s: Any, kind: Any, x: Term) -> Term:
        return True


class PutsTakenNumbers(FreeCommits):
    """An author puts the entry after the one that it knows, whether or not another author has."""

    def may_put(self, s: Any, a: Term, times: NewTimes) -> Term:
        return both(s.deciding(a) == LISTED, self.gives_times(s, a, times))


class TimesBeforeRequests(FreeCommits):
    """A completion time may be earlier than the requested time."""

    def gives_times(self, s: Any, a: Term, times: NewTimes) -> Term:
        given = tuple(zip(COMMITS, times.of, strict=True))
        return both(times.last > s.reserved(), entries.is_odd(times.last), *(
            s.every(kind.sort, lambda x, kind=kind, time=time: implies(kind.lists(s, a, x), both(
                entries.is_odd(time(x)), s.reserved() < time(x), time(x) < times.last))) for kind, time in given))


class ReservesNoTime(FreeCommits):
    """The time that an entry reserves may be earlier than its commits."""

    def gives_times(self, s: Any, a: Term, times: NewTimes) -> Term:
        return super().gives_times(s, a, NewTimes(times.of, times.last + 8))


WEAKER: dict[str, tuple[Callable[[], ProvedSystem], str, str]] = {
    "lists before it learns the tail": (
        lambda: ListsBeforeItLearns(FreeOptions()).system(), "author learns tail",
        "an announcement is in the listings of all authors that have learnt a later tail"),
    "decides its own write only": (
        lambda: DecidesItsOwnWrite(FreeOptions()).system(), "author puts entry",
        "after two failures an announcement is decided"),
    "lists what is decided": (
        lambda: ListsDecidedWrites(FreeOptions()).system(), "author starts listing announcements",
        "an author lists announcements that no entry which it knows decides"),
    "publishes in any order": (
        lambda: PublishesInAnyOrder(FreeOptions()).system(), "author publishes write",
        "commits are published in the order of their times"),
    "lists before the last entry is published": (
        lambda: changed("author starts listing announcements", guard=lambda s, a: s.deciding(a) == LEARNT),
        "author starts listing announcements",
        "an author that lists has found the entries that it knows published"),
    "puts an entry under a number that is taken": (
        lambda: PutsTakenNumbers(FreeOptions()).system(), "author puts entry",
        "everything that an entry before the last one decides is published"),
    "completes a write before its request": (
        lambda: TimesBeforeRequests(FreeOptions()).system(), "author puts entry",
        "a completion time is between the requested time and the time that its entry reserves"),
    "reserves a time that is not later": (
        lambda: ReservesNoTime(FreeOptions()).system(), "author puts entry",
        "a completion time is between the requested time and the time that its entry reserves"),
    "announces before all logs are stored": (
        lambda: changed("writer announces", guard=lambda s, w: s.phase(w) == WRITING), "writer announces",
        "a write past its data phase has all its logs"),
    "takes the barrier of a later entry": (
        lambda: with_barrier(lambda s: s.reserved()), "compactor schedules plan",
        "what completed before a barrier is published"),
    "plans before the last entry is published": (
        lambda: changed("compactor schedules plan", guard=lambda s, c, p: both(
            s.work(c) == 0, s.deciding(s.compacts_as(c)) == LEARNT, no(s.offered(p)))),
        "compactor schedules plan", "what completed before a barrier is published"),
    "takes a barrier from the clock of the compactor": (
        lambda: with_barrier(lambda s: s.reserved() + 2), "compactor schedules plan",
        "what completed before a barrier is published"),
    "requests a time that another write has": (
        lambda: changed("writer requests instant", guard=lambda s, w, t: both(
            t > 0, entries.is_even(t), s.phase(w) == 0)),
        "writer requests instant", "requested times are distinct"),
    "requests a time that only entries give": (
        lambda: changed("writer requests instant", guard=lambda s, w, t: both(t > 0, s.phase(w) == 0)),
        "writer requests instant", "clocks return even times, and entries give odd ones"),
}  # fmt: skip
"""Weaker rule -> the relation, and an action and a clause of the invariant that it then does not preserve."""


class TrustsEachEntry(FreeCuts):
    """An author does not read the boundary after it has created an entry."""

    def trusts(self, s: Any, a: Term) -> Term:
        return True


class DeletesFirst(FreeCuts):
    """Entries are deleted before the boundary advances."""

    def may_delete(self, s: Any, n: Term) -> Term:
        return both(s.cut() < n, n < s.tail())


def preserved(system: ProvedSystem, action: str, clause: str) -> Obligation:
    return next(each for each in obligations(system) if (each.kind, each.action, each.clause) == (
        "preserved", action, clause))  # fmt: skip


@pytest.mark.parametrize("rule", WEAKER)
def test_a_weaker_rule_fails_an_obligation(rule: str) -> None:
    system, action, clause = WEAKER[rule]
    assert discharge(preserved(system(), action, clause)).answer == "FAILED"


def test_a_cut_without_its_check_lets_an_author_publish_a_void_entry() -> None:
    for relation, answer in ((FreeCuts, "PROVED"), (TrustsEachEntry, "FAILED")):
        every = obligations(relation(FreeOptions()).system())
        *_, trusting = (each for each in every if (each.kind, each.clause, each.action) == (
            "implied", "ACK", "author finds its entry above the boundary"))  # fmt: skip
        assert discharge(trusting).answer == answer


def test_a_cut_that_deletes_first_fails_an_obligation() -> None:
    clause = "nothing above the boundary is deleted, and the last entry is above it"
    for relation, answer in ((FreeCuts, "PROVED"), (DeletesFirst, "FAILED")):
        deletes = preserved(relation(FreeOptions()).system(), "cutter deletes entries", clause)
        assert discharge(deletes).answer == answer


@pytest.mark.nightly
@pytest.mark.parametrize("relation", [FreeCommits, FreeCuts])
def test_every_obligation_is_proved(relation: type[FreeCommits]) -> None:
    results = [discharge(each) for each in obligations(relation(FreeOptions()).system())]
    assert [result.obligation.name for result in results if result.answer != "PROVED"] == []
    assert len(results) > 1000


@pytest.mark.parametrize("clause", [
    "an announcement is in the listings of all authors that have learnt a later tail",
    "after two failures an announcement is decided",
    "what completed before a barrier is published",
])  # fmt: skip
def test_a_clause_of_the_argument_is_proved_over_every_action(clause: str) -> None:
    results = [discharge(each) for each in obligations(SYSTEM) if each.clause == clause]
    assert [result.obligation.name for result in results if result.answer != "PROVED"] == []
    assert len(results) > len(SYSTEM.actions)


def test_one_failure_is_not_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(free_clauses, "MOST_FAILURES", 1)
    clause = "after two failures an announcement is decided"
    assert discharge(preserved(SYSTEM, "author finds its number taken", clause)).answer == "FAILED"
