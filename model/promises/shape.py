"""A shape is an abstraction of states: every promise that uses shapes has the same verdict for two states with the same
shape.

Promises compare times only with each other, and do not depend on which actor made a write. The shape of a state
replaces each time with its position in the order of all times, and omits actor names. A search reaches far fewer shapes
than states.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

from ..kernel.reader import READER
from ..kernel.table import Compaction, Plan, Write
from ..machine.marks import SHAPED, mark
from ..machine.state import State
from ..mechanisms.bulk_insert.rules import loaded
from ..mechanisms.clustering import CLUSTERER, Clustering
from ..mechanisms.copy_on_write import onto
from ..mechanisms.foreign_services import unmarked
from ..mechanisms.insert_overwrite import replaced
from ..mechanisms.resizes.rules import generations, resize_of
from ..mechanisms.rollback.rules import Rollback
from ..mechanisms.shared_logs import LOGS
from ..model import Model
from ..variants.listing import ReaderListing
from ..variants.slicing import BaseInstants
from .promise import components_in


class Abstract(NamedTuple):
    """A value split into its structure, from which times have been removed, and the list of these times."""

    form: Hashable
    times: tuple[int, ...] = ()


class Undone(NamedTuple):
    """The part of a shape (an abstraction of states) that describes rollbacks. `gone` contains pairs (requested time of
    a rolled-back write, number of its deleted files).
    """

    form: bool
    gone: tuple[tuple[int, int], ...]
    times: tuple[int, ...] = ()


NOTHING, UNKNOWN = Abstract(None), Abstract("unsupported")


def shape_of(model: Model, *states: State) -> int | None:
    """Return a number that identifies the shape of the given states; None if shapes do not support them."""
    return model.derive(model.initial, (), "shapes", lambda: _Shapes(*_fields(model))).of(states)


class _Field(NamedTuple):
    model: Model
    name: str
    mask: int
    abstract: Callable[[Any], Abstract | Undone]
    numbers: dict[int, int]

    def of_state(self, state: State) -> Abstract | Undone:
        hidden = state & self.mask == self.mask
        return NOTHING if hidden else self.abstract(self.model.component(state, self.name))


class _Shapes:
    """Assigns a number to each distinct shape (abstraction of states).

    Values that differ only in the names of actors have the same abstraction.
    """

    def __init__(self, table: Sequence[_Field], readers: Sequence[_Field]) -> None:
        self.fields, self.of_table = (*table, *readers), len(table)
        self._abstract: list[Abstract | Undone] = []
        self._numbers: dict[Abstract | Undone, int] = {}
        self._known: dict[tuple[int, ...], int | None] = {}
        self._shapes: dict[Hashable, int] = {}

    def of(self, states: Sequence[State]) -> int | None:
        if not self.fields:
            return None
        parts = []
        for state in states:
            for field in self.fields:
                number = field.numbers.get(state & field.mask)
                parts.append(self._number(field, state) if number is None else number)
        key = tuple(parts)
        if key not in self._known:
            shape = self._shape([key[at : at + len(self.fields)] for at in range(0, len(key), len(self.fields))])
            self._known[key] = None if shape is None else self._shapes.setdefault(shape, len(self._shapes))
        return self._known[key]

    def _number(self, field: _Field, state: State) -> int:
        parts = field.of_state(state)
        found = self._numbers.setdefault(parts, len(self._abstract))
        if found == len(self._abstract):
            self._abstract.append(parts)
        field.numbers[state & field.mask] = found
        return found

    def _shape(self, states: Sequence[Sequence[int]]) -> Hashable | None:
        parts = [self._abstract[number] for state in states for number in state[: self.of_table]]
        if UNKNOWN in parts:
            return None
        # Only the set of answers matters: not which reader gave which, nor readers that have not answered.
        readers = [[self._abstract[number] for number in state[self.of_table :]] for state in states]
        times = {time for each in chain(parts, *readers) for time in each.times}
        rank = {time: place for place, time in enumerate(sorted(times))}
        answers = [frozenset([_ranked(each, rank) for each in theirs if each.times]) for theirs in readers]
        return tuple([_ranked(each, rank) for each in parts]), tuple(answers)


def _fields(model: Model) -> tuple[list[_Field], list[_Field]]:
    known = {"published", "plans", "rollbacks"}
    if {"restores", "schemas", LOGS} & {*model.components} or model.world.settings or {*model.table_reads} - known:
        return [], []
    if model.actors_of(CLUSTERER) and model.protocol[Clustering].clustering == "file_ids":
        return [], []

    def field(name: str, abstract: Callable[[Any], Abstract | Undone]) -> _Field:
        return _Field(model, name, model.coding.mask((model.coding.place[name],)), abstract, {})

    names = ("published", "plans", *components_in(model, "rollbacks"))
    table = [field(name, _abstract_rollbacks if name == "rollbacks" else _abstract_entries) for name in names]
    if model.protocol[ReaderListing].read_time == "clock":
        table.append(field("clock", lambda clock: Abstract(None, (clock,))))
    return table, [field(name, _abstract_reader) for name in model.actors_of(READER)]


def _ranked(parts: Abstract | Undone, rank: Mapping[int, int]) -> Hashable:
    if isinstance(parts, Undone):
        return parts.form, frozenset((rank[target], gone) for target, gone in parts.gone if target in rank)
    return parts.form, tuple(map(rank.__getitem__, parts.times))


def _abstract_rollbacks(rollbacks: tuple[Rollback, ...]) -> Abstract | Undone:
    gone: dict[int, int] = {}
    for each in rollbacks:
        if not _is_known(each):
            return UNKNOWN
        gone[each.target] = max(each.deleted, gone.get(each.target, 0))
    return Undone(bool(rollbacks), tuple(gone.items()))


def _abstract_reader(reader: Any) -> Abstract:
    if reader.step != "answered":
        return NOTHING
    return Abstract((len(reader.plans), len(reader.instants)), (reader.time, *reader.plans, *reader.instants))


def _abstract_entries(entries: tuple[Any, ...]) -> Abstract:
    parts = [_abstract_entry(entry) for entry in entries]
    if UNKNOWN in parts:
        return UNKNOWN
    return Abstract(tuple([each.form for each in parts]), tuple([time for each in parts for time in each.times]))


@lru_cache(maxsize=1 << 14, typed=True)  # values of different types may be equal
def _abstract_entry(entry: Any) -> Abstract:
    if not _is_known(entry):
        return UNKNOWN
    if isinstance(entry, Plan):
        # A plan may hold what never completed, where the protocol lets it.
        parts = tuple((part.group, part.base is None, tuple([v for _, v in part.logs])) for part in entry.groups)
        taken = [time for part in entry.groups for time in (part.base, *(at for at, _ in part.logs))]
        resize = resize_of(entry)
        copied = () if resize is None else (resize.copied,)
        times = (entry.requested, *copied, *(time for time in taken if time is not None))
        return Abstract((unmarked(entry), resize and resize.buckets, parts), times)
    times = (entry.requested, entry.completed)
    if not isinstance(entry, Write):
        return Abstract("" if isinstance(entry, Compaction) else entry.action, times)
    named, merged = mark(entry, BaseInstants).groups, onto(entry)
    forms = tuple(base is None for base in named), tuple((group, base is None) for group, base in merged)
    groups_of = generations(entry)
    made_by = tuple(time for time in groups_of if time)
    times += (*made_by, *(base for base in (*named, *(base for _, base in merged)) if base is not None))
    return Abstract((entry.files, tuple(map(bool, groups_of)), *forms, loaded(entry), replaced(entry)), times)


def _is_known(entry: Any) -> bool:
    return all(SHAPED.get(type(each)) == each._fields for each in (entry, *getattr(entry, "marks", ())))
