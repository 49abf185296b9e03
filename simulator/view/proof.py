"""Draws a counterexample to induction as SVG: writes and plans as bars over time, and the failing step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ..search.prove.lemmas import state as core
from ..search.prove.obligations import ObligationResult
from ..search.prove.system import ProvedSystem
from ..search.prove.words import STEPS, Counterexample, counterexample, shown
from .drawing import svg
from .scene import Bar, Lane, Times
from .style import READER, SERVICE, WRITERS
from .timeline import timeline

TIMES: Final = (
    "requested", "completed", "barrier", "compacted", "operation_requested",
    "operation_completed", "reads_at",
)  # fmt: skip
"""The relations of one element whose times are columns."""


def picture(system: ProvedSystem, result: ObligationResult) -> str:
    """Return an SVG picture of the state before the failing step, or "" if z3 found no counterexample."""
    found = counterexample(system, result)
    return "" if found is None else svg(timeline(scene(system, found)))


def scene(system: ProvedSystem, found: Counterexample) -> Times:
    """Return the content of the picture, with one lane for each write, plan and reader that occurs in the
    counterexample.
    """
    relations = {relation.name: relation for relation in system.relations}
    needed = shown(relations, found)
    lanes = sorted(each for each in needed if each.split()[0] in ("write", "plan", "operation", "reader"))
    times = sorted({value for (name, *elements), value in found.values.items()
                    if name in TIMES and len(elements) == 1 and elements[0] in lanes})  # fmt: skip
    columns = {time: place for place, time in enumerate(times)}
    bars = tuple(bar for place, name in enumerate(lanes) for bar in _bars(found.values, name, place, columns))
    return Times(
        axis="time",
        columns=tuple(f"t{time}" for time in times) or ("now",),
        lanes=tuple(_lane(found.values, name, place, columns) for place, name in enumerate(lanes)),
        bars=bars,
        marked=None,
        caption=f"This step fails next: {found.step}" if found.step else "",
    )


def _lane(values: dict[tuple[str, ...], Any], name: str, place: int, columns: dict[int, int]) -> Lane:
    kind = name.split(maxsplit=1)[0]
    if kind != "reader":
        return Lane(name, WRITERS[place % len(WRITERS)] if kind == "write" else SERVICE)
    time = values.get(("reads_at", name), 0)
    step = STEPS["reading"].get(str(values.get(("reading", name), 0)), "has not begun")
    return Lane(name, READER, ((columns[time], f"{step}, reads as of t{time}"),) if time else ())


def _bars(values: dict[tuple[str, ...], Any], name: str, lane: int, columns: dict[int, int]) -> Iterator[Bar]:
    def value(relation: str) -> Any:
        return values.get((relation, name), 0)

    end = len(columns) - 1
    if name.startswith("write") and value("requested"):
        published = value("phase") == core.PUBLISHED
        timed = value("phase") >= core.READY and value("completed")
        ending: Any = "crashed" if value("dead_writer") and not published else "completed" if published else "pending"
        yield Bar(
            name, lane, columns[value("requested")], columns[value("completed")] if timed else end, ending,
            f"t{value('requested')}", f"t{value('completed')}" if timed else "",
            STEPS["phase"].get(str(value("phase")), ""), True,
        )  # fmt: skip
    for planned, done, since, until, word in (
        ("planned", "done", "barrier", "compacted", "compaction"),
        ("operation_planned", "operation_done", "operation_requested", "operation_completed", "service"),
    ):
        if value(planned) and value(since):
            at = columns[value(until)] if value(done) and value(until) else end
            yield Bar(
                name, lane, columns[value(since)], at, "completed" if value(done) else "pending", f"t{value(since)}",
                f"t{value(until)}" if value(done) else "", word, barrier=since == "barrier",
            )  # fmt: skip
