"""Put a state checkpoint: a later read begins there instead of at the first commit."""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..reads.checkpointed import has_checkpoints, through_checkpoint
from ..services.state_checkpoints import Listed, list_twice, state_checkpoint
from ..timeline import Timeline, completion_of
from ..timeline.state_checkpoint import checkpoint_paths, drop_superfluous, put_checkpoint, time_of


def run(context: Context, config: TableConfig, least: int = 0) -> str | None:
    """Put a checkpoint of the state as of the greatest completion time, and drop superfluous checkpoints.

    The operation takes no lock, because a checkpoint changes no answer (docs/contract.md, SAME). `least`: the fewest
    writes and compactions since the newest checkpoint for which another one is put. Returns the time of the checkpoint.
    Returns None if there are fewer, if another engine has cleaned the table, or if its rules use no checkpoints.
    """
    config.check_writable()
    if not has_checkpoints(context.rules):
        return None
    listings: list[Listed] = []

    def load(using: Context) -> Timeline:
        listings.append(list_twice(using))
        return listings[-1].timeline

    using, timeline = through_checkpoint(context, load)
    paths = checkpoint_paths(context.storage)
    newest = max(map(time_of, paths), default="")
    if sum(instant.writes and completion_of(instant) > newest for instant in timeline.completed) < least:
        return None
    checkpoint = state_checkpoint(using, listings[-1])
    if checkpoint is None:
        return None
    path = put_checkpoint(context.storage, checkpoint)
    drop_superfluous(context.storage, {path, *paths}, timeline)
    return checkpoint.time
