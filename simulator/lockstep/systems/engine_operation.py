"""Runs one operation of the engine in a thread, and pauses it after the calls of each model step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from nbcc.engine.errors import BadInput, Cleaned
from nbcc.model import Query, World
from nbcc.model.answers import KINDS
from nbcc.model.mechanisms.conditions import FINDS
from nbcc.model.mechanisms.lock_wait import WRITER_STOPS_WAITING
from nbcc.model.mechanisms.lost_answers import ANSWER_IS_LOST, ANSWER_TO_DECISION_IS_LOST

from ...observables import refused
from ..control.calls import Call, kind_of, parsed
from ..control.clock import tick_of
from ..control.conductor import RETURN, ActorBlocked, ActorSilent
from ..control.harness import Handle, Harness
from ..mechanism import MappingRow
from .protocol import CannotStep
from .rows import from_rows


class Host(Protocol):
    """The methods of a system that an `EngineOperation` uses."""

    world: World
    harness: Harness
    rows_by_action: Mapping[str, MappingRow]

    def plain(self, answer: Any) -> list[dict[str, Any]]:
        """Return the rows of a read's answer as dictionaries."""

    def groups(self, partition: str, file_id: str) -> list[int]:
        """Return the number by which the model identifies a file group; in a world with resizes those of its ranges."""


LOST_ANSWERS: Final = (ANSWER_IS_LOST, ANSWER_TO_DECISION_IS_LOST)
"""The actions in which the answer to the last put does not arrive."""


class EngineOperation:
    """One operation of the engine, which runs in a separate thread."""

    def __init__(self, system: Host, name: str, handle: Handle) -> None:
        self.system, self.name, self.handle, self.task = system, name, handle, handle.task

    def step(self, action: str, args: Mapping[str, Any]) -> Mapping[str, Any]:
        if "seen" in args:
            self.handle.shows = self.handle.still_shows = _only(args["seen"])
        if action in FINDS.values():
            self.system.harness.settled_reads.add((self.task.actor, self.system.harness.step))
        self.handle.own_clock.ahead = args.get("ahead", 0)
        row = self.system.rows_by_action[action]
        self.handle.loses_answer = _several(row.ends_after) if action in LOST_ANSWERS else ()
        self.handle.stops_waiting = action == WRITER_STOPS_WAITING
        return self.segment(row)

    def crash(self) -> None:
        harness = self.system.harness
        harness.crashed[self.task.actor] = harness.step
        harness.step += 1
        self.task.crash()

    def segment(self, row: MappingRow) -> Mapping[str, Any]:
        """Run the engine's calls that correspond to one model step, as defined by the mapping row `row`. Return the
        rows of a read, or the file group and log version of a new data file.
        """
        title = f"{self.name} of {self.task.actor}"
        if self.task.finished and row.ends_after != RETURN:  # before RETURN it may have made its last call
            raise CannotStep(f"{title} has already returned")
        calls = self._run(row, title)
        self.system.harness.step += 1
        if row.before and not self.task.finished:
            return {}
        if row.ends_after == RETURN:
            if row.always and self.task.error is None:
                raise CannotStep(f"{title} returned without the error {row.raises}")
            return self._returned()
        ended_by = next((call for call in calls if call.text in _several(row.ends_after)), None)
        if ended_by is None:
            if row.before and all(call.verb.startswith(("list", "get")) for call in calls):
                return {}  # the segment may have no call: it has found that another actor did its work
            raise CannotStep(f"{title} returned without {' or '.join(_several(row.ends_after))}")
        return self._observed(ended_by)

    def _run(self, row: MappingRow, title: str) -> list[Call]:
        try:
            calls = self.task.run(row.ends_after, row.also, row.before, row.in_vain)
        except (ActorBlocked, ActorSilent) as error:
            raise CannotStep(str(error)) from error
        if (failed := self.task.error) is not None and type(failed).__name__ not in _several(row.raises):
            raise CannotStep(f"{title} failed: {type(failed).__name__}: {failed}") from failed
        return calls

    def _returned(self) -> Mapping[str, Any]:
        kind = next((kind for kind in KINDS if kind == self.name), None)
        if kind is None:  # a service may end with `Cleaned` as well
            return {}
        if isinstance(failed := self.task.error, BadInput | Cleaned):
            return {"rows": refused(failed)}
        return {"rows": from_rows(self.system.plain(self.task.result), Query(kind))}

    def _observed(self, call: Call) -> Mapping[str, Any]:
        name = parsed(call.path)
        observed: dict[str, Any] = {}
        if "file" in name:
            observed["group"] = self.system.groups(name.get("partition", ""), name["file"])[0]
        if "version" in name:
            observed["version"] = int(name["version"])
        return observed


def _several(words: str | tuple[str, ...]) -> tuple[str, ...]:
    return (words,) if isinstance(words, str) else words


def _only(times: tuple[int, ...]) -> Callable[[str], bool]:
    def shown(path: str) -> bool:
        name = parsed(path)
        if "completed" in name or name.get("rest") == "restore.requested" or kind_of(path) == "announced":
            return tick_of(name["requested"]) in times
        return False

    return shown
