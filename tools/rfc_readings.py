"""RFC readings: the shortest run on which two readings of a rule in an RFC differ.

A reading is a protocol. Both readings read the same tables, which the default protocol produces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from nbcc.model import Model, Protocol, State, Step, World
from nbcc.model.assembly import rules_of
from nbcc.model.kernel.merge import Fold, logs_of
from nbcc.model.kernel.slicing import writes_by_slice
from nbcc.model.promises.valuations import differ, names_for, renamed
from nbcc.model.promises.view import View, view_of

Answer = Callable[[View, int, Protocol], Iterator[tuple[str, object]]]


class Difference(NamedTuple):
    """After `steps`, the value of `what` is `one` in the first reading and `other` in the second."""

    steps: tuple[Step, ...]
    what: str
    one: str
    other: str


class Compared(NamedTuple):
    """The result of a comparison: a shortest difference, or None after a search of all `states`."""

    difference: Difference | None
    states: int


def slices(view: View, group: int, reading: Protocol) -> Iterator[tuple[str, object]]:
    """The completed logs of each slice."""
    for barrier, writes in writes_by_slice(rules_of(reading), view.table, group).items():
        logs = tuple(log for w in writes if w.completed is not None for log in rules_of(reading).logs_of(w, group))
        yield f"the slice of {f't{barrier}' if barrier else 'no barrier'} in group {group}", logs


def as_of(view: View, group: int, reading: Protocol) -> Iterator[tuple[str, object]]:
    """The read as of every completion time."""
    for time in view.times:
        yield f"as of t{time} in group {group}", rules_of(reading).as_of(view.table, group, time)


def windows(view: View, group: int, reading: Protocol) -> Iterator[tuple[str, object]]:
    """The read of every incremental window."""
    for after, until in view.windows:
        answer = rules_of(reading).incremental(view.table, group, after, until)
        yield f"window (t{after}, t{until}] in group {group}", answer


ANSWERS: Final[dict[str, Answer]] = {"slices": slices, "as of": as_of, "windows": windows}


def compare(
    world: World,
    one: Protocol,
    other: Protocol,
    answer: Answer,
    *,
    where: Callable[[View], bool] = lambda view: True,
    most: int = 100_000,
) -> Compared:
    """Search breadth-first, and compare the readings of every table for which `where` is true.

    Raises:
        ValueError: the world has more than `most` states.
    """
    model = Model(world)
    came: dict[State, tuple[State, Step] | None] = {model.initial: None}
    judged: set[int] = set()  # the model caches views, so states with equal tables share one
    level = [model.initial]
    while level:
        if len(came) > most:
            raise ValueError(
                f"{world.name or 'the world'} has more than {most} states; compare readings in a smaller one"
            )
        later = []
        for state in level:
            view = view_of(model, state)
            if id(view) not in judged and where(view):
                judged.add(id(view))
                if found := _differs(view, one, other, answer):
                    return Compared(found._replace(steps=_run_to(came, state)), len(came))
            for step, after in model.successors(state):
                if after not in came:
                    came[after] = (state, step)
                    later.append(after)
        level = later
    return Compared(None, len(came))


def _differs(view: View, one: Protocol, other: Protocol, answer: Answer) -> Difference | None:
    for group in view.groups:
        found, instead = dict(answer(view, group, one)), dict(answer(view, group, other))
        for what in {**found, **instead}:
            left, right = found.get(what, ()), instead.get(what, ())
            if not _same(view, left, right):
                return Difference((), what, _words(left), _words(right))
    return None


def _same(view: View, left: object, right: object) -> bool:
    """Return whether two answers have equal rows for every valuation of a key, or two slices have the same logs."""
    if not isinstance(left, Fold) or not isinstance(right, Fold):
        return left == right
    named = (log for fold in (left, right) for log in (*logs_of(fold), *(fold.shown or ())))
    names = names_for(tuple(sorted({*named})))
    return differ(renamed(left, names), renamed(right, names), len(names), view.merger, deletes=True) is None


def _words(answer: object) -> str:
    if isinstance(answer, Fold):
        base = "no base file" if answer.base is None else f"a base file of {_logs(tuple(logs_of(answer.base)))}"
        shown = "" if answer.shown is None else f", of which those of {_logs(answer.shown)} are shown"
        return f"{base}, {_logs(tuple(logs_of(answer._replace(base=None))))}{shown}"
    return _logs(answer)  # type: ignore[arg-type]  # a slice is its logs


def _logs(logs: tuple[tuple[int, int], ...]) -> str:
    return "logs of " + ", ".join(f"t{requested}" for requested, _ in logs) if logs else "no log"


def _run_to(came: dict[State, tuple[State, Step] | None], state: State) -> tuple[Step, ...]:
    steps: list[Step] = []
    while before := came[state]:
        state, step = before
        steps.append(step)
    return tuple(reversed(steps))
