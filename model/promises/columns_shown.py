"""Checks which added columns a read shows, and whether each row has values in the columns that its writer knew.

The rows of each log are checked separately, because the only row of a key may come from any log. A row must have values
in all columns that its writer knew and that existed as of the read's time. A read must show an added column if the
schema change completed by the read's time. A read must not show a column added after the read's time.
"""

from __future__ import annotations

from math import inf

from ..kernel.merge import Fold, logs_of
from ..kernel.table import Log
from ..machine.marks import mark
from ..mechanisms.schema_evolution.rules import Schemas, columns, had_at, kept_of, schemas_of, shown_at
from .sentences import write_named
from .view import View


def columns_broken(view: View, what: str, group: int, fold: Fold, time: float) -> str | None:
    """Return a sentence about wrong columns in a read as of `time` (infinity for a snapshot); None if the columns are
    right.
    """
    if not (schemas := schemas_of(view.table)):
        return None
    shown, most = shown_at(view.model.rules, view.table, time), had_at(schemas, time)
    for log in sorted(logs_of(fold)):
        if (write := view.done.get(log[0])) is None:
            continue
        has = min(columns(write), shown, kept_of(fold, log))
        if has < min(columns(write), most):
            of = write_named(write, log[0])
            return f"{what} in group {group} shows the row of {of} without column c{int(has) + 1}"
    least = max((each.columns for each in mark(view.table, Schemas).altered if each.completed <= time), default=0)
    if least <= shown <= most:  # between the two a change of columns is under way
        return None
    return f"{what} shows {shown} of the columns that were added, not {least if shown < least else most}"


def columns_changed(old: View, new: View, group: int, time: float) -> str | None:
    """Return a phrase if a read as of `time` shows different columns in two states; None otherwise. A snapshot query
    always shows the current columns, so its set of columns is not compared, only the values of rows.
    """
    if not schemas_of(new.table):
        return None
    if time != inf:
        before, after = (shown_at(view.model.rules, view.table, time) for view in (old, new))
        if before != after:
            return f"in group {group}: it showed {before} of the columns that were added, and now shows {after}"
    had, has = (_left(view, group, time) for view in (old, new))
    for log in sorted(had.keys() & has.keys()):
        if had[log] != has[log]:
            name = write_named(new.done.get(log[0]), log[0])
            return f"in group {group}: of the row of {name} it showed {had[log]} added columns and now shows {has[log]}"
    return None


def _left(view: View, group: int, time: float) -> dict[Log, int]:
    fold = view.as_of(group, time)
    here = (log for log in logs_of(fold) if log[0] in view.done)
    return {log: int(min(columns(view.done[log[0]]), kept_of(fold, log))) for log in here}
