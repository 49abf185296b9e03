"""Mutants made of the table of actions: a guard dropped, or what an effect writes to one component skipped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any
from unittest.mock import patch

from nbcc.model import Model, actions
from nbcc.model.actions import Mechanism, Setting
from nbcc.model.step import Row

from ..verdicts.kills import small_worlds
from .generated import Generated, Place

Change = Callable[[Row], Row]


def of_rows() -> Iterator[Generated]:
    """Every guard but the budgets (limits of the world), and every written component, of every action there is."""
    seen: set[str] = set()
    for world in small_worlds():
        for row in Model(world).table_of_rows:
            for name, operator, change in _changes(row):
                if name not in seen:
                    seen.add(name)
                    yield Generated(name, operator, _changed(row.action, change), Place(row.action))


def _changes(row: Row) -> Iterator[tuple[str, str, Change]]:
    for which in ("own", "guards"):
        for i, guard in enumerate(getattr(row, which)):
            if not guard.budget:
                reason = guard.reason.replace(row.actor, "it")
                yield f"{row.action}: without guard: {reason}", "guard dropped", partial(_without_guard, which, i)
    for i, component in enumerate(row.writes):
        word = "its own component" if component == row.actor else component
        yield f"{row.action}: without effect on {word}", "effect skipped", partial(_without_effect, i)


def _without_guard(which: str, i: int, row: Row) -> Row:
    guards = getattr(row, which)
    return row._replace(**{which: guards[:i] + guards[i + 1 :]})


def _without_effect(i: int, row: Row) -> Row:
    at = row.reads.index(row.writes[i])

    def effect(*values: Any, **args: Any) -> tuple[Any, ...]:
        after = row.effect(*values, **args)
        return (*after[:i], values[at], *after[i + 1 :])

    return row._replace(effect=effect)


def _changed(action: str, change: Change) -> Callable[[], AbstractContextManager[None]]:
    @contextmanager
    def applied() -> Iterator[None]:
        found = actions.mechanisms

        def mechanisms() -> tuple[Mechanism, ...]:
            return tuple(m._replace(rows=partial(_rows, m.rows)) for m in found())

        def _rows(rows: Callable[[Setting], Iterator[Row]], setting: Setting) -> Iterator[Row]:
            return (change(row) if row.action == action else row for row in rows(setting))

        with patch.object(actions, "mechanisms", mechanisms):
            yield

    return partial(applied)
