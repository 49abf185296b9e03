"""The scenes of a trace: what its page shows of one moment, by the same modules, so that no fact is told twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from nbcc.model import Model, Query
from nbcc.model.kernel.answers import Data

from ..trace import Trace
from .files import Files as FilesOf
from .frames import actors_of, instants_of, puts_of
from .judge import breaking_step, judged
from .plot_scene import Bar, Chip, Ending, Files, Group, Lane, Slice, Times, cells
from .rows import Case, Put, Reading, answers, choose, shown, valuations
from .run import Run, play
from .services import services_of
from .story import Story, story
from .style import SERVICE, Hue, hues
from .telling import Setting

_ENDINGS: dict[str, Ending] = {"completed": "completed", "crashed": "crashed"}


def scenes_of_trace(trace: Trace, step: int | None) -> tuple[Times, Files]:
    """After `step` steps (None: where the trace breaks its promise, else at its end); ValueError if there are fewer."""
    run = play(Model(trace.world, trace.protocol), trace.steps)
    last = len(run.states) - 1
    if step is not None and not 0 <= step <= last:
        refused = f"; step {run.stopped[0]} cannot be taken: {'; '.join(run.stopped[1])}" if run.stopped else ""
        raise ValueError(f"step {step} of a trace with {last} steps{refused}")
    broken = judged(run, trace.promise)
    broke = breaking_step(trace, run, broken)
    at = broke if step is None else step
    case = _case(trace, run, broke, [each.name for each in broken if each.step == broke])
    moment = _Moment(run, case, at, broke)
    return moment.times(), moment.files()


def _case(trace: Trace, run: Run, broke: int, names: Sequence[str]) -> Case:
    """The read and the rows that are shown: those that show the break, where there may be one."""
    begun = {instant.requested for instant in run.model.timeline(run.states[broke])}
    puts = puts_of(run)
    own = {p.requested: trace.batches[p.actor, p.number] for p in puts if (p.actor, p.number) in trace.batches}
    there = [put for put in puts if put.requested in begun]
    if names or trace.protocol.differences():
        promise = trace.promise or next(iter(names), "")
        return choose(run.model, run.states, broke, there, data=own, promise=promise)
    return Case(Reading(Query("snapshot")), own or _plain(run, there), "")


def _plain(run: Run, puts: Sequence[Put]) -> Data:
    return next(iter(valuations(puts, run.model.merger)), {})


class _Place(NamedTuple):
    group: int
    barrier: int


class _Moment:
    """One run after some of its steps."""

    def __init__(self, run: Run, case: Case, step: int, broke: int) -> None:
        self.run, self.model, self.case, self.step = run, run.model, case, step
        everyone = actors_of(run.model)
        self.hue: dict[str, Hue] = dict(zip((n for _, n in everyone), hues([k for k, _ in everyone]), strict=True))
        self.services = services_of(everyone)
        self.instants = instants_of(run.model, run.states[step])
        seen = FilesOf(run.model, case)
        self.shown: dict[str, list[Any]] = seen.at(run.states[step])
        setting = Setting(run.model, run.states, case, puts_of(run), seen)
        found = answers(run.model, run.states, step, case, broke)
        wrong = found.wrong()
        key = case.key if case.key in wrong else next(iter(wrong), None)
        self.story: Story | None = story(setting, step, found, key) if wrong else None

    # time

    def times(self) -> Times:
        """Columns are steps; lanes are actors."""
        actors = list(self.hue)
        return Times(
            axis="step",
            columns=tuple(str(number) for number in range(1, self.step + 1)),
            lanes=tuple(Lane(actor, hue) for actor, hue in self.hue.items()),
            bars=tuple(self._bar(time, actors) for time in self.instants),
            marked=self.step - 1 if self.step else None,
        )

    def _bar(self, time: str, actors: list[str]) -> Bar:
        _, state, completed, actor = self.instants[time]
        ending = _ENDINGS.get(state, "pending")
        service = self.services.get(actor)
        return Bar(
            lane=actors.index(actor),
            start=self._since(time, None) - 1,
            end=(self.step if ending == "pending" else self._since(time, state)) - 1,
            ending=ending,
            begins=f"t{time}",
            ends=f"t{completed}" if completed else "",
            says=service.word if service else cells(self._rows_of(int(time))),
            mono=not service,
            barrier=service is not None and service.barrier,
            lost=self.story is not None and str(self.story.instant) == time,
        )

    def _since(self, time: str, state: str | None) -> int:
        """The step from which on an instant has been there, or in a state."""
        step = self.step
        while step and time in (before := instants_of(self.model, self.run.states[step - 1])):
            if state is not None and before[time][1] != state:
                break
            step -= 1
        return step

    def _rows_of(self, requested: int) -> list[list[Any]]:
        """What a write writes, over all its files."""
        files = self.case.data.get(requested, {}).values()
        rows = (item for file in files for item in file.items())
        return [[str(key), shown(record)] for key, record in rows]

    # files

    def files(self) -> Files:
        """Slices by group and barrier."""
        parts: dict[_Place, list[str]] = {}
        for name, value in self.shown.items():
            parts.setdefault(_place(name, value), []).append(name)
        barriers = sorted({place.barrier for place in parts} | {0})
        return Files(
            tuple(
                Group(
                    f"file group {group}",
                    tuple(
                        self._slice(place, sorted(parts[place]), barriers.index(place.barrier))
                        for place in sorted(parts, key=lambda place: -place.barrier)
                        if place.group == group
                    ),
                )
                for group in range(self.model.world.groups)
            )
        )

    def _slice(self, place: _Place, names: list[str], order: int) -> Slice:
        status, reason = self.shown.get(f"slice {place.group}/{place.barrier}", ["read", ""])
        chips = tuple(self._chip(name) for name in names if not name.startswith("slice"))  # bases sort before logs
        return Slice(order, f"t{place.barrier}" if place.barrier else "", chips, status == "hidden", reason)

    def _chip(self, name: str) -> Chip:
        """A file is called by what it holds; one without rows by its name."""
        status, reason, rows = self.shown[name][:3]
        lost = self.story is not None and self.story.file == name
        time, _, version = name.rpartition("/")[2].partition(".")
        if name.startswith("base"):
            text, own = "" if status == "pending" else cells(rows), f"base t{time}"
            note = reason or (own if text else "")
            return Chip("base", text or own, "", note, SERVICE, status, lost)
        _, _, completed, actor = self.instants[time]
        own, at = f"t{time}.log.{version}", f"@t{completed}" if completed else ""
        text = cells(rows)
        return Chip("log", text or own, at, reason or (own if text else ""), self.hue[actor], status, lost)


def _place(name: str, value: list[Any]) -> _Place:
    kind, _, where = name.partition(" ")
    group, _, file = where.partition("/")
    return _Place(int(group), int(value[3]) if kind == "log" else int(file))
