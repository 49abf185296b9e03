"""Archives old instants and writes a state checkpoint after an operation. A failure to archive or to write the
checkpoint causes only a warning, because the operation itself has succeeded.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Final

from .config import TableConfig
from .context import Context
from .errors import NbccError
from .services.triggers import checkpoint_due
from .storage import TRANSIENT
from .timeline import Instant, load

CHECKPOINTED: Final = frozenset({"archive", "clean", "cluster", "compact", "run_clean", "run_compaction"})
"""The operations after which a state checkpoint is put."""

def keep_up(run: Callable[..., Any], context: Context, config: TableConfig, operation: str, answer: Any) -> None:
    """Archive old instants and write a state checkpoint if either is due after an operation. `run` is a function that
    runs an operation by name. If archiving or the checkpoint fails, `keep_up` only issues a warning.
    """
    if operation in CHECKPOINTED:
        failed = "the operation is complete, but no state checkpoint was put"
        _try(failed, lambda: checkpoint_due(context) and run("checkpoint_state"))
    policy = config.archive_policy
    if policy and isinstance(answer, Instant) and answer.writes and answer.completed:
        failed = "the write is complete, but old instants were not archived"
        _try(failed, lambda: _writes(context) > policy.most and run("archive", retained=policy.least))


def _writes(context: Context) -> int:
    """Return the number of writes and compactions on the active timeline."""
    return sum(instant.writes for instant in load(context.storage).completed)


def _try(failed: str, step: Callable[[], object]) -> None:
    try:
        step()
    except (NbccError, *TRANSIENT) as refused:
        warnings.warn(f"{failed}: {refused}", stacklevel=5)
