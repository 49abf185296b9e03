"""When two states look the same to every promise: equal but for how late things happened and what actors are called.

Promises compare times with each other and never with a number, and they look at what was written, not at who wrote it.
So the times of a state may be replaced by their ranks, and the names left out: several times fewer states are left to
be judged. A test holds this against judging every state by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

from ..kernel.table import Compaction, CompletesAs, GroupPlan, Plan, Write
from ..machine.marks import mark
from ..machine.state import State
from ..mechanisms.bulk_insert import Loaded, loaded
from ..mechanisms.cleaning.rules import CompletedClean
from ..mechanisms.clustering import Clustered, Clustering, Clusters, Into
from ..mechanisms.copy_on_write import Onto, onto
from ..mechanisms.foreign_services import Unmarked, unmarked
from ..mechanisms.insert_overwrite import Replaced, replaced
from ..mechanisms.rollback.rules import Rollback, RolledBack
from ..mechanisms.schema_evolution.rules import Columns, PlanColumns
from ..mechanisms.shared_logs import LOGS, Places
from ..model import Model
from ..variants.listing import Listing
from ..variants.slicing import BaseInstants
from .promise import components_in

KNOWN = {
    Write: ("requested", "completed", "actor", "number", "files", "marks"),
    BaseInstants: ("groups", "kind"),
    Columns: ("found", "kind"),
    CompletesAs: ("action", "kind"),
    Into: ("clusterings", "kind"),
    Loaded: ("groups", "kind"),
    Onto: ("bases", "kind"),
    Places: ("places", "kind"),
    Replaced: ("groups", "kind"),
    Compaction: ("requested", "completed", "actor", "marks"),
    Clustered: ("groups", "kind"),
    RolledBack: ("requested", "completed", "actor"),
    CompletedClean: ("requested", "completed", "actor"),
    Rollback: ("requested", "target", "planner", "inflight", "deleted", "forgotten", "removed"),
    Plan: ("requested", "runner", "inflight", "groups", "marks"),
    Clusters: ("clusters", "kind"),
    PlanColumns: ("written", "kind"),
    Unmarked: ("unmarked", "kind"),
    GroupPlan: ("group", "base", "logs"),
}
"""The fields of what is known here. Whoever adds one decides here whether it is a time; a test asks for it."""


class Told(NamedTuple):
    """What can be told of a value: its form without times, and its times, always in the same order."""

    form: Hashable
    times: tuple[int, ...] = ()


class Undone(NamedTuple):
    """Of rollbacks: how many files of what is published are gone; what becomes of a write that is not, no read can
    tell."""

    form: bool
    gone: tuple[tuple[int, int], ...]
    times: tuple[int, ...] = ()


NOTHING, UNKNOWN = Told(None), Told("something that is not known here")


def shape_of(model: Model, *states: State) -> int | None:
    """The number of what promises can tell of these states; None where something is in them that is not known here."""
    return model.derive(model.initial, (), "shapes", lambda: _Shapes(*_fields(model))).of(states)


class _Field(NamedTuple):
    """A component, the bits in which it stands, what is told of its values, and the numbers of what was told."""

    model: Model
    name: str
    mask: int
    telling: Callable[[Any], Told | Undone]
    numbers: dict[int, int]

    def told(self, state: State) -> Told | Undone:
        """What can be told of it in a state: nothing where it is hidden."""
        hidden = state & self.mask == self.mask
        return NOTHING if hidden else self.telling(self.model.component(state, self.name))


class _Shapes:
    """The components of a table and the readers, and the shapes of states that were seen, each by a number.

    Values that differ in names alone are told alike, and mostly so do what is told of two states: a shape is made once
    for these.
    """

    def __init__(self, table: Sequence[_Field], readers: Sequence[_Field]) -> None:
        self.fields, self.of_table = (*table, *readers), len(table)
        self._told: list[Told | Undone] = []
        self._numbers: dict[Told | Undone, int] = {}
        self._known: dict[tuple[int, ...], int | None] = {}
        self._shapes: dict[Hashable, int] = {}

    def of(self, states: Sequence[State]) -> int | None:
        """The number of the shape of these states together."""
        if not self.fields:
            return None
        told = []
        for state in states:
            for field in self.fields:
                number = field.numbers.get(state & field.mask)
                told.append(self._number(field, state) if number is None else number)
        key = tuple(told)
        if key not in self._known:
            shape = self._shape([key[at : at + len(self.fields)] for at in range(0, len(key), len(self.fields))])
            self._known[key] = None if shape is None else self._shapes.setdefault(shape, len(self._shapes))
        return self._known[key]

    def _number(self, field: _Field, state: State) -> int:
        told = field.told(state)
        found = self._numbers.setdefault(told, len(self._told))
        if found == len(self._told):
            self._told.append(told)
        field.numbers[state & field.mask] = found
        return found

    def _shape(self, states: Sequence[Sequence[int]]) -> Hashable | None:
        told = [self._told[number] for state in states for number in state[: self.of_table]]
        if UNKNOWN in told:
            return None
        # Who of the readers answered what does not matter, nor what is between.
        readers = [[self._told[number] for number in state[self.of_table :]] for state in states]
        times = {time for each in chain(told, *readers) for time in each.times}
        rank = {time: place for place, time in enumerate(sorted(times))}
        answers = [frozenset([_ranked(each, rank) for each in theirs if each.times]) for theirs in readers]
        return tuple([_ranked(each, rank) for each in told]), tuple(answers)


def _fields(model: Model) -> tuple[list[_Field], list[_Field]]:
    """The components that a shape is made of, and the readers; none where something is at work that is not known."""
    known = {"published", "plans", "rollbacks"}
    if {"restores", "schemas", LOGS} & {*model.components} or model.world.settings or {*model.table_reads} - known:
        return [], []
    if model.actors_of("clusterer") and model.protocol[Clustering].clustering == "file_ids":
        return [], []

    def field(name: str, telling: Callable[[Any], Told | Undone]) -> _Field:
        return _Field(model, name, model.coding.mask((model.coding.place[name],)), telling, {})

    names = ("published", "plans", *components_in(model, "rollbacks"))
    table = [field(name, _told_of_rollbacks if name == "rollbacks" else _told_of_entries) for name in names]
    if model.protocol[Listing].read_time == "clock":
        table.append(field("clock", lambda clock: Told(None, (clock,))))
    return table, [field(name, _told_by_reader) for name in model.actors_of("reader")]


def _ranked(told: Told | Undone, rank: Mapping[int, int]) -> Hashable:
    if isinstance(told, Undone):
        return told.form, frozenset((rank[target], gone) for target, gone in told.gone if target in rank)
    return told.form, tuple(map(rank.__getitem__, told.times))


def _told_of_rollbacks(rollbacks: tuple[Rollback, ...]) -> Told | Undone:
    gone: dict[int, int] = {}
    for each in rollbacks:
        if not _is_known(each):
            return UNKNOWN
        gone[each.target] = max(each.deleted, gone.get(each.target, 0))
    return Undone(bool(rollbacks), tuple(gone.items()))


def _told_by_reader(reader: Any) -> Told:
    if reader.step != "answered":
        return NOTHING
    return Told((len(reader.plans), len(reader.instants)), (reader.time, *reader.plans, *reader.instants))


def _told_of_entries(entries: tuple[Any, ...]) -> Told:
    told = [_told_of_entry(entry) for entry in entries]
    if UNKNOWN in told:
        return UNKNOWN
    return Told(tuple([each.form for each in told]), tuple([time for each in told for time in each.times]))


@lru_cache(maxsize=1 << 14, typed=True)  # values of different types may be equal
def _told_of_entry(entry: Any) -> Told:
    if not _is_known(entry):
        return UNKNOWN
    if isinstance(entry, Plan):
        # A plan may hold what never completed, where the protocol lets it.
        parts = tuple((part.group, part.base is None, tuple([v for _, v in part.logs])) for part in entry.groups)
        taken = [time for part in entry.groups for time in (part.base, *(at for at, _ in part.logs))]
        return Told((unmarked(entry), parts), (entry.requested, *(time for time in taken if time is not None)))
    times = (entry.requested, entry.completed)
    if not isinstance(entry, Write):
        return Told("" if isinstance(entry, Compaction) else entry.action, times)
    named, merged = mark(entry, BaseInstants).groups, onto(entry)
    forms = tuple(base is None for base in named), tuple((group, base is None) for group, base in merged)
    times += tuple(base for base in (*named, *(base for _, base in merged)) if base is not None)
    return Told((entry.files, *forms, loaded(entry), replaced(entry)), times)


def _is_known(entry: Any) -> bool:
    return all(KNOWN.get(type(each)) == each._fields for each in (entry, *getattr(entry, "marks", ())))
