"""Plans a clean: a policy determines the horizon (the oldest readable time), and the horizon determines the files to
delete.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import Final

from ..clock import to_instant, to_millis
from ..config.maintenance import POLICIES, PolicyName
from ..context import Context
from ..errors import BadInput
from ..files.group_files import Group
from ..files.log_compaction import input_logs
from ..files.slices import FileSlice, all_slices, kept_since
from ..timeline import Commits, Instant, completion_of
from ..timeline.cleans import CleanPlan
from ..timeline.history import Current, History
from ..timeline.resize_plans import generation_made
from ..timeline.savepoints import by_partition
from ..writes.decision_log import decides_without_lock
from ..writes.restoring import is_kept
from .replaced_groups import older_files, resize_inputs, unneeded_files
from .savepoints import pinned_files

HOUR_MS: Final = 3_600_000


@dataclass(frozen=True, slots=True)
class Policy:
    """The cleaning policy, which determines how much history remains readable. `name` is Hudi's name of the policy.

    `KEEP_LATEST_COMMITS` retains the table's state after each of the newest `retained` writes. `KEEP_LATEST_BY_HOURS`
    retains every state of the last `retained` hours. `KEEP_LATEST_FILE_VERSIONS` retains every state that can be read
    from the newest base files of each file group; `retained` is the number of these base files.
    """

    name: PolicyName
    retained: int

    def __post_init__(self) -> None:
        if self.name not in POLICIES:
            known = ", ".join(POLICIES)
            raise BadInput(f"clean by the policy {self.name!r}", f"the policies are {known}", "choose one of these")
        if not isinstance(self.retained, int) or isinstance(self.retained, bool) or self.retained < 1:
            raise BadInput(
                f"clean by {self.name} and retain {self.retained!r}",
                "at least the newest state of a table stays",
                "retain a whole number from 1 on",
            )


def horizon_of(
    policy: Policy, timeline: Current, commits: Commits, slices: Iterable[FileSlice], now: str
) -> str | None:
    """Return the completion time before which reads are refused after the clean; None if the policy retains the entire
    history.
    """
    if policy.name == "KEEP_LATEST_BY_HOURS":
        since = to_millis(now) - policy.retained * HOUR_MS
        # A retention that begins before 1970 retains everything.
        return to_instant(since) if since > 0 else None
    if policy.name == "KEEP_LATEST_COMMITS":
        writes = (i for i in reversed(timeline.completed) if i.writes and is_write(timeline, commits, i))
        oldest = next(islice(writes, policy.retained - 1, None), None)
        return completion_of(oldest) if oldest else None
    return max(_oldest_versions(slices, policy.retained), default=None)


def is_write(timeline: Current, commits: Commits, instant: Instant) -> bool:
    """Return whether a completed instant can change rows. A compaction changes no rows, unless it belongs to a
    replacing write. A resize changes none.
    """
    if instant.action == "replacecommit" and generation_made(commits.commit(instant)):
        return False
    return not timeline.is_service(instant) or commits.commit(instant).replaces


def _oldest_versions(slices: Iterable[FileSlice], retained: int) -> Iterable[str]:
    """For each file group with more than `retained` base files, yield the completion time of its `retained`-th newest
    base file.
    """
    bases: dict[Group, list[str]] = {}
    for piece in slices:  # barriers rise within a group
        if piece.base is not None and piece.base.completed is not None:
            bases.setdefault(piece.group, []).append(piece.base.completed)
    return (versions[-retained] for versions in bases.values() if len(versions) > retained)


def plan_clean(
    context: Context, history: History, slices: tuple[FileSlice, ...], policy: Policy, horizon: str
) -> CleanPlan | None:
    """Return the plan of a clean with the given horizon (the oldest readable time); None if no file can be deleted. The
    clean plan omits files that a savepoint or a pending log compaction needs.
    """
    timeline = history.current
    kept = kept_since(slices, horizon, context.rules)
    # By identity, because hashing a slice hashes all its files.
    stay = {id(piece) for piece in kept}
    gone = {path for piece in slices if id(piece) not in stay for path in piece.paths}
    pinned = pinned_files(context, timeline)
    keep = pinned | planned_inputs(context, timeline) | resize_inputs(context, history)
    gone |= skipped_by_cleans(context, history, horizon) | older_files(context, history, horizon)
    files = by_partition((gone - keep) | unneeded_files(context, history, horizon, pinned))
    if not files:
        return None
    newest = next((instant.requested for instant in reversed(timeline.instants) if instant.completed), "")
    # A later restore believes a savepoint that the newest clean names.
    kept_ones = (
        each for each in timeline.savepoints
        if not decides_without_lock(context) or is_kept(context, timeline, each)
    )  # fmt: skip
    saved = tuple(instant.requested for instant in kept_ones)
    return CleanPlan(policy.name, files, _earliest(timeline, kept, horizon), newest, horizon, saved)


def planned_inputs(context: Context, timeline: Current) -> frozenset[str]:
    """Return the input logs of all pending log compactions. A clean keeps the inputs of a pending log compaction even
    if a replacing write has hidden their file slice.
    """
    pending = (instant for instant in timeline.log_compactions if not instant.completed)
    return frozenset(path for instant in pending for path in input_logs(instant, context.commits))


def skipped_by_cleans(context: Context, history: History, horizon: str) -> frozenset[str]:
    """Return the files that earlier cleans kept for savepoints or log compactions, and that no read needs any more.

    A clean must search all slices for files that earlier cleans skipped, because `load_slices` omits the slices before
    the horizon.
    """
    done = history.current.cleans
    summaries = (context.commits.clean_summary(clean.requested) for clean in done)
    if not any(summary.savepoints for summary in summaries) and not _during_log_compactions(history.current, done):
        return frozenset()
    every = all_slices(context.storage, history.whole, context.commits, context.rules)
    stay = {path for piece in kept_since(every, horizon, context.rules) for path in piece.paths}
    deleted = (path for clean in done for path in context.commits.clean(clean.requested).paths)
    return frozenset(path for piece in every for path in piece.paths) - stay - {*deleted}


def _during_log_compactions(timeline: Current, cleans: Iterable[Instant]) -> bool:
    """Return whether a log compaction was pending when any of `cleans` was planned. A retired log compaction does not
    count, because a later clean has already deleted its inputs.
    """
    plans = timeline.log_compactions
    # '~' is greater than every time: a pending log compaction has no end yet.
    return any(i.requested < clean.requested < (i.completed or "~") for clean in cleans for i in plans)


def _earliest(timeline: Current, kept: Iterable[FileSlice], horizon: str) -> Instant | None:
    """Return the write with the earliest requested time among those that Hudi's readers may read after the clean."""
    first: dict[Group, str] = {}
    for piece in kept:
        first.setdefault(piece.group, piece.barrier or "")
    begun = max(first.values(), default="")
    after = takewhile(lambda instant: completion_of(instant) >= horizon, reversed(timeline.completed))
    writes = (instant for instant in after if instant.writes and instant.requested >= begun)
    return min(writes, key=lambda instant: instant.requested, default=None)
