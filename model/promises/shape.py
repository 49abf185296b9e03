"""A shape is an abstraction of states: every promise that uses shapes has the same verdict for two states with the same
shape.

Promises compare times only with each other, and do not depend on which actor made a write. The shape of a state
replaces each time with its position in the order of all times, and omits actor names. A search reaches far fewer shapes
than states.

Under completion-time slicing, no rule of reading compares the requested time of a write with another time
(`Rules.compares_requested_times`). Most promises then have one verdict on all states that differ only in these times:
the order of completions and barriers decides it. A world of four writes has 5,065 shapes, and 96 of these orders.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, Final, NamedTuple

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
from ..rules import Rules
from ..variants.listing import ReaderListing
from ..variants.slicing import BaseInstants
from .promise import components_in


class Abstract(NamedTuple):
    """A value split into its structure, from which times have been removed, and the list of these times.

    `compared` contains the times that rules compare with others. `writes` contains the requested and completion time of
    each write, and whether it has marks; `names` the requested times by which plans name writes.
    """

    form: Hashable
    times: tuple[int, ...] = ()
    compared: tuple[int, ...] = ()
    writes: tuple[tuple[int, int, bool], ...] = ()
    names: tuple[int, ...] = ()


class Undone(NamedTuple):
    """The part of a shape (an abstraction of states) that describes rollbacks. `gone` contains pairs (requested time of
    a rolled-back write, number of its deleted files).
    """

    form: bool
    gone: tuple[tuple[int, int], ...]
    times: tuple[int, ...] = ()
    compared: tuple[int, ...] = ()


UNNAMED: Final = -1
"""Names no write: rules may compare the requested times of all writes."""
NOTHING, UNKNOWN = Abstract(None), Abstract("unsupported")


class ShapeNumbers(NamedTuple):
    """Numbers that identify the shape of states, the order of completions and barriers in them, and this order with the
    intervals between these times in which a write was requested. A window of an incremental query may begin there.
    """

    whole: int
    completions: int
    windows: int


def shape_of(model: Model, *states: State) -> int | None:
    """Return a number that identifies the shape of the given states; None if shapes do not support them."""
    shape = _shape(model, states)
    return shape and shape.whole


def completions_of(model: Model, *states: State) -> int | None:
    """Return a number that identifies the order of completions and barriers in the given states; None if shapes do not
    support them.
    """
    shape = _shape(model, states)
    return shape and shape.completions


def windows_of(model: Model, *states: State) -> int | None:
    """Return a number that identifies the order of completions and barriers, and the windows that promises check; None
    if shapes do not support the states.
    """
    shape = _shape(model, states)
    return shape and shape.windows


def _shape(model: Model, states: tuple[State, ...]) -> ShapeNumbers | None:
    # One numbering for each model: numbers of different models must not be compared.
    return model.derive(model.initial, (), "shapes", lambda: _Shapes(model)).of(states)


class _Field(NamedTuple):
    model: Model
    name: str
    mask: int
    abstract: Callable[[Any], Abstract | Undone]
    numbers: dict[int, int]

    def of_state(self, state: State) -> Abstract | Undone:
        # All bits set: the component is masked, by a test that promises read only what they declare.
        hidden = state & self.mask == self.mask
        return NOTHING if hidden else self.abstract(self.model.component(state, self.name))


class _Shapes:
    """Assigns a number to each distinct shape (abstraction of states).

    Values that differ only in the names of actors have the same abstraction.
    """

    def __init__(self, model: Model) -> None:
        table, readers = _fields(model)
        self.model, self.fields, self.of_table = model, (*table, *readers), len(table)
        self.by_completion = _by_completion(model)
        self._abstract: list[Abstract | Undone] = []
        self._numbers: dict[Abstract | Undone, int] = {}
        self._of_states: dict[tuple[State, ...], ShapeNumbers | None] = {}
        self._known: dict[Hashable, ShapeNumbers | None] = {}
        self._shapes: dict[Hashable, int] = {}

    def of(self, states: tuple[State, ...]) -> ShapeNumbers | None:
        if not self.fields:
            return None
        # Two caches: by states, and, in `_by_fields`, by the values of the few components that matter to shapes.
        if states not in self._of_states:
            self._of_states[states] = self._by_fields(states)
        return self._of_states[states]

    def _by_fields(self, states: Sequence[State]) -> ShapeNumbers | None:
        parts = []
        for state in states:
            for field in self.fields:
                # By bits: a look into a dictionary of integers is cheaper than decoding the component.
                number = field.numbers.get(state & field.mask)
                parts.append(self._number(field, state) if number is None else number)
        key = tuple(parts)
        if key not in self._known:
            size = len(self.fields)
            self._known[key] = self._shape(states, [key[at : at + size] for at in range(0, len(key), size)])
        return self._known[key]

    def _number(self, field: _Field, state: State) -> int:
        parts = field.of_state(state)
        found = self._numbers.setdefault(parts, len(self._abstract))
        if found == len(self._abstract):
            self._abstract.append(parts)
        field.numbers[state & field.mask] = found
        return found

    def _shape(self, states: Sequence[State], numbers: Sequence[Sequence[int]]) -> ShapeNumbers | None:
        tables = [[self._abstract[number] for number in state[: self.of_table]] for state in numbers]
        if any(UNKNOWN in parts for parts in tables):
            return None
        # Only the set of answers matters: not which reader gave which, nor readers that have not answered.
        readers = [[self._abstract[number] for number in state[self.of_table :]] for state in numbers]
        times = {time for each in chain(*tables, *readers) for time in each.times}
        whole = self._identify("whole", _in_order(tables, readers, sorted(times), {}))
        requests = _requests(tables, readers) if self.by_completion else None
        if requests is None:
            return ShapeNumbers(whole, whole, whole)
        ordered = sorted(times - requests.keys())
        completions = _in_order(tables, readers, ordered, requests)
        # Two states with one order of completions may differ in the time up to which they are settled.
        settled = tuple(_place(ordered, self.model.settled(state)) for state in states)
        between = frozenset(bisect_left(ordered, time) for time in requests)
        return ShapeNumbers(
            whole,
            self._identify("completions", (completions, settled)),
            self._identify("windows", (completions, settled, between)),
        )

    def _identify(self, kind: str, shape: Hashable) -> int:
        return self._shapes.setdefault((kind, shape), len(self._shapes))


_Parts = Sequence[Sequence[Abstract | Undone]]
"""The abstractions of several components, for each of several states."""


def _in_order(tables: _Parts, readers: _Parts, times: Sequence[int], requests: Mapping[int, int]) -> Hashable:
    """Replace each time with its position in `times`, or a requested time with the position of the completion."""
    rank = {time: place for place, time in enumerate(times)}
    # Negative, so that a requested time never equals the position of a completion or a barrier.
    rank |= {time: ~rank[completed] for time, completed in requests.items()}
    answers = [frozenset([_ranked(each, rank) for each in theirs if each.times]) for theirs in readers]
    return tuple([_ranked(each, rank) for parts in tables for each in parts]), tuple(answers)


def _requests(tables: _Parts, readers: _Parts) -> dict[int, int] | None:
    """Map the requested times that no rule compares to their completion times. Return None if a rule may compare one:
    two times are equal, a plan takes a log of a pending write, or a write was rolled back.
    """
    requests, compared = dict[int, int](), set[int]()
    for parts in tables:
        if any(isinstance(each, Undone) and each.form for each in parts):
            return None
        writes = [write for each in parts if isinstance(each, Abstract) for write in each.writes]
        known = {requested for requested, _, _ in writes}
        taken = {time for each in parts if isinstance(each, Abstract) for time in each.names}
        # Two writes with one requested time, or a log whose write is not published: names are ambiguous then.
        if len(known) < len(writes) or not taken <= known:
            return None
        requests |= {requested: completed for requested, completed, marked in writes if not marked}
    for each in chain(*tables, *readers):
        compared.update(each.compared)
    return None if len({*requests.values()}) < len(requests) or requests.keys() & compared else requests


def _place(times: Sequence[int], time: int) -> tuple[int, bool]:
    return bisect_left(times, time), time in times


def _by_completion(model: Model) -> bool:
    """True if no rule of reading compares the requested time of a write with another time."""
    # Each mechanism states it for its own part of the rules. A part that states nothing counts as comparing.
    rules = [part for part in type(model.rules).__mro__[1:] if issubclass(part, Rules)]
    compares = any(vars(part).get("compares_requested_times", True) for part in rules)
    return not compares and {*model.settled_reads} <= {*model.table_reads}


def _fields(model: Model) -> tuple[list[_Field], list[_Field]]:
    known, unfit = {"published", "plans", "rollbacks"}, {"restores", "schemas", "early", LOGS}
    # No fields: shapes are not used at all, and the promises are checked on every state.
    if unfit & {*model.components} or model.world.settings or {*model.table_reads} - known:
        return [], []
    if model.actors_of(CLUSTERER) and model.protocol[Clustering].clustering == "file_ids":
        return [], []

    def field(name: str, abstract: Callable[[Any], Abstract | Undone]) -> _Field:
        return _Field(model, name, model.coding.mask((model.coding.place[name],)), abstract, {})

    names = ("published", "plans", *components_in(model, "rollbacks"))
    table = [field(name, _abstract_rollbacks if name == "rollbacks" else _abstract_entries) for name in names]
    if model.protocol[ReaderListing].read_time == "clock":
        table.append(field("clock", lambda clock: Abstract(None, (clock,), (clock,))))
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
    # Only how far a write is undone matters, not by how many rollbacks.
    return Undone(bool(rollbacks), tuple(gone.items()))


def _abstract_reader(reader: Any) -> Abstract:
    # Promises judge answers. What a reader has listed so far is its own business.
    if reader.step != "answered":
        return NOTHING
    compared = (reader.time, *reader.plans)
    return Abstract((len(reader.plans), len(reader.instants)), (*compared, *reader.instants), compared)


def _abstract_entries(entries: tuple[Any, ...]) -> Abstract:
    parts = [_abstract_entry(entry) for entry in entries]
    if UNKNOWN in parts:
        return UNKNOWN
    forms, *others = zip(*parts, strict=True) if parts else ((), *[()] * 4)
    return Abstract(forms, *(tuple(chain.from_iterable(each)) for each in others))


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
        bases = [part.base for part in entry.groups if part.base is not None]
        times = (entry.requested, *copied, *(time for time in taken if time is not None))
        # With marks, an engine with other rules runs the plan, or the plan is a resize.
        logs = (UNNAMED,) if entry.marks else tuple([at for part in entry.groups for at, _ in part.logs])
        compared = (entry.requested, *copied, *bases)
        return Abstract((unmarked(entry), resize and resize.buckets, parts), times, compared, (), logs)
    times = (entry.requested, entry.completed)
    if not isinstance(entry, Write):
        return Abstract("" if isinstance(entry, Compaction) else entry.action, times, times)
    named, merged = mark(entry, BaseInstants).groups, onto(entry)
    forms = tuple(base is None for base in named), tuple((group, base is None) for group, base in merged)
    groups_of = generations(entry)
    made_by = tuple(time for time in groups_of if time)
    times += (*made_by, *(base for base in (*named, *(base for _, base in merged)) if base is not None))
    form = entry.files, tuple(map(bool, groups_of)), *forms, loaded(entry), replaced(entry)
    compared = times if entry.marks else (entry.completed,)
    return Abstract(form, times, compared, ((entry.requested, entry.completed or 0, bool(entry.marks)),))


def _is_known(entry: Any) -> bool:
    # A mark or a field that a mechanism adds without declaring its shape switches shapes off, rather than hiding it.
    return all(SHAPED.get(type(each)) == each._fields for each in (entry, *getattr(entry, "marks", ())))
