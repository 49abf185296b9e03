"""Compares a read with the required answer, which the oracle computes, or with another read. Each comparison returns a
sentence about the difference, or None if there is no difference.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..kernel.merge import Fold, logs_of
from ..kernel.table import Log
from .sentences import key_given, row_of, several, write_named
from .valuations import differ, differs_from_oracle, expected, read, reads_right
from .view import View


def against_oracle(
    view: View, what: str, group: int, fold: Fold, *, right: tuple[Log, ...], deletes: bool = False
) -> str | None:
    """Compare a read of one file group with the required answer. `right` contains the logs whose merge is the required
    answer.
    """
    if reads_right(fold, right, view.merger, deletes):
        return None
    names = view.names(group, fold, Fold(None, right))  # a replace may have hidden some of them since
    wanted = tuple(names[log] for log in right)
    rows = differs_from_oracle(view.renamed(fold, names), wanted, len(names), view.merger, deletes)
    if rows is None:
        return None
    own = view.unnamed(rows, names)
    found, should = read(fold, own, view.merger, deletes), expected(right, own, view.merger, deletes)
    return (
        f"{what} in group {group}{misses(view, fold, right)}: {key_given(own, view.writes)} shows "
        f"{row_of(found, view.writes)}, not {row_of(should, view.writes)}"
    )


def misses(view: View, fold: Fold, right: Iterable[Log]) -> str:
    """Return a phrase that lists the writes missing from a read and the surplus writes in it; '' if there are none."""
    held, wanted = {log[0] for log in logs_of(fold)}, {log[0] for log in right}
    parts = []
    if lost := sorted(wanted - held):
        parts.append("misses " + several(write_named(view.writes.get(at), at) for at in lost))
    if surplus := sorted(held - wanted):
        parts.append("holds " + several(write_named(view.writes.get(at), at) for at in surplus))
    return f" {several(parts)}" if parts else ""


def one_against_other(view: View, group: int, before: Fold, after: Fold, deletes: bool = False) -> str | None:
    """Return a phrase about a key whose row differs between two reads, before and after a step; None if none differs.
    """
    if before == after:
        return None
    names = view.names(group, before, after)
    rows = differ(view.renamed(before, names), view.renamed(after, names), len(names), view.merger, deletes)
    if rows is None:
        return None
    own = view.unnamed(rows, names)
    had, has = read(before, own, view.merger, deletes), read(after, own, view.merger, deletes)
    return (
        f"in group {group}: {key_given(own, view.writes)} showed {row_of(had, view.writes)} and now shows "
        f"{row_of(has, view.writes)}"
    )
