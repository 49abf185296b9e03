"""Translates between the times of the model and those of the engine, where entries of the decision log assign times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from nbcc.engine.timeline.decisions import PLANNED
from nbcc.model.mechanisms.announcements.rules import completion_after, even_after, odd_after

from ..control.clock import instant_of, tick_of
from .protocol import CannotStep

COMPACTION: Final = PLANNED[0]


class RequestedTime(NamedTuple):
    """A requested time, and the newest completion time before it on the timeline, if the request depends on that.
    `under_lock` is True if an actor that holds the lock has read it from its clock, after all entries of the log.
    """

    time: str
    after: str = ""
    under_lock: bool = False


class _Times(dict[int, int]):
    def __missing__(self, tick: int) -> int:
        raise CannotStep(f"no entry assigns the time {instant_of(tick)}, and no actor has requested it")


def _last_time(entry: Mapping[str, Any]) -> str:
    return str(entry["time"] if "time" in entry else entry["reserved"])


class LogTimes:
    """Translates between the times of the model and those of the engine, both in ticks.

    The two have the same order, but not the same distances: an entry of the engine reserves a time for each kind of
    plans, and the engine requests later than everything that it has listed. `requests` are the times that actors of the
    engine took from their clocks, in the order in which they took them. The n-th of them is the n-th requested
    time of the model, whose rollbackers read the clock. The n-th time of an entry of the engine is the n-th time that
    the model's rules assign to the same items. An entry of the model reserves a time for each of the actions `planned`,
    in the order in which an entry of the engine does.
    """

    def __init__(
        self, requests: Iterable[RequestedTime], entries: Sequence[Mapping[str, Any]],
        planned: Sequence[str] = (COMPACTION,),
    ) -> None:  # fmt: skip
        self.to_model = _Times({0: 0})
        self._later = [2 * PLANNED.index(action) for action in planned]
        self._last = self._newest = clock = 0
        left = [*entries]
        for request in requests:
            while request.after and tick_of(request.after) not in self.to_model:
                self._add(left.pop(0))
            tick = tick_of(request.time)
            if request.under_lock:
                while left and _last_time(left[0]) < request.time:
                    self._add(left.pop(0))
                clock = odd_after(max(clock, self._last))
            else:
                clock = even_after(max(clock, self.to_model[tick_of(request.after)] if request.after else 0))
            self.to_model[tick] = clock
        for entry in left:
            self._add(entry)
        self.to_engine = _Times({mine: theirs for theirs, mine in self.to_model.items()})

    def _add(self, entry: Mapping[str, Any]) -> None:
        if "time" in entry:  # it decides one item, whose time was taken under the lock
            self._newest = tick_of(entry["time"])
            self._last = odd_after(self.to_model[self._newest])
            return
        for item in entry["items"]:
            if item["kind"] == "commit":
                self._last = completion_after(self._last, self.to_model[tick_of(item["requested"])])
                self._assign(item["time"])
        for later in self._later:
            self._last = odd_after(self._last)
            self._assign(entry["reserved"], later)

    def _assign(self, time: str, later: int = 0) -> None:
        tick = tick_of(time) + later
        if tick <= self._newest or tick in self.to_model:
            raise CannotStep(f"an entry assigns the time {time}, which is not later than all others")
        self.to_model[tick] = self._last
        self._newest = tick
