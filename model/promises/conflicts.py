"""Promises about concurrent writes: FIRST (of two conflicting writes, at most one is published) and KEY (all records of
a key are in one file group).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations

from ..kernel.table import Compaction, Write
from ..kernel.writer import WRITER
from ..machine.state import State
from ..machine.transition import Step, record_of
from ..mechanisms.conditions import RowsRead, began, groups_read
from ..mechanisms.file_ids import file_id_of, new_file_ids
from ..mechanisms.insert_overwrite import OVERWRITER, replaced_groups
from ..mechanisms.occ.conflicts import ABORTED, Occ, Validation
from ..mechanisms.record_index.rules import InsertLimits, file_groups_shown
from ..mechanisms.resizes.mechanism import RESIZER
from ..mechanisms.resizes.rules import ResizeLimits, generations_shown
from ..mechanisms.resizes.sort_order import places
from ..mechanisms.restores.rules import is_undone
from ..model import Model
from .flink import conflict_with_own, flink_jobs
from .promise import Promise, components_in, protocol_of
from .sentences import write_named
from .view import answered_times, on_table, view_of

Published = tuple[Write | Compaction, ...]
CHECKING = (WRITER, OVERWRITER)
"""The kinds of actors that check for conflicts and abort."""


def first_holds(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """Check promise FIRST: if two writes to one bucket overlap, at most one of them is published. An aborted writer
    must name a completed, conflicting write.
    """
    published = model.component(after, "published")
    seen = _seen_at_begin(model, after)
    # `published` is in the order of publication, so each pair is named in that order.
    for earlier, later in combinations(_writes(published), 2):
        others = earlier.actor != later.actor  # a Flink job orders its own writes by the keys of its checkpoints
        if others and checks_conflicts(model, later.actor) and _conflict(earlier, later, seen):
            group = min(set(earlier.groups) & set(later.groups))
            return (
                f"{write_named(later, later.requested)} is published although "
                f"{write_named(earlier, earlier.requested)} wrote group {group} after it had begun"
            )
    for me in _may_abort(model):
        own = model.component(after, me)
        if own.step != ABORTED or is_undone(model.restores(after), own.requested):
            continue  # The restore that has undone this write may also have undone the conflicting one.
        groups = _touched(model, me, own.number)
        conflict = record_of(own, Validation).conflict
        since = began(model.world, me, own.requested, record_of(own, RowsRead))
        if wrong := _no_reason(conflict, since, groups, published, seen):
            return f"{me} aborts its write (requested t{own.requested}) because of {wrong}"
    return conflict_with_own(model, after)


def _touched(model: Model, me: str, number: int) -> set[int]:
    if me in model.actors_of(OVERWRITER):
        return set(replaced_groups(model.world, me))
    return {group for group, _ in model.world.files(me, number)} | {*(groups_read(model.world, me, number) or ())}


def _seen_at_begin(model: Model, state: State) -> Mapping[int, Published]:
    """Return what each announced write had seen completed when it began, by its requested time.

    Entries assign completion times without the lock, so a requested time does not order a write among the commits.
    """
    if "footprints" not in model.components:
        return {}
    published = model.component(state, "published")
    return {each.requested: published[: each.attempt.sealed] for each in model.component(state, "footprints")}


def _no_reason(
    named: int, since: int, groups: set[int], published: Published, seen: Mapping[int, Published]
) -> str | None:
    entry = next((entry for entry in published if entry.requested == named), None)
    if entry is None:
        return f"the write requested at t{named}, which has not completed"
    if not isinstance(entry, Write):
        return f"the {entry.action} requested at t{named}, which is not a write"
    if not groups & set(entry.groups):
        return f"{write_named(entry, named)}, with which it shares no bucket"
    if entry in seen[since] if since in seen else (entry.completed or 0) < since:
        return f"{write_named(entry, named)}, which had completed before it began"
    return None


def first_or_none(sentences: Iterable[str]) -> str | None:
    """Return the first violation message in `sentences`; None if there are none."""
    return next(iter(sentences), None)


def key_holds(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """Check promise KEY: all completed writes that can contain a key put the key into the same file group. In a resized
    table, a read as of any time opens one file group that holds the key. Under a record index, at most one shows it.
    """
    if broken := key_twice(_writes(model.component(after, "published"))) or inserted_twice(model, after):
        return broken
    return _opened_twice(model, after) if model.actors_of(RESIZER) else None


def inserted_twice(model: Model, state: State) -> str | None:
    """Return a sentence about a read that shows new keys in two file groups; None if there is no such read."""
    if not model.world[InsertLimits].new_keys:
        return None
    table = view_of(model, state).table
    for time in answered_times(model, state):
        if len(shown := file_groups_shown(model.rules, table, time)) > 1:
            return f"the read as of t{time} shows the new keys in the file groups {' and '.join(map(str, shown))}"
    return None


def _opened_twice(model: Model, state: State) -> str | None:
    table = view_of(model, state).table
    for time in answered_times(model, state):
        if len(shown := generations_shown(table, time)) != 1:
            several = " and ".join(f"t{generation}" for generation in shown)
            return f"the read as of t{time} opens a file group of each of the resizes {several} for one key"
        for group in range(model.world.groups) if model.world[ResizeLimits].sort_order else ():
            if len(found := places(model.rules, table, group, time)) > 1:
                several = " and ".join(map(str, sorted(found)))
                return f"the read as of t{time} shows a key of range {group} in the new file groups {several}"
    return None


def key_twice(writes: Iterable[Write]) -> str | None:
    """Return a sentence about a key that two completed writes put into different file groups; None if there is no such
    key.
    """
    for one, other in combinations(writes, 2):
        for group in sorted(set(one.groups) & set(other.groups)):
            if file_id_of(new_file_ids(one), group) != file_id_of(new_file_ids(other), group):
                both = f"{write_named(one, one.requested)} and {write_named(other, other.requested)}"
                what = f"a key of bucket {group} that both write is in two file groups"
                return f"{what}: {both} put it into different file groups"
    return None


def under_occ(model: Model, actor: str) -> bool:
    """True if a writer uses optimistic concurrency control."""
    return protocol_of(model, actor)[Occ].concurrency == "occ"


def _may_abort(model: Model) -> tuple[str, ...]:
    return tuple(me for kind in CHECKING for me in model.actors_of(kind) if under_occ(model, me))


def _writes(published: Published) -> tuple[Write, ...]:
    return tuple(entry for entry in published if isinstance(entry, Write))


def checks_conflicts(model: Model, actor: str) -> bool:
    """True unless the actor's concurrency mode is `nbcc`, the only mode that allows conflicting writes."""
    return protocol_of(model, actor)[Occ].concurrency != "nbcc"


