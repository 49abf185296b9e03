"""`nbcc validate`: reads the files of a table, runs the diagnostics, and replays the table's history on the model. The
verdict on a table that nbcc does not support is UNDETERMINED.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from nbcc.engine.audit import Audit, file_faults, gather
from nbcc.engine.audit.record import Progress, no_progress
from nbcc.engine.clock import to_instant
from nbcc.engine.config import VERSIONS, from_properties
from nbcc.engine.definition.load import PROPERTIES
from nbcc.engine.errors import Unsupported
from nbcc.engine.schema import from_avro
from nbcc.engine.storage import Storage

from ..search.explore.memory import without_gc
from .diagnostics import RULES, Rule, diagnostics_of
from .health import health_of
from .history_check import check_history
from .legacy import JUDGED, legacy_diagnostics
from .report import Report, missing_evidence
from .view import TableView


def validate(
    storage: Storage,
    *,
    opened: bool = False,
    now: str | None = None,
    rules: Iterable[Rule] = RULES,
    progress: Progress = no_progress,
    workers: int = 1,
    thresholds: Mapping[str, float] = MappingProxyType({}),
    rivals: bool = True,
) -> Report:
    """Check the table in `storage` for faults and violated promises, without changing it.

    If `opened` is True, the contents of the data files are checked as well. `now` is a timestamp that replaces the
    current time of the machine's clock. `thresholds` maps figures of `health` to the values that they may have at most.
    If `rivals` is False, the history is replayed under the table's own protocol alone, which decides the verdict.
    `workers` is the number of processes that replay the history of a big table. A script that uses several workers
    needs a ``__main__`` guard. Raises `NotATable` if ``hoodie.properties`` is missing. All other faults are reported,
    not raised.
    """
    with without_gc():
        return _validate(storage, opened, now, rules, progress, workers, thresholds, rivals)


def _validate(
    storage: Storage,
    opened: bool,
    now: str | None,
    rules: Iterable[Rule],
    progress: Progress,
    workers: int,
    thresholds: Mapping[str, float],
    rivals: bool,
) -> Report:
    audit = gather(storage, progress)
    if _is_legacy(audit):
        diagnostics = legacy_diagnostics(storage, audit, now or _now())
        return Report(**_head(audit), history=None, diagnostics=diagnostics, gaps={}, opened=False, judged=JUDGED)
    reason = _not_judged(audit)
    if reason is not None:
        return Report(**_head(audit), history=None, diagnostics=(), gaps={}, opened=False, undetermined=reason)
    view = TableView(audit, now or _now(), tuple(file_faults(storage, audit, progress)) if opened else ())
    diagnostics = tuple(diagnostics_of(view, rules))
    if not any(diagnostic.file == PROPERTIES for diagnostic in diagnostics) and (unread := _unsupported(audit)):
        return Report(**_head(audit), history=None, diagnostics=(), gaps={}, opened=False, undetermined=unread)
    return Report(
        **_head(audit),
        history=check_history(view, progress, workers, rivals),
        diagnostics=diagnostics,
        gaps=missing_evidence(audit),
        opened=opened,
        health=health_of(view, thresholds),
        strangers=len({*view.strangers} - {diagnostic.file for diagnostic in diagnostics}),
    )


def _head(audit: Audit) -> dict[str, Any]:
    return {
        "url": audit.url,
        "name": audit.properties.get("hoodie.table.name", ""),
        "version": audit.properties.get("hoodie.table.version", "?"),
        "rules": "nbcc" if audit.own else "hudi",
        "files": len(audit.files),
    }


def _not_judged(audit: Audit) -> str | None:
    text = audit.properties.get("hoodie.table.version", "")
    version = int(text) if text.isdecimal() else None
    if version is not None and version > VERSIONS[-1]:
        return f"it has version {version}, and this release reads versions up to {VERSIONS[-1]}"
    return None


def _is_legacy(audit: Audit) -> bool:
    text = audit.properties.get("hoodie.table.version", "")
    return text.isdecimal() and int(text) < VERSIONS[0] and not audit.timeline.completed


def _unsupported(audit: Audit) -> str | None:
    """Return a description of the first unsupported table property, or None."""
    schema = audit.properties.get("hoodie.table.create.schema")
    try:
        from_properties(audit.properties, pa.schema([]))
        if schema:
            from_avro(schema)
    except Unsupported as unknown:
        return unknown.exists
    except Exception:  # an invalid schema or number can raise anything
        return None
    return None


def _now() -> str:
    return to_instant(int(datetime.now(UTC).timestamp() * 1000))
