"""Changes that a careless author could make in a relation or in the model: the comparison sees each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from nbcc.simulator.search.mutants import applied, load
from nbcc.simulator.search.prove.lemmas import (
    cleaning,
    core,
    free_rollbacks,
    heartbeats,
    log_compaction,
    optimistic,
    ranks,
    replaces,
    resize_services,
    resizes,
)
from nbcc.simulator.search.prove.lemmas.entries import ANNOUNCED, AUTHOR, LISTS
from nbcc.simulator.search.prove.lemmas.services import OPERATION, SERVICE
from nbcc.simulator.search.prove.lemmas.state import (
    ANSWERED,
    GROUP,
    LOG,
    PLAN,
    READER,
    READY,
    WRITE,
    has_base,
    published,
)
from nbcc.simulator.search.prove.logic import Term, Update, both, choose, either, implies, no
from nbcc.simulator.search.prove.system import Move, NewTimes, ProvedSystem
from nbcc.simulator.search.prove.worlds import SMALL
from tests.search.relations import BY_NAME, LEMMAS_OF, difference, model_mutant


class OnePlanOfTheTable(core.Core):
    def new_part(self, s: Any, g: Term) -> Term:
        return both(super().new_part(s, g), s.every(PLAN, lambda q: implies(s.planned(q), s.done(q))))


class OneCompactionOfAGroup(ranks.Ranks):
    def new_part(self, s: Any, g: Term) -> Term:
        return both(super().new_part(s, g), no(has_base(s, g)))


class NoPlanDuringARollback(heartbeats.HeartbeatLemmas):
    def may_schedule(self, s: Any, c: Term, p: Term) -> Term:
        return both(super().may_schedule(s, c, p), s.every(SERVICE, lambda a: s.service_work(a) == 0))


class PlansWaitForAllGroups(log_compaction.LogCompactionLemmas):
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


class CleansTheBaseOfTheHorizon(cleaning.CleaningLemmas):
    def is_older(self, s: Any, g: Term, h: Term, time: Term) -> Term:
        return s.some(PLAN, lambda q: both(self.counts(s, q, g, h), time <= s.barrier(q)))


class ResizesTakeTheNewestSlice(resizes.ResizeLemmas):
    def in_completed_files(self, s: Any, log: Term) -> Term:
        return both(super().in_completed_files(s, log), self.takes(s, log))


class RetriesBeforeItIsRefused(resize_services.RolledBackResizes):
    """A writer whose heartbeat has expired puts its logs again, and is refused later."""

    def writers(self) -> tuple[Move, ...]:
        own = {each.name: each for each in resizes.ResizeLemmas.completing_writes(self)}
        return tuple(own[each.name] if each.name == "writer finds another mapping" else each
                     for each in super().writers())  # fmt: skip


class RollsBackWhatItLists(free_rollbacks.FreeRollbacks):
    """Of a write and its rollback, an entry decides the rollback."""

    def put(self, s: Any, a: Term, times: NewTimes) -> dict[str, Update]:
        def is_undone(w: Term) -> Term:
            return s.some(OPERATION, lambda o: both(s.undoes(o) == w, s.lists_rollback(a, o)))

        usual = super().put(s, a, times)
        return usual | {"entry_of_write": lambda w: choose(
            is_undone(w), s.entry_of_write(w), usual["entry_of_write"](w))}  # fmt: skip


class ConflictsInAllGroups(optimistic.Optimistic):
    def conflicts(self, s: Any, w: Term) -> Term:
        """A conflict needs a write of every file group of the writer."""
        return both(super().conflicts(s, w), s.every(LOG, lambda a: implies(s.write_of(a) == w, s.some(
            LOG, lambda b: both(s.group_of(a) == s.group_of(b), s.write_of(b) != w, published(s, s.write_of(b)))))))


def guarded(name: str, action: str, guard: Any) -> ProvedSystem:
    """The relation in which one action has another guard besides its own."""
    system = BY_NAME[name]
    assert action in {each.name for each in system.actions}
    return replace(system, actions=tuple(a.extend(guard) if a.name == action else a for a in system.actions))


def all_done(s: Any) -> Term:
    """No compaction is pending."""
    return s.every(PLAN, lambda q: implies(s.planned(q), s.done(q)))


def of(relation: type[core.Core], name: str) -> ProvedSystem:
    return relation(LEMMAS_OF[name].options(any_plan=False)).system()


RELATIONS: dict[str, tuple[str, int, Callable[[], ProvedSystem]]] = {
    "one pending plan of the table": ("core", 3, lambda: of(OnePlanOfTheTable, "core")),
    "a reader begins only while no writer is dead": ("core", 1, lambda: guarded(
        "core", "reader starts listing", lambda s, d: s.every(WRITE, lambda w: no(s.dead_writer(w))))),
    "only plans of dead compactors are resumed": ("core", 2, lambda: of(OnlyPlansOfTheDead, "core")),
    "a plan takes logs up to the time before its barrier": ("core", 0, lambda: of(BarrierOff, "core")),
    "one compaction of a group": ("ranks", 0, lambda: of(OneCompactionOfAGroup, "ranks")),
    "no compaction during a delete": ("commit_time", 1, lambda: guarded(
        "commit_time", "compactor schedules plan", lambda s, c, p: s.every(
            LOG, lambda log: implies(published(s, s.write_of(log)), no(s.deleted(log)))))),
    "a batch is skipped only without a write in progress": ("batches", 2, lambda: guarded(
        "batches", "writer skips batch", lambda s, w: s.every(
            WRITE, lambda v: either(s.phase(v) == 0, published(s, v))))),
    "no plan during a rollback": ("heartbeats", 2, lambda: of(NoPlanDuringARollback, "heartbeats")),
    "the heartbeat of a writer with the lock does not expire": ("heartbeats", 0, lambda: guarded(
        "heartbeats", "heartbeat expires", lambda s, w: no(s.writer_locks(w)))),
    "a rollback begins without a pending compaction": ("heartbeats", 2, lambda: guarded(
        "heartbeats", "rollbacker plans rollback", lambda s, a, o, w: all_done(s))),
    "a rollback deletes the newest log of a write first": ("heartbeats", 4, lambda: guarded(
        "heartbeats", "rollbacker deletes log", lambda s, a, log: s.every(
            LOG, lambda other: implies(s.put_before(log, other), s.erased(other))))),
    "files are deleted while no reader reads": ("cleaning", 5, lambda: guarded(
        "cleaning", "cleaner deletes files", lambda s, *_: s.every(
            READER, lambda d: either(s.reading(d) == 0, s.reading(d) >= ANSWERED)))),
    "a clean deletes the base file of its horizon": (
        "cleaning", 0, lambda: of(CleansTheBaseOfTheHorizon, "cleaning")),
    "a clean begins without a pending compaction": ("cleaning", 0, lambda: guarded(
        "cleaning", "cleaner schedules clean", lambda s, a, o, w: all_done(s))),
    "a plan waits for the log compactions of all groups": (
        "log_compaction", 1, lambda: of(PlansWaitForAllGroups, "log_compaction")),
    "no log compaction that began is resumed": ("log_compaction", 0, lambda: guarded(
        "log_compaction", "log compactor resumes plan", lambda s, a, o: no(s.logs_started(o)))),
    "a replace waits for the plans of all groups": ("replaces", 2, lambda: of(ReplacesWaitForAllGroups, "replaces")),
    "a resize waits for pending compactions": ("resizes", 2, lambda: guarded(
        "resizes", "resizer schedules resize", lambda s, c, p, layout: all_done(s))),
    "a resize takes the slice after a pending compaction": (
        "resizes", 2, lambda: of(ResizesTakeTheNewestSlice, "resizes")),
    "a resize begins without a write in progress": ("resizes", 0, lambda: guarded(
        "resizes", "resizer schedules resize", lambda s, c, p, layout: s.every(
            WRITE, lambda w: either(s.phase(w) == 0, published(s, w))))),
    "a resize that has found late logs is not cancelled": ("resizes", 4, lambda: guarded(
        "resizes", "resizer cancels resize", lambda s, c: s.copied_to(c) == 0)),
    "a resize begins without a planned rollback": ("resizes_rolled_back", 0, lambda: guarded(
        "resizes_rolled_back", "resizer schedules resize", lambda s, c, p, layout: s.every(
            WRITE, lambda w: no(s.rolled_back(w))))),
    "a writer looks for a mapping before it is refused": (
        "resizes_rolled_back", 0, lambda: of(RetriesBeforeItIsRefused, "resizes_rolled_back")),
    "a clean begins without a pending resize": ("resizes_cleaned", 4, lambda: guarded(
        "resizes_cleaned", "cleaner schedules clean", lambda s, a, o, w: s.every(
            PLAN, lambda q: implies(s.resizes(q), s.done(q))))),
    "writers by range use no planned mapping": ("resizes_by_range", 0, lambda: guarded(
        "resizes_by_range", "writer starts writing by a planned mapping", lambda s, w, p: False)),
    "readers wait for the archiver": ("archiving", 3, lambda: guarded(
        "archiving", "reader looks into archive", lambda s, *_: s.every(
            WRITE, lambda w: implies(s.archived(w), s.removed(w))))),
    "instants are archived without a write in progress": ("archiving", 0, lambda: guarded(
        "archiving", "archiver archives instants", lambda s, *_: s.every(
            WRITE, lambda v: either(s.phase(v) == 0, published(s, v))))),
    "a conflict needs all file groups": ("optimistic", 2, lambda: of(ConflictsInAllGroups, "optimistic")),
    "optimistic writers begin without another writer": ("optimistic", 0, lambda: guarded(
        "optimistic", "writer requests instant", lambda s, w: implies(s.optimistic(w), s.every(
            WRITE, lambda v: either(s.phase(v) == 0, published(s, v)))))),
    "authors publish only their own writes": ("free_commits", 0, lambda: guarded(
        "free_commits", "author publishes write", lambda s, a, w: s.writes_as(w) == a)),
    "an author begins to list only if no other one lists": ("free_commits", 0, lambda: guarded(
        "free_commits", "author starts listing announcements", lambda s, a: s.every(
            AUTHOR, lambda b: s.deciding(b) < LISTS))),
    "an entry decides no write that its author has listed with a rollback": (
        "free_rollbacks", 1, lambda: of(RollsBackWhatItLists, "free_rollbacks")),
    "a write is rolled back before its announcement only": ("free_rollbacks", 0, lambda: guarded(
        "free_rollbacks", "rollbacker plans rollback", lambda s, b, o, w: s.phase(w) < ANNOUNCED)),
    "a plan waits for a write in progress": ("free_commits", 2, lambda: guarded(
        "free_commits", "compactor schedules plan", lambda s, c, p: s.every(
            WRITE, lambda w: either(s.phase(w) == 0, published(s, w))))),
    "no author crashes after its announcement": ("free_commits", 1, lambda: guarded(
        "free_commits", "author crashes", lambda s, a: s.deciding(a) == 0)),
    "no lock is lost after the completion time": ("decisions", 0, lambda: guarded(
        "decisions", "lock of a writer is lost", lambda s, w: s.phase(w) < READY)),
}  # fmt: skip
"""Change -> the file of lemmas, the small world in which it differs from the model, and the changed relation."""

EQUIVALENT: dict[str, tuple[str, Callable[[], ProvedSystem]]] = {
    # What completed after the first listing has a later time than T, so that the reader does not keep it.
    "the second listing shows nothing new": ("core", lambda: guarded(
        "core", "reader ends listing again", lambda s, d, *seen: both(
            *(s.every(sort, lambda x, new=new: no(new(x))) for sort, new in zip((WRITE, PLAN), seen, strict=True))))),
    # A live writer that has its completion time has the lock: a clause of the invariant.
    "a writer publishes without the lock": ("core", lambda: replace(BY_NAME["core"], actions=tuple(
        replace(each, guard=lambda s, w: both(s.phase(w) == READY, no(s.dead_writer(w))))
        if each.name == "writer publishes instant" else each for each in BY_NAME["core"].actions))),
}  # fmt: skip
"""Changes that no state distinguishes from the relation."""


@pytest.mark.parametrize("mutant", RELATIONS)
def test_a_relation_that_is_too_narrow_differs_from_the_model(mutant: str) -> None:
    name, place, changed = RELATIONS[mutant]
    assert difference(name, changed(), place) is not None


@pytest.mark.nightly
@pytest.mark.parametrize("mutant", RELATIONS)
def test_an_unchanged_relation_has_no_difference_there(mutant: str) -> None:
    name, place, _ = RELATIONS[mutant]
    assert difference(name, BY_NAME[name], place) is None


@pytest.mark.nightly
@pytest.mark.parametrize("mutant", EQUIVALENT)
def test_a_change_that_makes_no_difference_has_none(mutant: str) -> None:
    name, changed = EQUIVALENT[mutant]
    assert [difference(name, changed(), place) for place in range(len(SMALL[name]))] == [None] * len(SMALL[name])


MODELS = {
    "plan-leaves-a-gap": ("core", 0),
    "compactor-never-plans": ("core", 0),
    "compaction-leaves-out-a-group": ("core", 3),
    "plan-completed-twice": ("core", 2),
    "listing-from-a-cache": ("core", 1),
    "reader-takes-second-newest-time": ("core", 1),
    "completion-time-not-new": ("core", 0),
    "compactor-waits-for-writers": ("core", 0),
    "overtaken-write-is-refused": ("core", 0),
    "clean-deletes-nothing": ("cleaning", 0),
    "clean-takes-slice-of-base": ("cleaning", 0),
    "clean-keeps-newest-slice-alone": ("cleaning", 0),
    "clean-horizon-counts-services": ("cleaning", 0),
    "clean-time-not-new": ("cleaning", 0),
    "loser-deletes-base-file": ("cleaning", 3),
    "archive-newest-first": ("archiving", 0),
    "archive-deletes-first": ("archiving", 0),
    "read-forgets-the-archive-time": ("archiving", 3),
    "log-compactor-never-plans": ("log_compaction", 0),
    "log-compaction-leaves-a-gap": ("log_compaction", 4),
    "resize-last-round-unchecked": ("resizes", 0),
    "resize-old-logs-kept": ("resizes", 0),
    "resize-builds-on-pending-base": ("resizes", 2),
    "resize-beside-new-compactions": ("resizes", 2),
    "resize-planned-twice": ("resizes", 3),
    "resize-input-cleaned": ("resizes_cleaned", 4),
    "resize-late-logs-left-by-compaction": ("resizes_by_range", 2),
    "batch-written-by-another": ("batches", 0),
    "batch-known-by-its-newest": ("batches", 0),
}
"""Mutant of specs/mutants -> the file of lemmas, and the small world in which the mutant differs from its relation."""


@pytest.mark.parametrize("mutant", MODELS)
def test_a_changed_model_differs_from_its_relation(mutant: str) -> None:
    with applied(load(mutant)):
        assert difference(MODELS[mutant][0], BY_NAME[MODELS[mutant][0]], MODELS[mutant][1]) is not None


PLANNING = {
    "pending plans are looked for in group 0": "lambda rules, table, group: original(rules, table, 0)",
    "a base file is written once a group":
        "lambda rules, table, group: not any(plan.part_in(group) for plan in table.plans)",
}  # fmt: skip


@pytest.mark.parametrize("mutant", PLANNING)
def test_a_changed_rule_of_planning_differs_from_the_relation(mutant: str) -> None:
    with applied(model_mutant(mutant, "kernel.planning:PlanningRules.may_plan", PLANNING[mutant])):
        assert difference("core", BY_NAME["core"]) is not None


ANNOUNCEMENTS = {
    "a listing omits what was put meanwhile": (
        "announced_later", 0, "lambda own_deciding, announced, entries, timeline: ((('seen', ()),),)"),
    "the items of an entry are published in the opposite order": (
        "unpublished", 0, "lambda entry, timeline: original(entry, timeline)[::-1]"),
    "a failed author counts no failure": (
        "fail", 0, "lambda own, own_deciding: {'own': own._replace(step=ANNOUNCED), "
                   "'own_deciding': own_deciding._replace(listed=frozenset())}"),
    "an author that is behind learns one entry at a time": (
        "learn_tail", 0, "lambda own_deciding, entries: {'own_deciding': own_deciding._replace("
                         "tail=min(own_deciding.tail + 1, len(entries)), listed=frozenset())}"),
}  # fmt: skip
"""Change of the steps of authors in the model -> the function, the small world, and the expression."""


@pytest.mark.parametrize("mutant", ANNOUNCEMENTS)
def test_a_changed_step_of_an_author_differs_from_the_relation(mutant: str) -> None:
    function, place, expression = ANNOUNCEMENTS[mutant]
    with applied(model_mutant(mutant, f"mechanisms.announcements.author:{function}", expression)):
        assert difference("free_commits", BY_NAME["free_commits"], place) is not None


EXCLUSIONS = {
    "an entry decides a write and its rollback": ("is_mentioned", "lambda announcement, mentioned: False"),
    "an entry decides rollbacks first": (
        "commits_first", "lambda announcement: (not original(announcement)[0], announcement.requested)"),
}  # fmt: skip
"""Change of what an entry of the model decides -> the function, and the expression."""


@pytest.mark.parametrize("mutant", EXCLUSIONS)
def test_a_changed_exclusion_of_commit_and_rollback_differs_from_the_relation(mutant: str) -> None:
    function, expression = EXCLUSIONS[mutant]
    with applied(model_mutant(mutant, f"mechanisms.announcements.rules:{function}", expression)):
        assert difference("free_rollbacks", BY_NAME["free_rollbacks"], 1) is not None
