"""Translates the announcements of a model state, and the entries that decide them, into relations of
`lemmas/entries.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from nbcc.model import Model, State
from nbcc.model.kernel.compactor import COMPACTOR
from nbcc.model.kernel.table import Compaction, Plan, Write
from nbcc.model.kernel.writer import WRITER
from nbcc.model.machine.plans import PLANNED, RUNNING, WRITTEN
from nbcc.model.machine.transition import DEAD, record_of
from nbcc.model.mechanisms.announcements import author
from nbcc.model.mechanisms.announcements.author import Deciding
from nbcc.model.mechanisms.rollback.rollbacker import ROLLBACKER
from nbcc.model.mechanisms.rollback.rules import Rollback, RolledBack
from nbcc.simulator.search.prove.lemmas import entries, free_rollbacks
from nbcc.simulator.search.prove.lemmas import state as core
from nbcc.simulator.search.prove.lemmas.services import AT_WORK

from . import operations
from .finite import Instance, Table

STEPS: Final = {author.ANNOUNCED: entries.LEARNS, author.KNOWS_TAIL: entries.LEARNT, author.LISTING: entries.LISTS,
                author.LISTED: entries.LISTED}  # fmt: skip
WORKS: Final = {PLANNED: core.SCHEDULED, RUNNING: core.RUNNING, WRITTEN: core.RUNNING}
NOUNS: Final = {Write: "write", Compaction: "completion", Plan: "plan", Rollback: "rollback", RolledBack: "ending"}


def authors(model: Model) -> tuple[str, ...]:
    return (*model.actors_of(WRITER), *model.actors_of(COMPACTOR), *model.actors_of(ROLLBACKER))


def fixed(model: Model, writes: Iterable[tuple[str, int]]) -> Table:
    """Return the values of the fixed relations: as which author an actor puts entries."""
    return {
        **{("writes_as", write): write[0] for write in writes},
        **{("compacts_as", me): me for me in model.actors_of(COMPACTOR)},
        **{("rolls_as", me): me for me in model.actors_of(ROLLBACKER)},
    }


def places(model: Model, state: State, plans: list[Plan]) -> dict[int, int]:
    """Map the requested time of each plan, on the timeline or only announced, to the integer that identifies it."""
    announced = model.component(state, "announced") if "announced" in model.components else ()
    later = {each.requested for each in announced if isinstance(each, Plan)} - {plan.requested for plan in plans}
    return {time: number for number, time in enumerate((*(plan.requested for plan in plans), *sorted(later)))}


def interpret(model: Model, state: State, elements: Instance, facts: Table, place: dict[int, int]) -> None:
    """Add the values of the relations of announcements and entries in a model state to `facts`.

    `place` maps the requested time of each plan to the integer that identifies the plan in `facts`.
    """
    log = model.component(state, "entries")
    facts |= {("tail",): len(log), ("reserved",): log[-1].reserved if log else 0}
    for each in model.component(state, "announced"):
        if isinstance(each, Write):  # a writer that has given its write up has forgotten its request
            facts["requested", _element(each, place)] = each.requested
    writes = {facts["requested", x]: x for x in elements.elements[core.WRITE] if facts.get(("requested", x))}
    place = {**place, **operations.places(model, state)}
    for each in model.component(state, "announced"):
        _announcement(each, _element(each, place), facts, writes)
    for number, entry in enumerate(log, start=1):
        for each in entry.items:
            _decided(each, _element(each, place), number, facts)
        facts |= {("rolled_back_in", writes[time]): number for time in entry.undone
                  if ("rolled_back_in", writes[time]) not in facts}  # fmt: skip
    for write in elements.elements[core.WRITE]:
        own = model.component(state, write[0])
        facts["dead_writer", write] = False  # the relation has `dead_author`
        if facts.get(("phase", write), 0) >= entries.ANNOUNCED:
            facts["returned", write] = own.number > write[1] or own.step == "idle"
    for me in model.actors_of(COMPACTOR):
        _compactor(me, model.component(state, me), place, facts)
    for me in model.actors_of(ROLLBACKER):
        _rollbacker(me, model.component(state, me), place, facts)
    for me in authors(model):
        _author(me, model.component(state, me), place, log, facts)


def _announcement(each: Any, x: Any, facts: Table, writes: dict[int, Any]) -> None:
    if isinstance(each, Write):
        facts["phase", x] = core.PUBLISHED if facts.get(("phase", x)) == core.PUBLISHED else entries.ANNOUNCED
    elif isinstance(each, Rollback):
        facts |= {("asked", x): True, ("operation_requested", x): each.requested, ("undoes", x): writes[each.target]}
    elif isinstance(each, RolledBack):
        facts["ended", x] = True
    elif isinstance(each, Plan):
        facts |= {("offered", x): True, ("barrier", x): each.requested, ("runner", x): each.runner}
    else:
        facts["finished", x] = True


def _decided(each: Any, x: Any, number: int, facts: Table) -> None:
    facts[f"entry_of_{NOUNS[type(each)]}", x] = number
    if isinstance(each, Write):
        facts |= {("phase", x): max(entries.DECIDED, facts["phase", x]), ("completed", x): each.completed}
    elif isinstance(each, Compaction):
        facts["compacted", x] = each.completed
    elif isinstance(each, RolledBack):
        facts["operation_completed", x] = each.completed


def _element(each: Any, place: dict[int, int]) -> Any:
    return (each.actor, each.number) if isinstance(each, Write) else place[each.requested]


def _compactor(me: str, own: Any, place: dict[int, int], facts: Table) -> None:
    announcement = record_of(own, Deciding).announcement
    work = entries.OFFERING if isinstance(announcement, Plan) else core.COMPLETING if announcement else (
        WORKS.get(own.step, core.IDLE))  # fmt: skip
    if work == core.IDLE:
        return
    facts |= {("work", me): work, ("own_plan", me): place[own.plan]}
    facts |= {("base_written", me, group): True for group in own.groups[: own.written]}


def _rollbacker(me: str, own: Any, place: dict[int, int], facts: Table) -> None:
    announcement = record_of(own, Deciding).announcement
    work = free_rollbacks.ASKING if isinstance(announcement, Rollback) else free_rollbacks.ENDING if announcement else (
        core.IDLE if own.step in ("idle", DEAD) else AT_WORK)  # fmt: skip
    facts["service_work", me] = work
    if work != core.IDLE:
        facts["operation_of", me] = place[own.rollback]


def _author(me: str, own: Any, place: dict[int, int], log: Any, facts: Table) -> None:
    known = record_of(own, Deciding)
    facts["dead_author", me] = own.step == DEAD
    facts |= {("deciding", me): STEPS.get(own.step, 0), ("learnt_tail", me): known.tail, ("failed", me): known.failed,
              ("learnt_reserved", me): log[known.tail - 1].reserved if known.tail else 0}  # fmt: skip
    facts |= {(f"lists_{NOUNS[type(each)]}", me, _element(each, place)): True for each in known.listed}
