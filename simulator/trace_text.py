"""Renders a trace as fixed-width text, with a line for each step and a column for each actor. The reason for the
verdict and the replay command follow.

The columns are the step number, the actors in order of appearance, and the changes on the timeline or the answer of a
read. If the columns do not fit on the screen, an actor's column contains only the actor's name, and a further column
describes the step. The text depends only on the trace and the width, so that replays of a trace print identical text.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Final

from nbcc.model import Step, extensions
from nbcc.model.mechanisms import kinds

from .trace import Trace, context_switches


def render(trace: Trace, again: str | None = None, width: int | None = None) -> str:
    """Return the trace as lines of text. The last line contains the command that replays the trace. The text does not
    end with a newline.

    `again` is the command that repeats the run; the default is `nbcc replay` with the trace's handle. `width` is the
    maximum line length; None means unlimited.
    """
    table = list(_table(trace))
    if width is not None and max(map(len, table)) > width:
        table = list(_narrow(trace, width))
    return "\n".join([*_head(trace), "", *table, "", *_foot(trace, again, width)])


def wrapped(line: str, width: int | None) -> str:
    """Wrap a line after at most `width` characters. If `width` is None, the line is returned unchanged."""
    if width is None or len(line) <= width:
        return line
    return textwrap.fill(line, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def screen_width() -> int | None:
    """Return the width of the terminal, or None if standard output is a file or a pipe."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def cell(step: Step) -> str:
    """Return a step's action and arguments as text, such as ``writes log (group 0, version 1)``. The actor's kind is
    omitted.
    """
    actor = next((kind for kind in ("actor", *kinds()) if step.action.startswith(f"{kind}_")), "")
    words = step.action.removeprefix(f"{actor}_").replace("_", " ")
    args = ", ".join(f"{name} {_shown(value)}" for name, value in step.args)
    return words + (f" ({args})" if args else "")


def _head(trace: Trace) -> Iterator[str]:
    actors = {step.actor for step in trace.steps}
    counts = {"step": len(trace.steps), "context switch": context_switches(trace.steps), "actor": len(actors)}
    size = ", ".join(counted(count, noun) for noun, count in counts.items())
    yield f"{trace.verdict or 'TRACE'}  {trace.promise + '  ' if trace.promise else ''}{trace.title}".rstrip()
    yield f"  {size}"
    yield f"  world     {_world(trace)}"
    yield f"  protocol  {_pairs(trace.protocol.differences()) or 'default: keeps every promise'}"


def _world(trace: Trace) -> str:
    world = trace.world
    actors = ", ".join(counted(count, kind) for kind, count in world.actors.items() if count)
    table = f"{world.partitions} x {world.buckets} file groups, {world.merge_mode.lower().replace('_', ' ')}"
    return f"{world.name + ': ' if world.name else ''}{actors}; {table}"


def counted(count: int, noun: str) -> str:
    """Return a count with its noun, such as `1 step` or `2 context switches`."""
    plural = f"{noun}es" if noun.endswith("ch") else f"{noun}s"
    return f"{count} {noun if count == 1 else plural}"


CYCLE = "  the run repeats the following steps permanently:"
"""The line before the cycle of a lasso."""


def _table(trace: Trace) -> Iterator[str]:
    actors = list(dict.fromkeys(step.actor for step in trace.steps))
    widths = {a: max([len(a), *(len(cell(s)) for s in trace.steps if s.actor == a)]) for a in actors}
    number = len(str(len(trace.steps)))
    yield _line(" " * number, [actor.ljust(widths[actor]) for actor in actors], "on the timeline")
    observed = trace.observed or ({},) * len(trace.steps)
    for i, (step, seen) in enumerate(zip(trace.steps, observed, strict=True), start=1):
        cells = [(cell(step) if step.actor == actor else "").ljust(widths[actor]) for actor in actors]
        if i == len(trace.steps) - trace.cycle + 1:
            yield CYCLE
        yield _line(str(i).rjust(number), cells, "; ".join(_new(seen)))


def _narrow(trace: Trace, width: int) -> Iterator[str]:
    actors = list(dict.fromkeys(step.actor for step in trace.steps))
    number = len(str(len(trace.steps)))
    lanes = sum(len(actor) + 1 for actor in actors)
    longest = max(len(cell(step)) for step in trace.steps)
    left = min(longest, max(20, (width - number - lanes - 8) * 3 // 5))
    right = max(16, width - number - lanes - left - 8)
    observed = trace.observed or ({},) * len(trace.steps)
    for i, (step, seen) in enumerate(zip(trace.steps, observed, strict=True), start=1):
        if i == len(trace.steps) - trace.cycle + 1:
            yield CYCLE
        names = " ".join((step.actor if step.actor == actor else "").ljust(len(actor)) for actor in actors)
        steps = textwrap.wrap(cell(step), left)
        effects = textwrap.wrap("; ".join(_new(seen)), right)
        for line, (done, effect) in enumerate(zip_longest(steps, effects, fillvalue="")):
            start = f"  {i:{number}} | {names}" if line == 0 else f"  {'':{number}} | {'':{len(names)}}"
            yield f"{start} | {done:{left}} | {effect}".rstrip(" |")


def _line(number: str, cells: Sequence[str], effect: str) -> str:
    return f"  {number} | " + " | ".join(cells) + f" | {effect}".rstrip()


def _new(seen: Mapping[str, Sequence[str]]) -> Iterator[str]:
    yield from seen.get("timeline", ())
    for name in ("snapshot", "read"):
        if name in seen:
            yield f"{name}: {', '.join(seen[name]) or 'no rows'}"


def _foot(trace: Trace, again: str | None, width: int | None) -> Iterator[str]:
    if trace.because:
        yield wrapped(f"because {trace.because}", width)
    if trace.found_by:
        yield f"found by {trace.found_by}"
    yield f"handle {trace.handle}; see it again: {again or replay_command(trace)}{_place_words(trace, again)}"


def replay_command(trace: Trace) -> str:
    """Return the command that replays a saved trace, with the extensions that are loaded."""
    return f"nbcc replay {trace.handle}{module_words()}"


def module_words() -> str:
    """Return the options `--module` that load the present extensions."""
    return "".join(f" --module {shlex.quote(os.path.relpath(file))}" for file in extensions.files())


SELECTS_SYSTEM: Final = re.compile(r"--(on|system) .*$")
"""The last option of the command that found a disagreement: it selects the system."""


def _place_words(trace: Trace, again: str | None) -> str:
    if trace.verdict != "DISAGREED" or (again and re.search(SELECTS_SYSTEM, again)):
        return ""
    named = re.search(SELECTS_SYSTEM, trace.found_by)
    return f" {named[0] if named else '--on engine'}"


def _pairs(given: Mapping[str, str]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in given.items())


def _shown(value: object) -> str:
    if isinstance(value, tuple | list):
        return " ".join(map(str, value)) if value else "nothing"
    return str(value)
