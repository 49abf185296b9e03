"""Loads a timeline from the newest usable state checkpoint, or from all commits if there is none."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from ..context import Context
from ..errors import NbccError
from ..rules import Rules
from ..timeline.checkpointed import CheckpointedCommits
from ..timeline.history import Whole
from ..timeline.state_checkpoint import newest_checkpoint


class LoadedTimeline(NamedTuple):
    """A timeline, and the context that caches its commits. `misfit` is the time of a state checkpoint that was ignored
    because it does not fit the timeline; '' if there is none.
    """

    context: Context
    timeline: Whole
    misfit: str = ""


def through_checkpoint(context: Context, load: Callable[[Context], Whole], until: str = "~") -> LoadedTimeline:
    """Load a timeline, starting from the newest state checkpoint at or before the time `until`. If no state checkpoint
    is usable, load the timeline with all commits instead. Warns of a state checkpoint that does not fit the timeline.
    """
    commits, misfit = _commits_through(context, until), ""
    if commits is not None:
        using = replace(context, own_commits=commits, own_heartbeats=context.heartbeats)
        timeline = load(using)
        # A restore appeared on the listing, so `load` has already used all commits and need not run again.
        if commits.is_dropped:
            context.commits.drop_checkpoint(has_read_archive=True)
            return LoadedTimeline(context, timeline)
        if not cleaned_by_others(using, timeline):
            if not commits.misfit:
                return LoadedTimeline(using, timeline)
            misfit = commits.checkpoint.time
            name = f"nbcc: the state checkpoint {misfit} of {context.storage.url} is ignored"
            # Not an error: the commits below answer the read, only more slowly.
            warnings.warn(f"{name}, because {commits.misfit}", stacklevel=2)
        context.commits.drop_checkpoint(has_read_archive=False)
    return LoadedTimeline(context, load(context), misfit)


def cleaned_by_others(context: Context, timeline: Whole) -> bool:
    """Return whether another engine has cleaned the table. A table that another engine has cleaned is read without
    state checkpoints, because its horizon depends on all commits.
    """
    cleans = (instant for instant in timeline.completed if instant.action == "clean")
    return any(not context.commits.clean_summary(clean.requested).horizon for clean in cleans)


def has_checkpoints(rules: Rules) -> bool:
    """Return whether reads under `rules` can use state checkpoints."""
    usual = ("listed", "completed", "completion", "completion", "after_listing", "settled", "twice")
    return usual == (
        rules.files, rules.visibility, rules.as_of_axis, rules.slicing, rules.archive_lookup, rules.read_time,
        rules.listing,
    )  # fmt: skip


def _commits_through(context: Context, until: str) -> CheckpointedCommits | None:
    """Return commits loaded from a state checkpoint that is not newer than `until`; None if all commits must be read.

    A process that has already read all commits does not use a state checkpoint. A process continues to use the first
    state checkpoint that it found, because it has already read all commits since that checkpoint.
    """
    commits = context.commits
    if commits.has_read_archive or not has_checkpoints(context.rules):
        return None
    known = commits.checkpointed
    if isinstance(known, CheckpointedCommits) and known.checkpoint.time <= until:
        return known
    checkpoint = newest_checkpoint(context.storage, until)
    if checkpoint is None:
        return None
    try:
        found = CheckpointedCommits(commits, checkpoint)
    # A damaged checkpoint costs time and no answer: the commits have all that it summarises.
    except NbccError:
        return None
    commits.use(found)
    return found
