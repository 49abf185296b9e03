"""Promise ERASED: after an acknowledged delete by a condition, no later read shows a matching row that was written
before the delete (docs/contract.md).

The read set of such a delete is a set of keys: the delete removes the rows that match in the state that it has read. A
row may match any condition, except that a row which the delete has read and left does not match.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import inf
from typing import NamedTuple

from ..kernel.merge import Fold, Merger
from ..kernel.table import Log, Write
from ..kernel.writer import WRITER
from ..machine.marks import mark
from ..machine.state import State
from ..machine.transition import Step
from ..mechanisms.conditions import DELETE, RowsRead, verb_of
from ..model import Model
from .conflicts import first_or_none, under_occ
from .promise import Promise
from .sentences import key_given, row_of, write_named
from .valuations import Shown, Valuation, expected, of_merger, read
from .view import View, answered_times, distinct_times, on_table, view_of

NO_LOG: Log = (0, 0)


class Changer(NamedTuple):
    """A write that was computed from a read: its log in one file group (`NO_LOG` if it has none there), its verb, and
    the logs of the group that it had read.
    """

    log: Log
    verb: str
    seen: tuple[Log, ...]


def erased_holds(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """Check promise ERASED for optimistic writers, which abort if a row that matches may have been written meanwhile.
    """
    return first_or_none(_shown_again(model, after, all_writers=False))


def row_survives_delete(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """A read shows a row that matches the condition of an earlier delete, and that was written before this delete."""
    return first_or_none(_shown_again(model, after, all_writers=True))


def _shown_again(model: Model, state: State, all_writers: bool) -> Iterator[str]:
    view = view_of(model, state)
    deletes = [
        write for write in view.completions
        if verb_of(model.world, write.actor) == DELETE and (all_writers or under_occ(model, write.actor))
    ]  # fmt: skip
    times = (inf, *distinct_times(view, answered_times(model, state))) if deletes else ()
    for delete in deletes:
        for time in times:
            # A read as of an earlier time rightly shows the rows.
            for group in view.groups if time >= (delete.completed or 0) else ():
                if broken := _survives(view, delete, group, time):
                    what = "the snapshot" if time == inf else f"the read as of t{time}"
                    yield f"{what} in group {group} {broken}"


def _survives(view: View, delete: Write, group: int, time: float) -> str | None:
    fold, logs = view.as_of(group, time), view.logs(group)
    names = view.names(group, fold)
    earlier = tuple(names[log] for log in logs if (view.done[log[0]].completed or 0) < (delete.completed or 0))
    changers = tuple(_changer(view, group, write, names) for write in view.completions if _verb(view, write))
    own = _changer(view, group, delete, names)
    found = survivor(view.renamed(fold, names), len(names), view.merger, changers, own, earlier)
    if found is None:
        return None
    rows = view.unnamed(found, names)
    shown = row_of(read(fold, rows, view.merger, deletes=False), view.writes)
    return (
        f"shows {shown}, which was written before {write_named(delete, delete.requested)} deleted the rows that match: "
        f"{key_given(rows, view.writes)}"
    )


def _verb(view: View, write: Write) -> str:
    return verb_of(view.model.world, write.actor)


def _changer(view: View, group: int, write: Write, names: dict[Log, Log]) -> Changer:
    seen = mark(write, RowsRead).seen
    read_logs = tuple(names[each] for each in view.logs(group) if each[0] in seen)
    return Changer(names.get((write.requested, 1), NO_LOG), _verb(view, write), read_logs)


@lru_cache(maxsize=1 << 16)
def survivor(
    fold: Fold, count: int, merger: Merger, changers: tuple[Changer, ...], delete: Changer, earlier: tuple[Log, ...]
) -> Valuation | None:
    """Return the first valuation (records of one key) for which a read shows a row of a log in `earlier` that matches
    the condition of the write `delete`; None if there is none.
    """
    for rows in of_merger(count, merger):
        if not all(_is_computed(changer, rows, merger) for changer in changers):
            continue
        shown = read(fold, rows, merger, deletes=False)
        left = delete.log not in rows and shown == _row_read(delete, rows, merger)
        if shown in earlier and not left:
            return rows
    return None


def _is_computed(changer: Changer, rows: Valuation, merger: Merger) -> bool:
    """True if the record of a write is one that its writer can have computed from the row that it has read."""
    record, shown = rows.get(changer.log), _row_read(changer, rows, merger)
    if record is None:
        return True
    is_there = shown is not None and record.ordering == rows[shown].ordering  # type: ignore[index]
    return is_there and record.deleted == (changer.verb == DELETE)


def _row_read(changer: Changer, rows: Valuation, merger: Merger) -> Shown:
    return expected(changer.seen, rows, merger, deletes=False)


def _no_optimistic_delete(model: Model) -> str | None:
    if any(verb_of(model.world, me) == DELETE and under_occ(model, me) for me in model.actors_of(WRITER)):
        return None
    return "no optimistic writer deletes by a condition; other modes delete what matched when they read"


def _deleted(model: Model, state: State) -> bool:
    writes = view_of(model, state).completions
    return len(writes) > 1 and any(verb_of(model.world, write.actor) == DELETE for write in writes)


ERASED = Promise(
    name="ERASED",
    about="After an acknowledged delete by a condition no read shows a matching row that was written before it.",
    source="docs/contract.md, ERASED; serializable deletes by predicate (Berenson et al., 1995, phantoms)",
    kind="state",
    holds=erased_holds,
    sometimes=_deleted,
    reads=on_table,
    unfit=_no_optimistic_delete,
)