def _conflict(earlier: Write, later: Write, seen: Mapping[int, Published]) -> bool:
    return _overlap(earlier, later, seen) and bool(set(earlier.groups) & set(later.groups))


def _overlap(earlier: Write, later: Write, seen: Mapping[int, Published]) -> bool:
    """True if the write `later` began before `earlier` had completed."""
    if later.requested in seen:
        return earlier not in seen[later.requested]
    return later.requested < (earlier.completed or 0)


def _met(model: Model, state: State) -> bool:
    if any(model.component(state, me).step == ABORTED for me in (*_may_abort(model), *flink_jobs(model))):
        return True
    pairs, seen = combinations(_writes(model.component(state, "published")), 2), _seen_at_begin(model, state)
    overlapping = (later for earlier, later in pairs if _overlap(earlier, later, seen))
    return any(checks_conflicts(model, later.actor) for later in overlapping)


def _by_table(model: Model) -> bool:
    return bool(model.actors_of(RESIZER) or model.world[InsertLimits].new_keys)


def _two_writes(model: Model, state: State) -> bool:
    return len(_writes(model.component(state, "published"))) > 1


def _compared(model: Model) -> tuple[str, ...]:
    return ("published", *components_in(model, "restores", "footprints"))


def _no_checks(model: Model) -> str | None:
    checking = (*(me for kind in CHECKING for me in model.actors_of(kind)), *flink_jobs(model))
    if any(checks_conflicts(model, me) for me in checking):
        return None
    return "every writer is non-blocking: none promises to abort"


FIRST = Promise(
    name="FIRST",
    about="Of two overlapping writes of one bucket at most one completes; an abort names a completed one.",
    source="RFC-22, concurrency control, option 1",
    kind="state",
    holds=first_holds,
    sometimes=_met,
    reads=lambda model: (*_compared(model), *_may_abort(model), *flink_jobs(model)),
    unfit=_no_checks,
)
KEY = Promise(
    name="KEY",
    about="A key is in one file group of its partition at every T.",
    source="RFC-22, guarantees: integrity of unique records; RFC-66, consistent file ids",
    kind="state",
    holds=key_holds,
    sometimes=_two_writes,
    reads=lambda model: on_table(model) if _by_table(model) else ("published",),
)
