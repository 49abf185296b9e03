"""Promises about table services: QUIET (services change no answer) and PART (each log is in exactly one file slice)."""

from __future__ import annotations

from collections.abc import Hashable
from math import inf

from ..kernel.compactor import COMPACTOR
from ..kernel.merge import NOTHING, Fold, logs_of
from ..kernel.table import Log
from ..machine.state import State
from ..machine.transition import Step
from ..mechanisms.archiving.mechanism import ARCHIVER
from ..mechanisms.bulk_insert.rules import loaded
from ..mechanisms.cleaning.rules import Clean
from ..mechanisms.clustering import CLUSTERER
from ..mechanisms.insert_overwrite import ranks_at, replaced
from ..mechanisms.log_compaction.mechanism import LOG_COMPACTOR
from ..mechanisms.log_compaction.rules import with_inputs
from ..mechanisms.metadata_entries import METADATA_COMPACTOR, MetadataContent
from ..mechanisms.resizes.mechanism import RESIZER
from ..mechanisms.rollback.rollbacker import ROLLBACKER
from ..model import Model
from ..slices import FileSlice
from .compare import one_against_other
from .promise import Promise, components_in, value_in
from .reads import same_reads, two_writes
from .sentences import write_named
from .shape import completions_of
from .view import View, answered_times, on_table, view_of

SERVICES = (COMPACTOR, LOG_COMPACTOR, CLUSTERER, RESIZER, ROLLBACKER, ARCHIVER, METADATA_COMPACTOR)


def no_service(model: Model) -> str | None:
    """Return the reason why promises about compaction are not checked for a model; None if they are checked."""
    there = any(model.actors_of(kind) for kind in (COMPACTOR, LOG_COMPACTOR, CLUSTERER, RESIZER))
    return None if there else "the world has no compactor"


def nothing_to_notice(model: Model) -> str | None:
    """Return the reason why promise QUIET is not checked for a model; None if it is checked."""
    there = any(model.actors_of(kind) for kind in SERVICES)
    return None if there else "the world has no table service"


def planned_between_writes(model: Model, state: State) -> bool:
    """True if a state tests promise PART: a plan exists, and at least two writes have completed."""
    logs = value_in(model, state, "log_plans")
    return bool(model.component(state, "plans") or logs) and two_writes(model, state)


def served_between_writes(model: Model, state: State) -> bool:
    """True if a state tests promise QUIET: a service has planned work, rolled back a write, or archived an instant."""
    metadata = value_in(model, state, "metadata")
    compacted = isinstance(metadata, MetadataContent) and bool(metadata.bases)
    if value_in(model, state, "removed") or (compacted and two_writes(model, state)):
        return True
    rolled_back = value_in(model, state, "rollbacks")
    return planned_between_writes(model, state) or (bool(rolled_back) and bool(view_of(model, state).done))


def _on_table_and_cleans(model: Model) -> tuple[str, ...]:
    return (*on_table(model), *components_in(model, "cleans"))


def _shape_without_cleans(model: Model, *states: State) -> Hashable | None:
    return None if components_in(model, "cleans") else completions_of(model, *states)


def _on_table_and_archive(model: Model) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*on_table(model), *components_in(model, "removed"))))


def _shape_and_archive(model: Model, *states: State) -> Hashable | None:
    shape = completions_of(model, *states)
    if shape is None or "removed" not in model.components:
        return shape
    return shape, tuple(bool(model.component(state, "removed")) for state in states)


