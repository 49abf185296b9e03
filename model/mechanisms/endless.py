"""Models endless writers with finitely many states: a run is infinite, but may return to earlier states.

Writers may write, retry and lose locks arbitrarily often; no component (state variable) counts these events. After each
step, the model drops instants that cannot conflict with a pending write. The model also renumbers all times, preserving
their order, so that equivalent states become equal. Guards only compare times with each other, so this renumbering does
not change the possible runs. Promises about infinite runs are checked with endless writers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from ..kernel.writer import WRITER, Writer
from ..machine.composition import Composition
from ..machine.mechanism import Mechanism
from ..machine.options import Limits, ProtocolOptions, limit
from ..machine.selection import Selection
from ..machine.transition import Changes, preset
from ..protocol import Protocol
from ..world import World
from .clock_waits import Deferred, Wait
from .decision_log import Seen
from .occ.conflicts import Occ, Validation
from .requests.mechanism import requests_without_lock
from .shared_logs import SharedLogs

FORGOTTEN: Final = ("clock", "published", "decisions", "claims", "losses")
"""The shared components that the numbering changes, if the world has them."""
TIMES: Final[Mapping[type, tuple[str, ...]]] = {
    Writer: ("requested", "completed"), Validation: ("conflict",), Deferred: ("requested",), Wait: ("until",),
}  # fmt: skip
"""The fields of an actor and of its records that are times."""


class Endless(Limits):
    """The setting that lets writers run forever."""

    endless: int = limit(0, "1: writers write, retry and lose locks without end; limits of these are ignored")


def compose(composition: Composition) -> None:
    """Let every transition also drop old instants and renumber all times, so that the number of states is finite."""
    if not composition.world[Endless].endless:
        return
    writers = composition.actors_of(WRITER)
    shared = tuple(name for name in FORGOTTEN if name == "clock" or name in composition.components)
    for key in tuple(composition.transitions):
        me, _ = key
        effect = preset(number_again, acting=me, names=shared)
        others = tuple(name for name in writers if name != me)
        Selection(composition, (key,)).extend(effect, "own", *others, *shared)


def is_modelled(protocol: ProtocolOptions) -> bool:
    """True if the model supports endless writers under this protocol.

    Log files shared by several writes are not supported, because the files would grow without bound. Conflict checks by
    requested time are not supported, because they need instants that the model has dropped. Requests without the lock
    are not supported, because the renumbering of times would have to forget their claims.
    """
    shared, unlocked = protocol[SharedLogs].log_layout != "own", requests_without_lock(protocol)
    return not shared and not unlocked and protocol[Occ].conflict_window == "completion"


def number_again(
    acting: str, names: tuple[str, ...], every_writer: Mapping[str, Writer], clock: int, published: tuple[Any, ...],
    decisions: tuple[Any, ...] = (), claims: frozenset[int] = frozenset(),
) -> Changes:  # fmt: skip
    """Forget instants, decisions and claims that no writer can observe any more, and renumber the remaining times."""
    writers = {name: _unlimited(own) for name, own in every_writer.items()}
    starts = {sealed for own in writers.values() if (sealed := _sealed(own)) is not None}
    places = tuple(_places(published, starts, decisions[-1:]))
    decided = min([max(len(decisions) - 1, 0), *(n for own in writers.values() if (n := _seen(own)))])
    published, decisions = tuple(published[place] for place in places), decisions[decided:]
    writers = {name: _with_counts(own, places, decided) for name, own in writers.items()}
    claims = frozenset(time for time in claims if time > clock)
    entries = [*published, *(entry for entry in decisions if not isinstance(entry, int))]
    times = {time for own in writers.values() for time in _times(own)} | {t for e in entries for t in e[:2]}
    past = {time: number for number, time in enumerate(sorted({t for t in times if 0 < t <= clock}), start=1)}
    to = Renumbering(past, clock, len(past))
    values: dict[str, object] = {
        "clock": len(past), "losses": 0, "claims": frozenset(map(to, claims)),
        "published": tuple(map(to.entry, published)), "decisions": tuple(map(to.entry, decisions)),
    }  # fmt: skip
    changed = {"own" if name == acting else name: to.actor(own) for name, own in writers.items()}
    return {**changed, **{name: values[name] for name in names}}


class Renumbering:
    """Maps each time of a state to a small number, so that equivalent states become equal. Times that the clock has
    reached are renumbered 1, 2, ... in ascending order. Future times keep their distance from the clock.
    """

    def __init__(self, past: Mapping[int, int], clock: int, now: int) -> None:
        self.past, self.clock, self.now = past, clock, now

    def __call__(self, time: int) -> int:
        return time - self.clock + self.now if time > self.clock else self.past.get(time, 0)

    def entry(self, entry: Any) -> Any:
        """Return an instant with its times renumbered, or a single renumbered time."""
        if isinstance(entry, int):
            return self(entry)
        return entry._replace(requested=self(entry.requested), completed=self(entry.completed))

    def actor(self, own: Writer) -> Writer:
        """Return the state of a writer with all times renumbered."""
        numbered: Writer = self._fields(own)._replace(records=tuple(map(self._fields, own.records)))
        return numbered

    def _fields(self, value: Any) -> Any:
        return value._replace(**{name: self(getattr(value, name)) for name in TIMES.get(type(value), ())})


def _times(own: Writer) -> Iterable[int]:
    for value in (own, *own.records):
        yield from (getattr(value, name) for name in TIMES.get(type(value), ()))


def _unlimited(own: Writer) -> Writer:
    records = tuple(each._replace(tries=0) if isinstance(each, Validation) else each for each in own.records)
    idle = own.step == "idle" and not own.requested and not any(_times(own))
    return own._replace(number=0 if idle else 1, records=records)


def _sealed(own: Writer) -> int | None:
    return next((each.sealed for each in own.records if isinstance(each, Validation) and own.requested), None)


def _places(published: tuple[Any, ...], starts: set[int], decided: tuple[Any, ...]) -> Iterable[int]:
    """Yield the positions in `published` of the instants that must be retained.

    A writer's conflict check reads only instants published since the writer began. Of several instants with the same
    files, a conflict check needs only the earliest. The last entry of the decision log and the newest instant are
    always retained.
    """
    known = set[Any]()
    begun = min(starts, default=len(published))
    for place, entry in enumerate(published):
        if place in starts:
            known.clear()
        newest = place + 1 == len(published)
        if (place >= begun and entry.files not in known) or entry in decided or newest:
            known.add(entry.files)
            yield place


def _seen(own: Writer) -> int:
    return sum(each.decisions for each in own.records if isinstance(each, Seen))


def _with_counts(own: Writer, places: tuple[int, ...], decisions: int) -> Writer:
    def counted(record: Any) -> Any:
        if isinstance(record, Validation):
            return record._replace(sealed=sum(place < record.sealed for place in places) if own.requested else 0)
        if isinstance(record, Seen):
            return record._replace(decisions=max(record.decisions - decisions, 0))
        return record

    return own._replace(records=tuple(map(counted, own.records)))


def fit(world: World, protocol: Protocol) -> None:
    """Raise ValueError if a writer of an endless world follows a protocol that is not modelled without end."""
    writers = map(WRITER.actor, range(1, world.actors.get(WRITER.name, 0) + 1)) if world[Endless].endless else ()
    if not all(is_modelled(world.protocol_of(me, protocol)) for me in writers):
        because = "with shared logs, with a conflict check by requests, or with requests = 'put_if_absent'"
        raise ValueError(f"an endless world is not modelled {because}")


def check(world: World) -> None:
    """Raise ValueError if a world with endless writers has actors that are not writers, or limits such as `crashes`."""
    if not world[Endless].endless:
        return
    flat = world.flat()
    others = [kind for kind, count in world.actors.items() if count and kind != WRITER.name]
    counted = [name for name in ("crashes", "lost_answers", "resends", "skew", "stalls") if flat.get(name)]
    if others or counted:
        raise ValueError(f"world: endless worlds have writers alone, without {(others + counted)[0]}")


MECHANISM = Mechanism(
    compose=compose,
    limits=Endless,
    check=check,
    fit=fit,
    after=("clock_waits", "clocks", "decision_log", "fencing", "lost_locks", "metadata_table", "*"),
)
