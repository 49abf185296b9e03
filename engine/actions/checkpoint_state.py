"""Writes a state checkpoint, so that reads start at the checkpoint and not at the first commit."""

from __future__ import annotations

from dataclasses import replace

from ..config import TableConfig
from ..context import Context
from ..reads.checkpointed import has_checkpoints, through_checkpoint
from ..services.state_checkpoints import Listed, list_twice, state_checkpoint
from ..timeline.checkpointed import CheckpointedCommits
from ..timeline.history import Whole
from ..timeline.state_checkpoint import are_sound, drop_superfluous, put_checkpoint


def run(context: Context, config: TableConfig) -> str | None:
    """Write a checkpoint of the table's state as of the greatest completion time, and delete all but the newest
    checkpoints.

    The operation takes no lock, because a state checkpoint changes no query result (docs/contract.md, SAME). Returns
    the time of the new state checkpoint. Returns None if no write has completed, if another engine has cleaned the
    table, or if the table's rules do not use state checkpoints.
    """
    config.check_writable()
    if not has_checkpoints(context.rules):
        return None
    # A process that has read the whole history derives the checkpoint from the newest one, like a new process.
    context = replace(context, own_commits=context.commits.unread(), own_heartbeats=context.heartbeats)
    listings: list[Listed] = []

    def load(using: Context) -> Whole:
        listings.append(list_twice(using))
        return listings[-1].timeline

    loaded = through_checkpoint(context, load)
    checkpoint = state_checkpoint(loaded.context, listings[-1])
    if checkpoint is None:
        return None
    base = loaded.context.commits
    # Files that an earlier sound checkpoint covers are on the disk, so only newer ones have to be synced.
    known = base.checkpoint.active if isinstance(base, CheckpointedCommits) and base.checkpoint.is_sound else ()
    is_sound = are_sound(context.storage, checkpoint.active.difference(known))
    put_checkpoint(context.storage, replace(checkpoint, is_sound=is_sound))
    drop_superfluous(context.storage, loaded.timeline, checkpoint.time, loaded.misfit)
    return checkpoint.time
