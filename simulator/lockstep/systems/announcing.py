"""Plays histories in which actors announce their commits (`decision = free`) on the engine."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from nbcc.engine.timeline.announcements import FOLDER as ANNOUNCEMENTS
from nbcc.engine.timeline.decisions import FOLDER as DECISIONS
from nbcc.engine.timeline.decisions import PLANNED
from nbcc.engine.writes.claims import FOLDER as CLAIMS
from nbcc.engine.writes.commit_protocol import ROLLBACK
from nbcc.model import Protocol, Query, Step, World
from nbcc.model.machine.transition import record_of
from nbcc.model.mechanisms.announcements.author import ANNOUNCED, KNOWS_TAIL, Deciding, last_known
from nbcc.model.mechanisms.announcements.rules import (
    NO_ENTRY,
    PLANS,
    DecidedEntry,
    name_of,
    undecided,
    unpublished,
)
from nbcc.model.mechanisms.cleaning.mechanism import CLEANER
from nbcc.model.mechanisms.decision_log import DecisionLog
from nbcc.model.mechanisms.occ.conflicts import has_optimistic_writers
from nbcc.model.mechanisms.parallel_publication import is_parallel
from nbcc.model.mechanisms.restores.mechanism import RESTORER, Restorer
from nbcc.model.mechanisms.restores.rules import Restore, is_gone, is_undone
from nbcc.model.mechanisms.rollback.rollbacker import ROLLBACKER, Rollbacker
from nbcc.model.mechanisms.savepoints import Savepointer

from ...observables import is_answer
from ...users_factory import CannotPlay
from ..control.calls import parsed
from ..control.clock import tick_of
from ..control.conductor import Task
from ..control.harness import Handle
from ..mechanisms.announcements import CLEANS_UP, LOOKS, without_lock
from ..mechanisms.decision_log import CHECKS_CUT, PUT_DECISION
from .engine import TIMES, EngineSystem
from .engine_operation import EngineOperation
from .log_times import COMPACTION, LogTimes, RequestedTime
from .played import unplayed

DECIDES: Final = ("learns_tail", "publishes_item", "starts_listing_announced", "creates_entry")
"""The steps by which an actor that has announced goes on until its announcement is decided."""

ASKS: Final = ("asks_as_of", "asks_window", "asks_changes")
"""The steps by which a querier chooses times. Histories play those that have a time of the engine."""


def last_of(entries: Sequence[DecidedEntry]) -> DecidedEntry:
    return entries[-1] if entries else NO_ENTRY


def planned_in(world: World) -> tuple[str, ...]:
    """Return the actions of the plans for which an entry of the model reserves times."""
    if world.actors.get(RESTORER.name):
        return ("restore",)
    return (COMPACTION, "clean") if world.actors.get(CLEANER.name) else (COMPACTION,)


def _listed(own: Any) -> Iterable[Any]:
    """Return the announcements that an actor has listed, if it decides any."""
    deciding = next((each for each in own.records if isinstance(each, Deciding)), None)
    return () if deciding is None else deciding.listed


def _last(texts: Sequence[str], text: str) -> int:
    return len(texts) - 1 - texts[::-1].index(text)


class AnnouncingSystem(EngineSystem):
    """The engine with announced commits. Times are those of the model (`LogTimes`)."""

    def __init__(self, world: World, protocol: Protocol, **options: Any) -> None:
        if because := unplayed(world, protocol):
            raise CannotPlay(because)
        super().__init__(world, protocol, **options)
        self.harness.clock.splits = True
        self.rows_by_action = {**self.rows_by_action, **{row.action: row for row in without_lock(protocol)}}
        self._running: dict[str, Task] = {}
        self._is_optimistic, self._is_parallel = has_optimistic_writers(protocol), is_parallel(protocol)
        self._is_shared = protocol[DecisionLog].decision == "shared"
        self._planned = planned_in(world)
        self._translated: tuple[int, LogTimes] = (-1, LogTimes((), ()))

    @property
    def times(self) -> LogTimes:
        storage = self.harness.storage
        changes = getattr(storage, "changes", -1)
        if self._translated[0] != changes:
            heads = (storage.get(entry.path).partition(b"\n")[0] for entry in storage.list(DECISIONS))
            entries = [json.loads(head) for head in heads]
            self._translated = (changes, LogTimes(self._requests(), entries, self._planned))
        return self._translated[1]

    def _requests(self) -> Iterator[RequestedTime]:
        """Yield the requested times of writes and rollbacks, in the order in which actors took them."""
        after = ""
        for access in self.harness.accesses:
            if access.verb == "put" and access.outcome != "exists":
                folder, _, name = access.path.rpartition("/")
                if folder == CLAIMS:
                    under_lock = self._is_shared and tick_of(name) % 2 == 1
                    yield RequestedTime(name, after if self._is_optimistic else "", under_lock)
                elif folder == ANNOUNCEMENTS and f".{ROLLBACK}.requested" in name:
                    yield RequestedTime(name.partition(".")[0])
                after = max(after, parsed(access.path).get("completed", ""))

    def start(self, actor: str, operation: str, args: Mapping[str, Any]) -> EngineOperation:
        times = self.times.to_engine
        started = super().start(actor, operation, {
            name: times[value] if name in TIMES else value for name, value in args.items()
        })  # fmt: skip
        self._running[actor] = started.task
        return started

    def operation(self, name: str, handle: Handle) -> EngineOperation:
        return AnnouncingOperation(self, name, handle)

    # Observables.

    def _timeline(self) -> tuple[Any, ...]:
        mine = self.times.to_model
        found = super()._timeline()
        translated = ((a, state, mine[r], None if c is None else mine[c]) for a, state, r, c in found)
        return tuple(sorted(translated, key=lambda instant: instant[2]))

    def _slices(self, **as_of: str) -> tuple[Any, ...]:
        mine = self.times.to_model
        return tuple(
            (
                group,
                barrier and mine[barrier],
                base and mine[base],
                tuple((mine[requested], version) for requested, version in logs),
            )
            for group, barrier, base, logs in super()._slices(**as_of)
        )

    def slices_as_of(self, time: int) -> tuple[Any, ...]:
        return super().slices_as_of(self.times.to_engine[time])

    def rows(self, query: Query) -> tuple[Any, ...]:
        theirs = self.times.to_engine
        after, until = (None if time is None else theirs[time] for time in (query.after, query.until))
        return self.translated(super().rows(replace(query, after=after, until=until)), query.kind)

    def translated(self, rows: tuple[Any, ...], kind: str) -> tuple[Any, ...]:
        """Return the rows of an answer with the requested times of the model."""
        if kind == "changes" or not is_answer(rows):
            return rows
        mine = self.times.to_model
        return tuple((key, ordering, value, mine[requested]) for key, ordering, value, requested in rows)

    # Steps that the model allows, and the engine does otherwise.

    def does_otherwise(self, model: Any, state: Any, step: Step) -> bool:
        """Return whether the engine does not take a step of the model in this order of calls (specs/boundary.md)."""
        _, _, did = step.action.partition("_")
        own = model.component(state, step.actor)
        if did in ("finds_decided", "finds_refused"):
            plans_again = did == "finds_refused" and isinstance(own, Rollbacker)
            # A refused writer and a restorer delete the same files: the writer in one segment with its instant.
            is_too_early = did == "finds_refused" and self._is_still_to_undo(model, state, step.actor)
            return (own.step == ANNOUNCED or is_too_early or (plans_again and self._leaves_work(model, state))
                    or self._would_decide_for_others(model, state, step.actor))  # fmt: skip
        if did in ASKS:
            [(_, times)] = step.args  # of a tuple of times
            return isinstance(times, tuple) and any(self._cannot_ask(did, time) for time in times)
        if did in ("schedules_plan", "schedules_clean", "plans_rollback", "pins_instant", "plans_restore"):
            return self._decides_first(model, state, step)
        if did == "requests_instant":
            return self._precedes_restore(model, state)
        if did == "announces":
            return self._finds_files_deleted(model, state, step.actor)
        return did in DECIDES and self._decides_otherwise(model, state, step, did)

    def _cannot_ask(self, did: str, time: int) -> bool:
        """Return whether the engine has no such time, or refuses it, because it is a requested time, before it settles
        it. Requested times of the model are even.
        """
        return time not in self.times.to_engine or (did == "asks_as_of" and time % 2 == 0)

    def _decides_otherwise(self, model: Any, state: Any, step: Step, did: str) -> bool:
        actor = step.actor
        if self._running[actor].finished:
            return True  # its listing has shown that its announcement is decided
        if did == "publishes_item":
            return self._returns_at_once(model, state, actor) or self._publishes_another(model, state, step)
        return did == "creates_entry" and self._creates_otherwise(model, state, actor)

    def _publishes_another(self, model: Any, state: Any, step: Step) -> bool:
        """Return whether an actor puts another item of an entry first. An author begins with the first item, and an
        actor that helps with the last one.
        """
        if not self._is_parallel:
            return False
        deciding = record_of(model.component(state, step.actor), Deciding)
        left = unpublished(last_known(deciding, model.component(state, "entries")), model.view(state, "timeline"))
        texts = [call.text for call in self._running[step.actor].calls]
        since = {*texts[_last(texts, PUT_DECISION) :]} if PUT_DECISION in texts else {*LOOKS}
        # An actor that reads an entry equal to its own takes it for its own, and checks the cut before it looks again.
        is_own = "get decision" not in since or CHECKS_CUT[-1] in since
        created = is_own and not {*LOOKS} & since
        return dict(step.args)["item"] != (left[0 if created else -1].requested,)

    def _creates_otherwise(self, model: Any, state: Any, actor: str) -> bool:
        """Return whether an actor creates another entry, or others would look at the log before it does."""
        deciding = record_of(model.component(state, actor), Deciding)
        wins = deciding.tail == len(model.component(state, "entries"))
        others = (each for each in self._running if each != actor)
        return wins and (self._orders_otherwise(deciding.listed)
                         or any(self._learns_again(model, state, each) for each in others))  # fmt: skip

    def _decides_first(self, model: Any, state: Any, step: Step) -> bool:
        """Return whether an actor that plans first publishes or creates an entry, which the model does not: the engine
        decides what it finds announced, and reserves a time later than the write that a rollback undoes.
        """
        if self._is_shared:  # it plans under the lock, and decides nothing but its plan
            return False
        own, entries = model.component(state, step.actor), model.component(state, "entries")
        if isinstance(own, Savepointer | Restorer):
            return self._leaves_work(model, state)
        if isinstance(own, Rollbacker):
            target = self.times.to_engine[model.component(model.apply(state, step), step.actor).target]
            reserved = self.times.to_engine[last_of(entries).reserved] + 2 * PLANNED.index(ROLLBACK)
            return not entries or reserved < target or self._leaves_work(model, state)
        deciding = record_of(own, Deciding)
        since = (item for entry in entries[deciding.tail :] for item in entry.items)
        if any(type(item) in PLANS for item in since):  # the engine refuses the plan, and the model does not
            return True
        last = last_known(deciding, entries)
        return bool(undecided(model.component(state, "announced"), last, model.view(state, "timeline")))

    def _leaves_work(self, model: Any, state: Any) -> bool:
        """Return whether an item of the last entry is unpublished, or an announcement is undecided."""
        last, timeline = last_of(model.component(state, "entries")), model.view(state, "timeline")
        return bool(unpublished(last, timeline) or undecided(model.component(state, "announced"), last, timeline))

    def _finds_files_deleted(self, model: Any, state: Any, actor: str) -> bool:
        """Return whether a rollback has deleted a file of the write that an actor wants to announce: the engine refuses
        to announce it, and the model announces it in vain.
        """
        requested = getattr(model.component(state, actor), "requested", 0)
        rollbacks = model.component(state, "rollbacks") if model.world.actors.get(ROLLBACKER.name) else ()
        is_rolled_back = any(each.target == requested and each.deleted for each in rollbacks)
        return is_rolled_back or is_gone(model.restores(state), requested)

    def _is_still_to_undo(self, model: Any, state: Any, actor: str) -> bool:
        """Return whether a restorer has yet to delete the files of the write that an actor wants to commit."""
        requested, restores = getattr(model.component(state, actor), "requested", 0), model.restores(state)
        return is_undone(restores, requested) and not is_gone(restores, requested)

    def _precedes_restore(self, model: Any, state: Any) -> bool:
        """Return whether an author has chosen what a restore undoes, and its plan is not on the timeline. A write that
        is requested now may have an earlier time in the engine than the restore, and is refused for that reason.
        """
        entries, timeline = model.component(state, "entries"), model.view(state, "timeline")
        chosen = [each for actor in self._running for each in _listed(model.component(state, actor))]
        chosen += unpublished(last_of(entries), timeline)
        return any(isinstance(each, Restore) for each in chosen)

    def _orders_otherwise(self, listed: Iterable[Any]) -> bool:
        """Return whether an entry of the engine decides announcements in another order. A clock may lag behind the
        times that entries reserve, so that the requests of a write and of a service are in another order there.
        """
        requests = sorted(each.requested for each in listed)
        return sorted(requests, key=self.times.to_engine.__getitem__) != requests

    def _decided_by_tail(self, model: Any, state: Any, actor: str) -> bool:
        """Return whether the last entry that an actor knows decides what it announced."""
        deciding = record_of(model.component(state, actor), Deciding)
        if deciding.announcement is None or not deciding.tail:
            return False
        items = model.component(state, "entries")[deciding.tail - 1].items
        return name_of(deciding.announcement) in map(name_of, items)

    def _would_decide_for_others(self, model: Any, state: Any, actor: str) -> bool:
        """Return whether an actor that finds its instant on the timeline first creates an entry for others."""
        if self._decided_by_tail(model, state, actor) or self._has_read_rival(actor):
            return False
        if self._running[actor].finished or self._is_about_to(actor, CLEANS_UP):
            return False
        deciding, entries = record_of(model.component(state, actor), Deciding), model.component(state, "entries")
        last = last_known(deciding, entries)
        return bool(undecided(model.component(state, "announced"), last, model.view(state, "timeline")))

    def _returns_at_once(self, model: Any, state: Any, actor: str) -> bool:
        """Return whether an actor finds its instant published or undone, and leaves the entry to its author."""
        mine = record_of(model.component(state, actor), Deciding).announcement
        if mine is None or self._running[actor].finished or self._is_about_to(actor, CLEANS_UP):
            return mine is not None
        if name_of(mine) not in map(name_of, model.view(state, "timeline")) or self._is_behind(model, state, mine):
            return False
        decided = self._decided_by_tail(model, state, actor)
        return self._is_about_to(actor, LOOKS) if decided else self._has_read_rival(actor)

    def _is_behind(self, model: Any, state: Any, mine: Any) -> bool:
        """Return whether the last entry has decided the announcement, and an earlier item of it is unpublished."""
        last = last_of(model.component(state, "entries"))
        names = [*map(name_of, last.items)]
        earlier = last.items[: names.index(name_of(mine))] if name_of(mine) in names else ()
        return any(each in earlier for each in unpublished(last, model.view(state, "timeline")))

    def _is_about_to(self, actor: str, calls: Collection[str]) -> bool:
        """Return whether the next call of an actor is one of `calls`."""
        pending = self._running[actor].pending
        return pending is not None and pending.text in calls

    def _has_read_rival(self, actor: str) -> bool:
        """Return whether the last thing that an actor did was to read the entry that was created before its own."""
        texts = [call.text for call in self._running[actor].calls if call.text not in CHECKS_CUT]
        return texts[-2:] == [PUT_DECISION, "get decision"]

    def _learns_again(self, model: Any, state: Any, actor: str) -> bool:
        """Return whether an actor that has published the entry of another one will learn the tail again, which the
        model does not. No entry is created until it has.
        """
        own = model.component(state, actor)
        if own.step != KNOWS_TAIL or self._decided_by_tail(model, state, actor):
            return False
        return not self._is_about_to(actor, (*LOOKS, *CLEANS_UP))


class AnnouncingOperation(EngineOperation):
    """One operation of the engine with announced commits."""

    system: AnnouncingSystem

    def step(self, action: str, args: Mapping[str, Any]) -> Mapping[str, Any]:
        times = self.system.times.to_engine
        if seen := args.get("seen"):
            args = {**args, "seen": tuple(times[each] for each in seen)}
        observed = super().step(action, args)
        if "rows" in observed:
            return {**observed, "rows": self.system.translated(observed["rows"], self.name)}
        return observed
