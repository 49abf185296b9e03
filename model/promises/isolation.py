"""Defines promise ISO, and detects which isolation anomalies can occur under a protocol (RFC-22).

A transaction is a write that reads file groups when it begins (`World.reads`; by default the groups that it writes).
Each entry of `ANOMALIES` is a promise that one anomaly cannot occur. If the promise about an anomaly is VIOLATED, the
anomaly can occur under the protocol. ISO is the promise that optimistic writers cause no lost update and no write skew.
All concurrency modes exclude dirty reads, non-repeatable reads and phantom reads. In addition, the mode `occ` excludes
lost updates, and write skew between writes that declare their reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

from ..kernel.merge import Fold
from ..kernel.table import Write
from ..kernel.writer import WRITER
from ..machine.state import State
from ..machine.transition import Step
from ..mechanisms.conditions import DELETE, groups_read, has_seen, verb_of
from ..model import Model
from .conflicts import first_or_none, under_occ
from .erased import row_survives_delete
from .promise import Promise
from .reads import atomic_holds
from .sentences import key_given, row_of, write_named
from .valuations import of_merger, read
from .view import View, on_table, on_table_and_readers, settled_times, view_of

Holds = Callable[[Model, State | None, Step | None, State], str | None]


def dirty_read(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """The anomaly in which a read sees a write that has not completed, or only a part of a write."""
    return atomic_holds(model, before, step, after)


def non_repeatable_read(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """A read that is repeated as of the same time returns a changed row, or omits a row that it returned before."""
    return _changed(model, before, after, appears=False)


def phantom_read(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """A read that is repeated as of the same time returns a row that it did not return before."""
    return _changed(model, before, after, appears=True)


def _changed(model: Model, before: State | None, after: State, appears: bool) -> str | None:
    assert before is not None
    old, new = view_of(model, before), view_of(model, after)
    # Views are cached by what they show: the same object shows the same answers, and most steps change none.
    for time in settled_times(model, before) if old is not new else ():
        for group in new.groups:
            if change := _row_changes(new, group, old.as_of(group, time), new.as_of(group, time), appears=appears):
                return f"the read as of t{time} changed in group {group}: {change}"
    return None


def _row_changes(view: View, group: int, one: Fold, other: Fold, *, appears: bool) -> str | None:
    if one == other:
        return None
    names = view.names(group, one, other)
    for rows in of_merger(len(names), view.merger):
        had, has = (read(view.renamed(fold, names), rows, view.merger, deletes=False) for fold in (one, other))
        if had != has and (had is None) == appears:
            # Valuations name logs by their places in the merge order; the sentence names the writes of this state.
            own = view.unnamed(rows, names)
            was, is_now = (read(fold, own, view.merger, deletes=False) for fold in (one, other))
            return f"{key_given(own, view.writes)} showed {row_of(was, view.writes)}, now {row_of(is_now, view.writes)}"
    return None


def lost_update(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """Two completed transactions read and wrote the same file group, and neither saw the other's write."""
    return first_or_none(_lost(model, after, all_writers=True))


def write_skew(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """Each of two completed transactions read a file group that the other wrote, and neither saw the other's write."""
    return first_or_none(_skewed(model, after, all_writers=True))


def isolation_holds(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """Check promise ISO: optimistic writers cause no lost update and no write skew. Read anomalies are excluded by the
    promises SNAP, TRAVEL and ATOM.
    """
    lost, skewed = (anomaly(model, after, all_writers=False) for anomaly in (_lost, _skewed))
    return first_or_none(lost) or first_or_none(skewed)


def _overlapping(model: Model, state: State, all_writers: bool) -> Iterator[tuple[Write, Write]]:
    writes = [entry for entry in model.component(state, "published") if isinstance(entry, Write)]
    for earlier, later in combinations(writes, 2):
        if not has_seen(model.world, later, earlier) and (all_writers or under_occ(model, later.actor)):
            yield earlier, later


def _read_by(model: Model, write: Write) -> set[int]:
    read = groups_read(model.world, write.actor, write.number)
    return set(write.groups if read is None else read)


def _verbs(model: Model, one: Write, other: Write) -> set[str]:
    return {verb_of(model.world, each.actor) for each in (one, other)}


def _lost(model: Model, state: State, all_writers: bool) -> Iterator[str]:
    for one, other in _overlapping(model, state, all_writers):
        if _verbs(model, one, other) == {DELETE}:
            continue  # a row that both delete is deleted, in either order
        # By file group, as the writers of the model check it; two keys of a group count as one.
        if both := set(one.groups) & set(other.groups) & _read_by(model, one) & _read_by(model, other):
            yield (
                f"lost update: {write_named(one, one.requested)} and {write_named(other, other.requested)} both read "
                f"and wrote group {min(both)}, and neither saw the other"
            )


def _skewed(model: Model, state: State, all_writers: bool) -> Iterator[str]:
    for one, other in _overlapping(model, state, all_writers):
        if DELETE in _verbs(model, one, other):
            continue  # a delete makes no row match: the other would have had to write the row as well
        reads_other, read_by_other = _read_by(model, one) & set(other.groups), _read_by(model, other) & set(one.groups)
        if reads_other and read_by_other and not set(one.groups) & set(other.groups):
            yield (
                f"write skew: {write_named(one, one.requested)} read group {min(reads_other)}, which "
                f"{write_named(other, other.requested)} wrote, and the other way round in group {min(read_by_other)}"
            )


def _overlapped(model: Model, state: State) -> bool:
    return any(True for _ in _overlapping(model, state, all_writers=True)) or any(
        model.component(state, me).step == "aborted" for me in model.actors_of(WRITER) if under_occ(model, me)
    )


def _no_optimistic_writer(model: Model) -> str | None:
    if any(under_occ(model, me) for me in model.actors_of(WRITER)):
        return None
    return "no writer is optimistic; other modes isolate reads only"


ISO = Promise(
    name="ISO",
    about="Under optimistic writers no update is lost, and writes that declare their reads have no write skew.",
    source="RFC-22, fundamentals: serializable snapshot isolation by optimistic locking",
    kind="state",
    holds=isolation_holds,
    sometimes=_overlapped,
    reads=lambda model: ("published", *(me for me in model.actors_of(WRITER) if under_occ(model, me))),
    unfit=_no_optimistic_writer,
)


def _anomaly(name: str, holds: Holds, kind: str) -> Promise:
    return Promise(
        name=name,
        about=(holds.__doc__ or "").strip(),
        source="RFC-22, fundamentals",
        kind="step" if kind == "step" else "state",
        holds=holds,
        sometimes=lambda model, state: len(model.component(state, "published")) > 1,
        reads=on_table_and_readers if kind == "reads" else on_table,
    )


ANOMALIES: dict[str, Promise] = {
    each.name: each
    for each in (
        _anomaly("dirty read", dirty_read, "reads"),
        _anomaly("non-repeatable read", non_repeatable_read, "step"),
        _anomaly("phantom read", phantom_read, "step"),
        _anomaly("lost update", lost_update, "state"),
        _anomaly("write skew", write_skew, "state"),
        _anomaly("row survives delete", row_survives_delete, "state"),
    )
}
"""Name -> the promise that it cannot happen."""
