"""`validate`: gather, complain, play; what is too old or too strange to judge is said, and never called fine."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from nbcc.engine.audit import Audit, file_faults, gather
from nbcc.engine.clock import to_instant
from nbcc.engine.config import VERSIONS, from_properties
from nbcc.engine.errors import Unsupported
from nbcc.engine.schema import from_avro
from nbcc.engine.storage import Storage

from ..explore.memory import without_gc
from .diagnostics import RULES, Rule, diagnostics_of
from .history_check import check_history
from .report import Report, missing_evidence
from .view import View

Progress = Callable[[str, int, int], None]


def validate(
    storage: Storage,
    *,
    opened: bool = False,
    now: str | None = None,
    rules: Iterable[Rule] = RULES,
    progress: Progress = lambda what, done, of: None,
    workers: int = 1,
) -> Report:
    """Judge the table in `storage`; nothing of it is changed.

    `opened`: the data files are opened, too. `now` is the instant to judge by, the machine's clock if None. `workers`:
    processes that play the history of a big table (a script that asks for several needs its ``__main__`` guard). Raises
    `NotATable` where there is no ``hoodie.properties``; nothing else that lies in a table makes it fail.
    """
    with without_gc():
        return _judged(storage, opened, now, rules, progress, workers=workers)


def _judged(
    storage: Storage, opened: bool, now: str | None, rules: Iterable[Rule], progress: Progress, *, workers: int
) -> Report:
    found = gather(storage, progress)
    reason = _too_strange(found)
    if reason is not None:
        return _report(found, reason)
    data = tuple(file_faults(storage, found, progress)) if opened else ()
    view = View(found, now or _now(), data)
    diagnostics = tuple(diagnostics_of(view, rules))
    return Report(
        **_head(found),
        history=check_history(view, progress, workers),
        diagnostics=diagnostics,
        gaps=missing_evidence(found),
        opened=opened,
    )


def _report(found: Audit, reason: str) -> Report:
    return Report(**_head(found), history=None, diagnostics=(), gaps={}, opened=False, undetermined=reason)


def _head(found: Audit) -> dict[str, Any]:
    return {
        "url": found.url,
        "name": found.properties.get("hoodie.table.name", ""),
        "version": found.properties.get("hoodie.table.version", "?"),
        "rules": "nbcc" if found.own else "hudi",
        "files": len(found.files),
    }


def _too_strange(found: Audit) -> str | None:
    """Why nothing can be said of the table, None if something can."""
    text = found.properties.get("hoodie.table.version", "")
    version = int(text) if text.isdecimal() else None
    if version is None:
        return "its properties name no table version"
    if version < VERSIONS[0] or any(fault.kind == "instant" for fault in found.faults):
        return f"it has version {version}, and instants without completion times: they do not tell what came when"
    if version > VERSIONS[-1]:
        return f"it has version {version}, and this release knows versions up to {VERSIONS[-1]}"
    return _not_understood(found)


def _not_understood(found: Audit) -> str | None:
    """What of a table's properties this release does not know; what contradicts itself is left to the diagnostics."""
    schema = found.properties.get("hoodie.table.create.schema")
    try:
        from_properties(found.properties, pa.schema([]))
        if schema:
            from_avro(schema)
    except Unsupported as unknown:
        return unknown.exists
    except Exception:  # a schema or a number that is none fails in any way
        return None
    return None


def _now() -> str:
    return to_instant(int(datetime.now(UTC).timestamp() * 1000))
