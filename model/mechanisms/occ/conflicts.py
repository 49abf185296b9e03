"""Decides which completed instants conflict with a write that is about to publish (RFC-22, "Concurrency Control", step
4). An optimistic actor checks for conflicts: if there is no conflict, it publishes; otherwise it aborts.

By default, two writes conflict if both have files in the same bucket of the same partition. File ids are not compared,
because two writers that find a bucket empty may each start a file group. A compaction does not conflict with a writer
of log files, because the completion time of a log decides its file slice.

Writers and overwriters (insert overwrite) use the same conflict check: a replace conflicts with writes to the replaced
partitions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from ...kernel.lock import HOLDS_LOCK
from ...kernel.publication import BEGINS, COMMITS, PUBLISHES
from ...kernel.table import Compaction, Plan, Write
from ...kernel.writer import WRITER
from ...machine.composition import Composition
from ...machine.options import Limits, Options, ProtocolOptions, limit, option
from ...machine.transition import Args, Changes, Guard, preset, transition
from ...protocol import Protocol
from ..clustering import clustered
from ..file_ids import FIXED, Ids, NewFileIds, file_id_of, new_file_ids

OPTIMISTIC = (WRITER.name, "bulk_inserter", "overwriter")
"""The kinds of actors that may check for conflicts, by name because the mechanisms of the last two import this one."""


class Occ(Options):
    """The options of concurrency control: whether writers check for conflicts, when, and against which instants."""

    concurrency: Literal["nbcc", "occ", "single_writer"] = option(
        "nbcc",
        "nbcc: a writer checks no other writer. occ: it aborts if a conflicting write completed since it began. "
        "single_writer: it assumes that there is no other writer. In a copy-on-write table nbcc and single_writer are "
        "the same",
        by=OPTIMISTIC,
    )
    conflict_check: Literal["under_lock", "before_lock"] = option(
        "under_lock",
        "occ: whether the conflict check happens under the lock that covers publication, or before that lock is taken",
        by=(WRITER.name, "overwriter"),
    )
    conflict_window: Literal["completion", "requested"] = option(
        "completion",
        "occ: which instants may conflict. completion: those that completed since the write began. requested: those "
        "that were requested after the newest instant that the write saw (order by start time)",
        by=OPTIMISTIC,
    )
    conflict_by: Literal["bucket", "file_id"] = option(
        "bucket",
        "occ: two writes conflict if they write one bucket of one partition, or only if they write one file id",
        by=OPTIMISTIC,
    )
    conflict_reads: Literal["checked", "ignored"] = option(
        "checked",
        "occ: whether the file groups that a write declares as read are part of the conflict check",
        by=(WRITER.name,),
    )
    timeline: Literal["sealed", "at_start", "reloaded"] = option(
        "sealed",
        "occ: which timeline a write compares with. sealed: the one listed with its request. at_start: the one listed "
        "when it puts its inflight instant. reloaded: it is listed again with each file",
        by=(WRITER.name,),
    )
    priority: Literal["writer", "first"] = option(
        "writer",
        "occ: writer: a compaction never aborts a write. first: the instant that completes first wins",
        by=OPTIMISTIC,
    )
    early_detection: Literal["off", "on"] = option(
        "off",
        "occ: whether a writer aborts as soon as it finds the marker of another pending write in a file group",
        by=(WRITER.name,),
    )


class Retries(Limits):
    """The limit on retries of optimistic writers."""

    retries: int = limit(0, "how often a writer retries an aborted write as a new instant")


class Validation(NamedTuple):
    """The state of the conflict check of a pending write.

    `sealed` is the number of published instants when the actor last listed the timeline. `passed` is True after the
    check has found no conflict. `conflict` is the requested time of the conflicting instant; 0 if none was found.
    `tries` counts the aborted attempts of the write.
    """

    sealed: int = 0
    passed: bool = False
    conflict: int = 0
    tries: int = 0


Published = tuple[Write | Compaction, ...]


class UncheckedWrite(NamedTuple):
    """An unpublished write whose conflicts are to be checked.

    `groups` contains the file groups that the write changes, and `file_ids` their file ids. Instants published before
    the actor began cannot conflict; `sealed` is their number.
    """

    groups: tuple[int, ...]
    file_ids: Ids
    sealed: int


def concurrent(published: Published, sealed: int, protocol: Protocol) -> Published:
    """Return the instants that may conflict with an unpublished write, in the order of publication.

    By default, these are the instants that completed after the write began. With `conflict_window = requested`,
    instants that were requested earlier but complete after the write began are not checked.
    """
    if protocol[Occ].conflict_window == "completion":
        return published[sealed:]
    newest = max((entry.requested for entry in published[:sealed]), default=0)
    return tuple(entry for entry in published if entry.requested > newest)


def conflicting(published: Published, plans: Iterable[Plan], attempt: UncheckedWrite, protocol: Protocol) -> int | None:
    """Return the requested time of the first completed instant that conflicts with an unpublished write; None if there
    is no conflict.
    """
    groups = {plan.requested: {part.group for part in plan.groups} for plan in plans}
    for entry in concurrent(published, attempt.sealed, protocol):
        if isinstance(entry, Compaction):
            by_plan = protocol[Occ].priority == "first"
            # By default only a clustering conflicts: it rewrites base files into which a write may have merged.
            taken = groups.get(entry.requested, set()) if by_plan else set(clustered(entry))
            if taken & set(attempt.groups):
                return entry.requested
        elif isinstance(entry, Write) and any(_same(entry, attempt, group, protocol) for group in attempt.groups):
            return entry.requested
    return None


def _same(write: Write, attempt: UncheckedWrite, group: int, protocol: Protocol) -> bool:
    if group not in write.groups:
        return False
    by_bucket = protocol[Occ].conflict_by == "bucket"
    return by_bucket or file_id_of(new_file_ids(write), group) == file_id_of(attempt.file_ids, group)


def clusterings(published: Published, groups: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """For each clustered file group in `groups`, return a pair (file group, requested time of its newest clustering).
    """
    done = (entry for entry in published if isinstance(entry, Compaction))
    newest = {group: entry.requested for entry in done for group in clustered(entry)}
    return tuple((group, newest[group]) for group in groups if group in newest)


ABORTED, CHECKED = "aborted", "checked: nothing conflicts"

Touches = Callable[[Any], tuple[int, ...]]
"""The file groups that an actor's write writes or declares as read."""

