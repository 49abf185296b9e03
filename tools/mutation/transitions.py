"""Mutants of transitions: a guard is dropped, or the effect on one component is skipped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any
from unittest.mock import patch

from nbcc.model import Model, assembly
from nbcc.model.machine.binding import Names
from nbcc.model.machine.bound import BoundGuard, BoundTransition
from nbcc.model.machine.composition import Composition
from nbcc.simulator.verdicts.kills import small_worlds

from .generated import Generated
from .probes import Probe


def transition_mutants() -> Iterator[Generated]:
    """Yield a mutant for every guard (except limits of the world) and every written component of every action."""
    seen: set[str] = set()
    for world in small_worlds():
        for row in Model(world).transitions:
            for name, operator, _ in _mutants_of(row):
                if name not in seen:
                    seen.add(name)
                    yield Generated(name, operator, partial(_changed, partial(_mutated, row.action, name)))


def _mutants_of(row: BoundTransition) -> Iterator[tuple[str, str, Callable[[], BoundTransition]]]:
    for guard in (*row.actor_guards, *row.guards):
        if not guard.limit:
            yield _name_of_guard(row, guard), "guard dropped", partial(_without_guard, guard, row)
    for component in row.writes:
        yield _name_of_effect(row, component), "effect skipped", partial(_without_effect, component, row)


def _name_of_guard(row: BoundTransition, guard: BoundGuard) -> str:
    return f"{row.action}: without guard: {guard.reason.replace(row.actor, 'it')}"


def _name_of_effect(row: BoundTransition, component: str) -> str:
    return f"{row.action}: without effect on {'its own component' if component == row.actor else component}"


def _mutated(action: str, mutant: str, row: BoundTransition) -> BoundTransition:
    if row.action != action:
        return row
    return next((change() for name, _, change in _mutants_of(row) if name == mutant), row)


def _without_guard(guard: BoundGuard, row: BoundTransition) -> BoundTransition:
    own, guards = (tuple(each for each in some if each is not guard) for some in (row.actor_guards, row.guards))
    return row._replace(actor_guards=own, guards=guards)


def _without_effect(component: str, row: BoundTransition) -> BoundTransition:
    def call(*values: Any, **args: Any) -> dict[str, Any]:
        return {name: value for name, value in row.effect.call(*values, **args).items() if name != component}

    return row._replace(effect=row.effect._replace(call=call))


@contextmanager
def _changed(change: Callable[[BoundTransition], BoundTransition]) -> Iterator[None]:
    bind = assembly.bound

    def changed(composition: Composition, names: Names) -> tuple[BoundTransition, ...]:
        return tuple(map(change, bind(composition, names)))

    with patch.object(assembly, "bound", changed):
        yield


def probed(probe: Probe) -> AbstractContextManager[None]:
    """Return a context in which guards and effects record the mutants that would return another value."""
    return _changed(partial(_probed, probe))


def _probed(probe: Probe, row: BoundTransition) -> BoundTransition:
    """Return a transition whose guards also read what the other guards read, and whose effect reads what it writes."""
    reads = tuple(dict.fromkeys((*row.effect.reads, *row.writes)))
    places = {name: reads.index(name) for name in row.writes}

    def call(*values: Any, **args: Any) -> dict[str, Any]:
        after = row.effect.call(*values[: len(row.effect.reads)], **args)
        for component, at in places.items():
            name = _name_of_effect(row, component)
            if component in after and probe.left((name,)):
                probe.note(name, after[component], partial(values.__getitem__, at))
        return dict(after)

    return row._replace(
        reads=tuple(dict.fromkeys((*row.reads, *row.writes))),
        actor_guards=tuple(_probed_guard(probe, row, guard, row.actor_guards) for guard in row.actor_guards),
        guards=tuple(_probed_guard(probe, row, guard, row.guards) for guard in row.guards),
        effect=row.effect._replace(call=call, reads=reads),
    )


def _probed_guard(
    probe: Probe, row: BoundTransition, guard: BoundGuard, together: tuple[BoundGuard, ...]
) -> BoundGuard:
    """Return a guard that records the mutant without it, which differs only where the guard is false and all others are
    true.
    """
    if guard.limit:
        return guard
    # Limits do not count: whether a limit alone stops an actor is evaluated without other guards.
    name, others = _name_of_guard(row, guard), [each for each in together if each is not guard and not each.limit]
    reads = tuple(dict.fromkeys((*guard.reads, *(each for other in others for each in other.reads))))
    asked = [(other, [reads.index(each) for each in other.reads]) for other in others]

    def holds(*values: Any) -> bool:
        found = bool(guard.holds(*values[: len(guard.reads)]))
        if not found and probe.left((name,)):
            probe.note(name, False, lambda: all(each.holds(*(values[i] for i in at)) for each, at in asked))
        return found

    return guard._replace(holds=holds, reads=reads)
