"""Mutants made of the table of actions: a guard dropped, or what an effect writes to one component skipped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any
from unittest.mock import patch

from nbcc.model import Model, actions
from nbcc.model.actions import Mechanism, Setting
from nbcc.model.step import Guard, Row

from ..verdicts.kills import small_worlds
from .generated import Generated
from .probes import Probe


def of_rows() -> Iterator[Generated]:
    """Every guard but the budgets (limits of the world), and every written component, of every action there is."""
    seen: set[str] = set()
    for world in small_worlds():
        for row in Model(world).table_of_rows:
            for name, operator, _ in _changes(row):
                if name not in seen:
                    seen.add(name)
                    yield Generated(name, operator, partial(_changed, partial(_mutated, row.action, name)))


def _changes(row: Row) -> Iterator[tuple[str, str, Callable[[], Row]]]:
    for which in ("own", "guards"):
        for i, guard in enumerate(getattr(row, which)):
            if not guard.budget:
                yield _name_of_guard(row, guard), "guard dropped", partial(_without_guard, which, i, row)
    for i, component in enumerate(row.writes):
        yield _name_of_effect(row, component), "effect skipped", partial(_without_effect, i, row)


def _name_of_guard(row: Row, guard: Guard) -> str:
    return f"{row.action}: without guard: {guard.reason.replace(row.actor, 'it')}"


def _name_of_effect(row: Row, component: str) -> str:
    return f"{row.action}: without effect on {'its own component' if component == row.actor else component}"


def _mutated(action: str, mutant: str, row: Row) -> Row:
    """A row may have the guard in another place than others of its action, or not at all."""
    if row.action != action:
        return row
    return next((change() for name, _, change in _changes(row) if name == mutant), row)


def _without_guard(which: str, i: int, row: Row) -> Row:
    guards = getattr(row, which)
    return row._replace(**{which: guards[:i] + guards[i + 1 :]})


def _without_effect(i: int, row: Row) -> Row:
    row = _reading(row)
    at = row.reads.index(row.writes[i])

    def effect(*values: Any, **args: Any) -> tuple[Any, ...]:
        after = row.effect(*values, **args)
        return (*after[:i], values[at], *after[i + 1 :])

    return row._replace(effect=effect)


def _reading(row: Row) -> Row:
    """The row, given what it writes as well, where it is written whatever it was."""
    new = [name for name in row.writes if name not in row.reads]
    return row.reading(*new) if new else row


@contextmanager
def _changed(change: Callable[[Row], Row]) -> Iterator[None]:
    """Every row of every model that is made, changed."""
    found = actions.mechanisms

    def mechanisms() -> tuple[Mechanism, ...]:
        return tuple(m._replace(rows=partial(_rows, m.rows)) for m in found())

    def _rows(rows: Callable[[Setting], Iterator[Row]], setting: Setting) -> Iterator[Row]:
        return map(change, rows(setting))

    with patch.object(actions, "mechanisms", mechanisms):
        yield


def probed(probe: Probe) -> AbstractContextManager[None]:
    """All rows, each of whose guards and effects notes the mutants for which it would have been another."""
    return _changed(partial(_probed, probe))


def _probed(probe: Probe, row: Row) -> Row:
    row = _reading(row)
    own = tuple(_probed_guard(probe, row, guard, row.own) for guard in row.own)
    guards = tuple(_probed_guard(probe, row, guard, row.guards) for guard in row.guards)
    places = [(_name_of_effect(row, name), row.reads.index(name)) for name in row.writes]

    def effect(*values: Any, **args: Any) -> tuple[Any, ...]:
        after = row.effect(*values, **args)
        for (name, at), value in zip(places, after, strict=True):
            if probe.left((name,)):
                probe.note(name, value, partial(values.__getitem__, at))
        return after

    return row._replace(own=own, guards=guards, effect=effect)


def _probed_guard(probe: Probe, row: Row, guard: Guard, together: tuple[Guard, ...]) -> Guard:
    """Without a guard that is false a row is another where nothing else keeps it."""
    if guard.budget:
        return guard
    # Who asks whether a limit alone keeps somebody looks at the other conditions without it.
    name, others = _name_of_guard(row, guard), [each for each in together if each is not guard and not each.budget]

    def holds(*values: Any) -> bool:
        found = guard.holds(*values)
        if not found and probe.left((name,)):
            probe.note(name, False, lambda: all(other.holds(*values) for other in others))
        return found

    return guard._replace(holds=holds, rests_on=())  # the others may rest on more
