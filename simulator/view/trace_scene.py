"""Describes the pictures of a trace's state after a given step. `Moment` takes the value that `frames.document`
returns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from ..trace import Trace
from .frames import document
from .scene import Bar, Chip, Ending, Files, Group, Lane, Slice, Times, cells
from .style import SERVICE, Hue, hues

_ENDINGS: dict[str, Ending] = {"completed": "completed", "crashed": "crashed"}


def scenes_of_trace(trace: Trace, step: int | None) -> tuple[Times, Files]:
    """Return the timeline and the files after `step` steps. By default, `step` is the step that violates the promise.
    """
    doc = document(trace)
    stopped = doc["views"][0]["stopped"]
    last = stopped[0] - 1 if stopped else len(trace.steps)
    if step is not None and not 0 <= step <= last:
        refusal = f"; step {stopped[0]} cannot be taken: {'; '.join(stopped[1])}" if stopped else ""
        raise ValueError(f"step {step} of a trace with {last} steps{refusal}")
    moment = Moment(doc, doc["breaking"] if step is None else step)
    return moment.times(), moment.files()


def value_at(history: list[list[Any]], step: int) -> Any:
    """Look up the value after `step` steps in a history, a list of [step, value]. Returns None if `step` precedes the
    first entry of the history.
    """
    return next((value for at, value in reversed(history) if at <= step), None)


class Moment:
    """The state of a run after `step` steps, under the protocol of the trace."""

    def __init__(self, doc: Mapping[str, Any], step: int) -> None:
        self.doc, self.step = doc, step
        self.view: Mapping[str, Any] = doc["views"][0]
        self.hue: dict[str, Hue] = dict(zip(doc["actors"], hues(doc["kinds"]), strict=True))
        self.answer: list[Any] = value_at(self.view["answers"], step) or [None, None, None]
        self.explanation: Mapping[str, Any] | None = (
            None if self.answer[2] is None else self.view["explanations"][self.answer[2]]
        )

    def actor_of(self, time: Any) -> str:
        """Return the actor that began the instant with this requested time, or "" if the instant is unknown."""
        history = self.view["instants"].get(str(time))
        return str(history[0][1][3]) if history else ""

    # time

    def times(self, most: int | None = None) -> Times:
        """Return the timeline, with steps as columns and actors as lanes. Each of the last `most` steps has its own
        column; all earlier steps share one column.
        """
        first = max(0, self.step - most) if most else 0
        columns = [*(["…"] if first else []), *map(str, range(first + 1, self.step + 1))]
        skipped = first - 1 if first else 0
        bars = (bar for time in self.view["instants"] for bar in self._bars(time, skipped))
        return Times(
            axis="step",
            columns=tuple(columns),
            lanes=tuple(self._lane(place, skipped) for place in range(len(self.doc["actors"]))),
            bars=tuple(bar for bar in bars if not first or bar.end),
            marked=len(columns) - 1 if self.step else None,
        )

    def _lane(self, place: int, skipped: int) -> Lane:
        actor = self.doc["actors"][place]
        if self.doc["kinds"][place] != "reader":
            return Lane(actor, self.hue[actor])
        steps = (
            (number, says) for number, (by, says, _) in enumerate(self.doc["steps"][: self.step], 1) if by == place
        )
        dots = tuple((number - skipped - 1, self.doc["sentences"][says]) for number, says in steps if number > skipped)
        return Lane(actor, self.hue[actor], dots)

    def _bars(self, time: str, skipped: int) -> Iterator[Bar]:
        seen = [entry for entry in self.view["instants"][time] if entry[0] <= self.step and entry[1] is not None]
        if not seen:
            return
        lanes, service = self.doc["actors"], self.doc["services"].get(seen[-1][1][3])
        column, begins, resumed = max(seen[0][0] - skipped, 0), f"t{time}", None
        content = service.word if service else cells(self._rows_of(time), self.doc["ranked"])
        barrier = service is not None and service.barrier

        def bar(lane: int, until: int, ending: Ending, ends: str = "") -> Bar:
            lost = self.explanation is not None and str(self.explanation["instant"]) == time and ending != "crashed"
            start = max(column - 1, 0)
            return Bar(
                time, lane, start, max(until - skipped - 1, start), ending, begins, ends, content, not service,
                barrier and resumed is None, lost, resumed,
            )  # fmt: skip

        for (died, before), (taken, after) in pairwise(seen):
            if before[1] == "crashed":
                lane = lanes.index(before[3])
                yield bar(lane, died, "crashed")
                column, begins, content, resumed = max(taken - skipped, 0), "", "", lane
                del after
        _, state, completed, actor = seen[-1][1]
        ending = _ENDINGS.get(state, "pending")
        until = seen[-1][0] if ending != "pending" else self.step
        yield bar(lanes.index(actor), until, ending, f"t{completed}" if completed else "")

    def _rows_of(self, time: str) -> list[list[Any]]:
        histories = (
            history for name, history in self.view["files"].items()
            if name.startswith("log ") and f"/{time}." in name
        )  # fmt: skip
        return [row for history in histories for row in history[0][1][2]]

    # files

    def files(self) -> Files:
        """Return the file groups and their file slices after `step` steps."""
        parts: dict[tuple[int, int], dict[str, list[Any]]] = {}
        for name, history in self.view["files"].items():
            if (value := value_at(history, self.step)) is not None:
                kind, group, file = name.replace("/", " ").split(" ")
                barrier = int(value[3]) if kind == "log" else int(file)
                parts.setdefault((int(group), barrier), {})[name] = value
        barriers = sorted({barrier for _, barrier in parts} | {0})
        return Files(
            tuple(
                Group(
                    label,
                    tuple(
                        self._slice(f"slice {number}/{barrier}", barriers.index(barrier), barrier, files)
                        for (group, barrier), files in sorted(parts.items(), reverse=True)
                        if group == number
                    ),
                )
                for number, label in enumerate(self.doc["groups"])
            )
        )

    def _slice(self, name: str, order: int, barrier: int, files: Mapping[str, list[Any]]) -> Slice:
        status, reason = files.get(name, ["read", ""])
        lead = self.explanation["file"] if self.explanation else ""
        names = sorted((f for f in files if f != name), key=lambda f: (not f.startswith("base"), f != lead, f))
        chips = tuple(self._chip(file, *files[file][:3]) for file in names)
        return Slice(name, order, f"t{barrier}" if barrier else "", chips, status == "hidden", reason)

    def _chip(self, name: str, status: Any, reason: str, rows: list[Any]) -> Chip:
        lost = self.explanation is not None and self.explanation["file"] == name
        base, file = name.startswith("base"), name.rpartition("/")[2]
        text = "" if base and status == "pending" else cells(rows, self.doc["ranked"])
        time, _, version = file.partition(".")
        own = f"base t{time}" if base else f"t{time}.log.{version}"
        notes = tuple(note for note in (own if text else "", reason) if note)
        if base:
            return Chip(name, "base", text or own, "", notes, SERVICE, status, lost)
        instant = value_at(self.view["instants"].get(time, []), self.step)  # None: archived, or rolled back
        at = f"@t{instant[2]}" if instant and instant[2] else ""
        return Chip(name, "log", text or own, at, notes, self.hue.get(self.actor_of(time), SERVICE), status, lost)
