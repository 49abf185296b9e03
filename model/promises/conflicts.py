"""Promises about writes that meet: FIRST of writers that look for conflicts, KEY of where a key lives."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

from ..kernel.table import Compaction, Write
from ..machine.state import State
from ..machine.transition import Step, record_of
from ..mechanisms.file_ids import file_id_of, new_file_ids
from ..mechanisms.insert_overwrite import replaced_groups
from ..mechanisms.occ.options import Occ, Validation
from ..mechanisms.occ.validation import ABORTED
from ..mechanisms.restores.rules import is_undone
from ..model import Model
from .promise import Promise, components_in, protocol_of
from .sentences import write_named

Published = tuple[Write | Compaction, ...]
LOOKING = ("writer", "overwriter")
"""The kinds of actors that look for conflicts and abort."""


def first_holds(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """FIRST: of two overlapping writes of one bucket the second to complete does not publish; an abort has a reason."""
    writes = _writes(model.component(after, "published"))
    for earlier, later in combinations(writes, 2):
        if looks(model, later.actor) and _conflict(earlier, later):
            group = min(set(earlier.groups) & set(later.groups))
            return (
                f"{write_named(later, later.requested)} is published although "
                f"{write_named(earlier, earlier.requested)} wrote group {group} after it had begun"
            )
    for me in _who_may_abort(model):
        own = model.component(after, me)
        if own.step != ABORTED or is_undone(model.restores(after), own.requested):
            continue  # the restore that has undone its write may have undone the one that it names
        groups = _touched(model, me, own.number)
        conflict = record_of(own, Validation).conflict
        if wrong := _no_reason(conflict, own.requested, groups, model.component(after, "published")):
            return f"{me} aborts its write (requested t{own.requested}) because of {wrong}"
    return None


def _touched(model: Model, me: str, number: int) -> set[int]:
    """The file groups of what an actor is about to publish, and those on which that rests."""
    if me in model.actors_of("overwriter"):
        return set(replaced_groups(model.world, me))
    return {group for group, _ in model.world.files(me, number)} | set(model.world.reads.get((me, number), ()))


def _no_reason(named: int, since: int, groups: set[int], published: Published) -> str | None:
    entry = next((entry for entry in published if entry.requested == named), None)
    if entry is None:
        return f"the write requested at t{named}, which has not completed"
    if not isinstance(entry, Write):
        return f"the {entry.action} requested at t{named}, which is no write"
    if not groups & set(entry.groups):
        return f"{write_named(entry, named)}, with which it shares no bucket"
    if (entry.completed or 0) < since:
        return f"{write_named(entry, named)}, which was there before it began"
    return None


def first_or_none(sentences: Iterable[str]) -> str | None:
    """The first of them, if there is one."""
    return next(iter(sentences), None)


def key_holds(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """KEY: all completed writes that can hold a key put it into the same file group."""
    return key_twice(_writes(model.component(after, "published")))


def key_twice(writes: Iterable[Write]) -> str | None:
    """The sentence about a key that two completed writes have put into two file groups, None if there is none."""
    for one, other in combinations(writes, 2):
        for group in sorted(set(one.groups) & set(other.groups)):
            if file_id_of(new_file_ids(one), group) != file_id_of(new_file_ids(other), group):
                return (
                    f"a key of bucket {group} that both write lives twice: {write_named(one, one.requested)} and "
                    f"{write_named(other, other.requested)} have put it into file groups of their own"
                )
    return None


def under_occ(model: Model, actor: str) -> bool:
    """Whether a writer is optimistic."""
    return protocol_of(model, actor)[Occ].concurrency == "occ"


def _who_may_abort(model: Model) -> tuple[str, ...]:
    return tuple(me for kind in LOOKING for me in model.actors_of(kind) if under_occ(model, me))


def _writes(published: Published) -> tuple[Write, ...]:
    return tuple(entry for entry in published if isinstance(entry, Write))


def looks(model: Model, actor: str) -> bool:
    """Whether a writer promises that nothing conflicts: only NBCC does without."""
    return protocol_of(model, actor)[Occ].concurrency != "nbcc"


def _conflict(earlier: Write, later: Write) -> bool:
    """Both wrote a bucket, and the second began before the first was complete."""
    return later.requested < (earlier.completed or 0) and bool(set(earlier.groups) & set(later.groups))


def _met(model: Model, state: State) -> bool:
    """A writer has aborted, or one that looks has published beside another write."""
    if any(model.component(state, me).step == "aborted" for me in _who_may_abort(model)):
        return True
    pairs = combinations(_writes(model.component(state, "published")), 2)
    return any(looks(model, later.actor) and later.requested < (earlier.completed or 0) for earlier, later in pairs)


def _two_writes(model: Model, state: State) -> bool:
    return len(_writes(model.component(state, "published"))) > 1


def _nobody_looks(model: Model) -> str | None:
    if any(looks(model, me) for kind in LOOKING for me in model.actors_of(kind)):
        return None
    return "every writer is non-blocking: none promises to abort"


FIRST = Promise(
    name="FIRST",
    about="Of two overlapping writes of one bucket at most one completes; an abort names a completed one.",
    source="RFC-22, concurrency control, option 1",
    kind="state",
    holds=first_holds,
    sometimes=_met,
    reads=lambda model: ("published", *components_in(model, "restores"), *_who_may_abort(model)),
    unfit=_nobody_looks,
)
KEY = Promise(
    name="KEY",
    about="A key lives in one file group of its partition at every T.",
    source="RFC-22, guarantees: integrity of unique records; RFC-66, consistent file ids",
    kind="state",
    holds=key_holds,
    sometimes=_two_writes,
    reads=lambda model: ("published",),
)