def quiet_holds(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """Check promise QUIET: steps of table services, crashes and lock expiries do not change answers for retained times.
    """
    assert before is not None
    assert step is not None
    old, new = view_of(model, before), view_of(model, after)
    if old is new or not model.is_service(step):
        return None
    if changed := same_reads(old, new, (inf, *answered_times(model, before))):
        return f"when {model.describe(step)}: {changed}"
    for start, end in old.windows:
        for group in new.groups:
            had, has = (view.window(group, start, end) for view in (old, new))
            if change := one_against_other(new, group, had, has, deletes=True):
                return f"when {model.describe(step)}: the incremental read (t{start}, t{end}] changed {change}"
    return None


def partition_holds(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """Check promise PART: each completed log is in exactly one file slice. An input of a log compaction belongs to the
    slice of the compacted log. Readers, planners and cleaners agree on the file slice of each log.
    """
    view = view_of(model, after)
    for group in view.groups:
        slices = [files_of(view, each) for each in view.slices(group)]
        for log in view.every_log(group):
            # Counted within a slice as well: a log that one slice has twice is in it twice.
            if (times := sum(files.count(log) for files in slices)) != 1:
                return f"the log of {write_named(view.done[log[0]], log[0])} is in {times} slices of group {group}"
        for barrier, fold in view.bases(group):
            if fold == NOTHING or ((put := view.done.get(barrier)) and group in replaced(put)):
                continue  # A replace has no inputs: it hides every log before its barrier.
            if broken := _sides_differ(view, group, barrier, fold):
                return broken
    for clean in value_in(model, after, "cleans"):
        if broken := _cleaner_differs(view, clean):
            return broken
    return None


def _cleaner_differs(view: View, clean: Clean) -> str | None:
    for victims in clean.groups:
        group, files = victims.group, {(file.requested, file.version) for file in victims.files if file.version}
        # A base file that the clean deletes does not bound what it may delete.
        bases = {file.requested for file in victims.files if not file.version}
        kept = [at for at, done in bases_by(view, group) if done <= clean.horizon and at not in bases]
        oldest = max(kept, default=0)
        for each in view.slices(group):
            for log in files_of(view, each) if (each.barrier or 0) >= oldest else ():
                if log in files and log[0] in view.done:
                    name = write_named(view.done[log[0]], log[0])
                    return (
                        f"the clean of t{clean.requested} deletes the log of {name} in group {group} as older than the "
                        f"base file of t{oldest}, and readers put it after that barrier"
                    )
    return None


def bases_by(view: View, group: int) -> list[tuple[int, int]]:
    plans = zip(view.table.plans, view.table.completed, strict=True)
    planned = [(plan.requested, done) for plan, done in plans if done is not None and plan.part_in(group)]
    put = [(each.requested, each.completed or 0) for each in view.completions if each.marks and group in loaded(each)]
    return [*planned, *put]


def files_of(view: View, piece: FileSlice) -> tuple[Log, ...]:
    """Return the files that belong to a file slice: its logs, the inputs of its log compactions, and its base file."""
    logs = with_inputs(view.table, piece.group, piece.logs)
    # If times are not unique, a base file and a log of different instants can have the same name.
    return logs if piece.base is None or (piece.base, 1) in logs else ((piece.base, 1), *logs)


def _sides_differ(view: View, group: int, barrier: int, base: Fold) -> str | None:
    older = [each for each in view.slices(group) if each.barrier is None or each.barrier < barrier]
    replaces = (put.requested for put in view.done.values() if group in replaced(put) and put.requested < barrier)
    since = max(replaces, default=0)  # No later plan takes a log that a replace hides.
    behind = {log for each in older for log in files_of(view, each) if log[0] in view.done}
    # After the times of replaces are known: a hidden log is behind the barrier, and rightly not taken.
    behind = {log for log in behind if (ranks_at(view.done[log[0]], group) or 0) >= since}
    taken = {log for log in logs_of(base) if log[0] in view.done and log[0] != barrier}
    # In order, so that every search finds the same sentence first.
    for log in sorted(taken ^ behind):
        name = write_named(view.done[log[0]], log[0])
        if log in behind:
            return f"readers put the log of {name} in group {group} before the barrier t{barrier}, whose plan misses it"
        return f"the plan at t{barrier} takes the log of {name} in group {group}, which readers put after its barrier"
    return None


QUIET = Promise(
    name="QUIET",
    about="A table service never changes the answer of a retained read: pending, complete, or crashed half way.",
    source="RFC-66, non-serial compaction; docs/contract.md, QUIET",
    kind="step",
    holds=quiet_holds,
    sometimes=served_between_writes,
    reads=_on_table_and_archive,
    unfit=nothing_to_notice,
    shape=_shape_and_archive,
)
PART = Promise(
    name="PART",
    about="Each completed log is in exactly one slice, and readers, planners and cleaners agree which one.",
    source="RFC-66, new file slicing and new compaction plan scheduling",
    kind="state",
    holds=partition_holds,
    sometimes=planned_between_writes,
    reads=_on_table_and_cleans,
    unfit=no_service,
    shape=_shape_without_cleans,
)
