"""The cut of the log of announced commits: a cutter deletes old entries, and a stalled author may create their numbers
again.

A cutter first creates an entry, which decides what is announced and carries what earlier entries decided to roll back.
It then advances the boundary, the number up to which entries may be deleted, and deletes them. The put-if-absent of an
author that knows an old tail may then succeed under a number that was used before. Such an entry is void: it decides
nothing. Each author therefore reads the boundary after it has created an entry. If the boundary has passed the number,
the author publishes nothing and learns the tail again, because the entry may be void.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from ...kernel.compactor import COMPACTOR
from ...kernel.publication import Publication
from ...kernel.writer import WRITER
from ...machine.composition import Composition
from ...machine.mechanism import Kind
from ...machine.options import Limits, limit
from ...machine.transition import Action, Branch, Changes, Guard, Transition, go_to, limit_left, transition
from ...world import World
from ..rollback.rollbacker import ROLLBACKER
from .author import (
    ALL_PUBLISHED,
    KNOWS_TAIL,
    Deciding,
    author_actions,
    author_steps,
    create_entry,
    fail,
    last_known,
    learn_tail,
    number_is_taken,
)
from .rules import DecidedEntry, next_entry, with_clean_time

CREATED, CUTTING = "has created an entry", "has advanced the boundary"

Log = tuple[DecidedEntry, ...]


class LogCut(NamedTuple):
    """The numbers up to which entries may be deleted (`boundary`), and up to which they are deleted."""

    boundary: int = 0
    deleted: int = 0


class Cutter(NamedTuple):
    """The state of a cutter. `is_summarised` states whether it has created its entry."""

    step: str = "idle"
    is_summarised: bool = False
    records: tuple[Any, ...] = ()


class Cuts(Limits):
    """The limit on the number of cuts."""

    cuts: int = limit(0, "how often the log of announced commits is cut")


CUTTER = Kind(name="cutter", prefix="cut", first=Cutter(), service=True)


def cut_log(composition: Composition) -> None:
    """Let cutters cut the log, and let authors check the cut after each entry that they create."""
    cutters = composition.actors_of(CUTTER)
    if not cutters:
        return
    composition.add_component("log_cut", LogCut())
    composition.add_component("cuts", 0)
    composition.add_field(CUTTER, "deciding", Deciding())
    for me in cutters:
        cuts(composition, me)
    authors = [(each.kind, each.actor) for each in composition.facts(Publication).values()]
    for kind, me in (*authors, *((CUTTER.name, me) for me in cutters)):
        checks(composition, kind, me)


def checks(composition: Composition, kind: str, me: str) -> None:
    """Let an author read the boundary after it has created an entry."""

    def creating(creates: Transition) -> Transition:
        # First whether the number was deleted: put-if-absent then succeeds, although the log has later entries.
        return replace(creates, effects=(Branch(number_is_deleted, (create_void,), (creates_or_fails(kind),)),))

    composition.select(f"{kind}_creates_entry", actors=[me]).replace(creating)
    effect = Branch(is_cut, (doubt,), (trust,))
    composition.add(transition(f"{kind}_checks_cut", me, at=CREATED, effect=effect))


def creates_or_fails(kind: str) -> Branch:
    creates = create_summary if kind == CUTTER.name else create_entry
    return Branch(number_is_taken, (fail,), (creates, go_to(CREATED)))


def number_is_deleted(own_deciding: Deciding, log_cut: LogCut) -> bool:
    """True if the number after the known tail is free because its entry was deleted."""
    return own_deciding.tail < log_cut.deleted


def create_void(own: Any, own_deciding: Deciding, entries: Log, world: World) -> Changes:
    """Create an entry under a number that was used before."""
    void = next_entry(with_clean_time(last_known(own_deciding, entries), world), own_deciding.listed)
    deciding = own_deciding._replace(tail=own_deciding.tail + 1, listed=frozenset(), void=void)
    return {"own": own._replace(step=CREATED), "own_deciding": deciding}


def create_summary(own: Cutter, own_deciding: Deciding, entries: Log, world: World) -> Changes:
    """Create an entry that carries what earlier entries decided to roll back, before those are deleted."""
    return {**create_entry(own, own_deciding, entries, world), "own": own._replace(step=CREATED, is_summarised=True)}


def is_cut(own_deciding: Deciding, log_cut: LogCut) -> bool:
    """True if the boundary has passed the number of the entry that the author has created."""
    # Also for an entry that does decide: the author does not know that, and learning the tail again does no harm.
    return own_deciding.tail <= log_cut.boundary


def doubt(own: Any, own_deciding: Deciding) -> Changes:
    """Learn the tail again: it is not known whether the entry decides anything."""
    return fail(own, own_deciding._replace(void=None))


def trust(own: Any) -> Changes:
    return {"own": own._replace(step=KNOWS_TAIL)}


# The steps of a cutter.


def cuts(composition: Composition, me: str) -> None:
    """Add the steps of a cutter."""
    first, then = CUT
    composition.add(
        transition("cutter_begins_cut", me, at="idle", to=KNOWS_TAIL, guards=(CUT_LEFT, SOME_ENTRY), effect=learn_tail),
        *author_steps(composition, CUTTER.name, me, ~IS_SUMMARISED),
        transition("cutter_advances_boundary", me, at=KNOWS_TAIL, to=CUTTING, guards=(ALL_PUBLISHED, IS_SUMMARISED),
                   effect=first, changes=("log_cut",)),
        transition("cutter_deletes_entries", me, at=CUTTING, effect=then, changes=("log_cut",),
                   ).extend(end_cut, "own", "own_deciding", "cuts"),
    )  # fmt: skip


def some_entry(entries: Log) -> bool:
    return bool(entries)


def is_summarised(own: Cutter) -> bool:
    return own.is_summarised


CUT_LEFT = limit_left("a cut must be left", "cuts", lambda world: world[Cuts].cuts)
SOME_ENTRY = Guard("the log must have an entry", some_entry)
IS_SUMMARISED = Guard("it must have created its entry", is_summarised)


def advance_boundary(own_deciding: Deciding, log_cut: LogCut) -> Changes:
    """Advance the boundary to the entry before the last one. All entries up to it are published."""
    # The greatest: a cutter that stalled may come with an older tail.
    return {"log_cut": log_cut._replace(boundary=max(log_cut.boundary, own_deciding.tail - 1))}


def delete_entries(own_deciding: Deciding, log_cut: LogCut) -> Changes:
    """Delete the entries before the last one that the cutter knows."""
    return {"log_cut": log_cut._replace(deleted=max(log_cut.deleted, own_deciding.tail - 1))}


CUT = (advance_boundary, delete_entries)
"""The two effects of a cut, in their order."""


def end_cut(cuts: int) -> Changes:
    return {"own": Cutter(), "own_deciding": Deciding(), "cuts": cuts + 1}


def cut_actions() -> Iterator[Action]:
    """Yield the actions of cutters, and those by which authors check the cut."""
    for kind in (WRITER.name, COMPACTOR.name, ROLLBACKER.name, CUTTER.name):
        yield Action(f"{kind}_checks_cut", "reads the boundary: whether the number of its entry was used before",
                     "{actor} checks the cut", continues_call=True)  # fmt: skip
    yield Action("cutter_begins_cut", "lists the decision log, to cut it", "{actor} learns the tail of the log, to cut")
    yield from author_actions(
        CUTTER.name,
        learns="lists the decision log again",
        creates="creates an entry that carries what the deleted ones decided to roll back",
    )
    yield Action("cutter_advances_boundary", "puts the number up to which entries may be deleted",
                 "{actor} advances the boundary", continues_call=True)  # fmt: skip
    yield Action("cutter_deletes_entries", "deletes the entries up to the boundary", "{actor} deletes old entries",
                 continues_call=True)  # fmt: skip
