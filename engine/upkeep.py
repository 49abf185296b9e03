"""Archives old instants and writes a state checkpoint after an operation. A failure to archive or to write the
checkpoint causes only a warning, because the operation itself has succeeded.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Final

from .actions import Operation, archive, checkpoint_state, clean, cluster, compact, run_clean, run_compaction
from .config import TableConfig
from .config.archive_policy import ArchivePolicy
from .context import Context
from .errors import NbccError
from .services.triggers import checkpoint_due
from .storage import TRANSIENT
from .timeline import Instant

CHECKPOINTED: Final = archive, clean, cluster, compact, run_clean, run_compaction
"""The operations after which a state checkpoint is put."""


def keep_up(context: Context, config: TableConfig, operation: Operation[..., Any], answer: object) -> None:
    """Archive old instants and write a state checkpoint if either is due after an operation. If archiving or the
    checkpoint fails, `keep_up` only issues a warning.
    """
    if operation in CHECKPOINTED:
        _try("the operation is complete, but no state checkpoint was put", lambda: _checkpoint(context, config))
    policy = config.archive_policy
    if policy and isinstance(answer, Instant) and answer.writes and answer.completed:
        failed = "the write is complete, but old instants were not archived"
        _try(failed, lambda: _archive(context, config, policy))


def _checkpoint(context: Context, config: TableConfig) -> None:
    if checkpoint_due(context):
        checkpoint_state.run(context, config)


def _archive(context: Context, config: TableConfig, policy: ArchivePolicy) -> None:
    if sum(instant.writes for instant in context.active().completed) > policy.most:
        keep_up(context, config, archive, archive.run(context, config, policy.least))


def _try(failed: str, step: Callable[[], object]) -> None:
    try:
        step()
    except (NbccError, *TRANSIENT) as refused:
        warnings.warn(f"{failed}: {refused}", stacklevel=5)