HAS_PASSED = Guard("{me} must have found no conflict", lambda own_validation: own_validation.passed)
NOT_CHECKED = Guard(
    "{me} must not have checked for conflicts yet", lambda own_validation: not own_validation.passed, place=True
)


def is_optimistic(composition: Composition, me: str) -> bool:
    """True if an actor uses optimistic concurrency control (option `concurrency = occ`)."""
    return has_optimistic_writers(composition.protocol_of(me))


def has_optimistic_writers(protocol: ProtocolOptions) -> bool:
    """True if writers use optimistic concurrency control under a protocol."""
    return bool(protocol[Occ].concurrency == "occ")


def check_conflicts(composition: Composition, kind: str, me: str, touches: Touches) -> None:
    """Let an actor check for conflicts before publishing. The actor's state must have a field `validation`."""
    options = composition.protocol_of(me)[Occ]
    # Without `priority = first` the check must not read the plans: what a guard reads is part of its footprint.
    parameters: dict[str, Any] = {"touches": touches, **({} if options.priority == "first" else {"plans": ()})}
    conflict = preset(find_conflict, **parameters)
    no_conflict = Guard("no conflicting write may have completed since it began", conflict, negated=True)
    a_conflict = Guard("a conflicting write must have completed since it began", conflict)
    passes = transition(f"{kind}_passes_check", me, guards=(NOT_CHECKED, no_conflict), effect=pass_check,
                        changes=("own_validation",))  # fmt: skip
    aborts = transition(f"{kind}_aborts", me, to=ABORTED, guards=(NOT_CHECKED, a_conflict), effect=abort,
                        changes=("own", "own_validation"), arguments=preset(list_conflict, **parameters))  # fmt: skip
    commits = composition.select(COMMITS, actors=[me])
    start = commits.one
    # On the publication as well, which may be a step of its own.
    composition.select(COMMITS, PUBLISHES, actors=[me]).require(HAS_PASSED)
    if options.conflict_check == "before_lock":
        composition.select(BEGINS, actors=[me]).insert_before(CHECKED, lambda _: passes)
        composition.select(passes.action, actors=[me]).exit(lambda _: aborts)
        return
    # From now on the check is the first transition under the lock: it also asks what is asked of the commit so far.
    asked = tuple(guard for guard in start.guards if guard is not HOLDS_LOCK)
    commits.untag(COMMITS)
    for each in (passes, aborts.extend(free_lock, "lock")):
        composition.add(replace(each.require(*asked), at=start.at, tags=frozenset((COMMITS,))))


def find_conflict(
    own: Any, own_validation: Validation, published: tuple[Any, ...], protocol: Protocol, touches: Touches,
    plans: tuple[Plan, ...], own_file_ids: NewFileIds = FIXED,
) -> int | None:  # fmt: skip
    """Return the requested time of a conflicting instant that completed since the actor began; None if there is no
    conflict.
    """
    unchecked = UncheckedWrite(touches(own), own_file_ids.ids, own_validation.sealed)
    return conflicting(published, plans, unchecked, protocol)


def list_conflict(
    own: Any, own_validation: Validation, published: tuple[Any, ...], protocol: Protocol, touches: Touches,
    plans: tuple[Plan, ...], own_file_ids: NewFileIds = FIXED,
) -> Iterable[Args]:  # fmt: skip
    conflict = find_conflict(own, own_validation, published, protocol, touches, plans, own_file_ids)
    return ((("against", (conflict,)),),)


def pass_check(own_validation: Validation) -> Changes:
    return {"own_validation": own_validation._replace(passed=True)}


def abort(own_validation: Validation, *, against: tuple[int, ...]) -> Changes:
    """Abort the write because of a conflicting instant."""
    return {"own_validation": own_validation._replace(conflict=against[0])}


def free_lock() -> Changes:
    return {"lock": None}
