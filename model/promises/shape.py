"""When two states look the same to every promise: equal but for how late things happened and what actors are called.

Promises compare times with each other and never with a number, and they look at what was written, not at who wrote it.
So the times of a state may be replaced by their ranks, and the names left out: several times fewer states are left to
be judged. A test holds this against judging every state by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

from ..files.shared_log import LOGS
from ..model import Model
from ..packed import State
from ..table import Cleaned, Compaction, GroupPlan, Plan, Rollback, RolledBack, Write

KNOWN = {
    Write: ("requested", "completed", "actor", "number", "files", "bases", "file_ids", "onto", "loaded", "replaced",
            "into", "places", "columns"),
    Compaction: ("requested", "completed", "actor", "clustered"),
    RolledBack: ("requested", "completed", "actor"),
    Cleaned: ("requested", "completed", "actor"),
    Rollback: ("requested", "target", "planner", "inflight", "deleted", "forgotten", "removed"),
    Plan: ("requested", "runner", "inflight", "groups", "clusters", "columns", "unmarked"),
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


def shape_of(model: Model, *states: State) -> Hashable | None:
    """What promises can tell of these states; None where something is in them that is not known here."""
    table, readers = model.derive(model.initial, (), "fields of shapes", lambda: _fields(model))
    if not table:
        return None
    told = [field.told(state) for state in states for field in table]
    if UNKNOWN in told:
        return None
    # Who of the readers answered what does not matter, nor what is between.
    answers = [[each for field in readers if (each := field.told(state)).times] for state in states]
    times = {time for each in chain(told, *answers) for time in each.times}
    rank = {time: place for place, time in enumerate(sorted(times))}
    ranked = tuple([_ranked(each, rank) for each in told])
    if not readers:
        return ranked
    return ranked, tuple([frozenset([_ranked(each, rank) for each in theirs]) for theirs in answers])


class _Field(NamedTuple):
    """A component, the bits in which it stands, and what is told of each of its values."""

    model: Model
    name: str
    mask: int
    telling: Callable[[Any], Told | Undone]
    known: dict[int, Told | Undone]

    def told(self, state: State) -> Told | Undone:
        """What can be told of it in a state: nothing where it is hidden."""
        bits = state & self.mask
        told = self.known.get(bits)
        if told is None:
            hidden = bits == self.mask
            told = self.known[bits] = NOTHING if hidden else self.telling(self.model.component(state, self.name))
        return told


def _fields(model: Model) -> tuple[list[_Field], list[_Field]]:
    """The components that a shape is made of, and the readers; none where something is at work that is not known."""
    known = {"published", "plans", "rollbacks"}
    if {"restores", "schemas", LOGS} & {*model.components} or model.world.settings or {*model.table_reads} - known:
        return [], []
    if model.setting.of("clusterer") and model.protocol.clustering == "file_ids":
        return [], []

    def field(name: str, telling: Callable[[Any], Told | Undone]) -> _Field:
        return _Field(model, name, model.coding.mask((model.coding.place[name],)), telling, {})

    names = ("published", "plans", *model.setting.if_any("rollbacks"))
    table = [field(name, _told_of_rollbacks if name == "rollbacks" else _told_of_entries) for name in names]
    if model.protocol.read_time == "clock":
        table.append(field("clock", lambda clock: Told(None, (clock,))))
    return table, [field(name, _told_by_reader) for name in model.setting.of("reader")]


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
    return Told((len(reader.plans), len(reader.kept)), (reader.time, *reader.plans, *reader.kept))


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
        return Told((entry.unmarked, parts), (entry.requested, *(time for time in taken if time is not None)))
    times = (entry.requested, entry.completed)
    if not isinstance(entry, Write):
        return Told("" if isinstance(entry, Compaction) else entry.action, times)
    bases = tuple(base is None for base in entry.bases)
    onto = tuple((group, base is None) for group, base in entry.onto)
    times += tuple(base for base in (*entry.bases, *(base for _, base in entry.onto)) if base is not None)
    return Told((entry.files, bases, onto, entry.loaded, entry.replaced), times)


def _is_known(entry: Any) -> bool:
    return KNOWN.get(type(entry)) == entry._fields and not getattr(entry, "file_ids", ())
