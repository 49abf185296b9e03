"""Finds orphans (data files that no completed write lists) and decides which of them a repair may move away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..audit import Audit
from ..audit.removed_instants import removed_instants

_ANOTHER: Final = "any of them may have written it, and file names do not identify the writer"

_LISTS_NOTHING: Final = "its instant lists no file at all, so that the content of the instant may have been lost"


@dataclass(frozen=True, slots=True)
class Orphan:
    """An orphan: a data file that no completed write lists. `kept` is the reason why it must stay; '' if a repair may
    move it away.
    """

    path: str
    size: int
    because: str
    kept: str = ""


def orphan_files(audit: Audit) -> tuple[Orphan, ...]:
    """Return the orphans among the data files, sorted by path.

    A running writer creates its instant before its data files, and an audit lists data files before the timeline. A
    data file whose instant is not on the timeline therefore belongs to no running write. Its write failed, or its
    timeline files were removed. If the archive is unreadable or incomplete, or if another instant proves that the write
    completed, `Orphan.kept` states the reason.
    """
    removed = removed_instants(audit)
    archive_fault = next((fault for fault in audit.faults if fault.kind == "archive"), None)
    nowhere = [
        Orphan(
            file.path,
            file.size,
            f"no timeline has its instant {file.requested}: its write failed, or its timeline files were removed",
            _kept(audit, file.requested, removed.get(file.requested)),
        )
        for file in audit.orphans
    ]
    late = [
        Orphan(
            file.path,
            file.size,
            f"its instant {file.requested} is completed and does not list it",
            "" if audit.commits[file.requested].stats else _LISTS_NOTHING,
        )
        for file in audit.unlisted
    ]
    doubtful = [
        Orphan(file.path, file.size, f"several instants were requested at {file.requested}", _ANOTHER)
        for file in audit.ambiguous
    ]
    archive_reason = (
        f"{archive_fault.path} cannot be read ({archive_fault.because}), and may list it" if archive_fault else ""
    )
    return tuple(
        sorted(
            (Orphan(o.path, o.size, o.because, o.kept or archive_reason) for o in (*nowhere, *late, *doubtful)),
            key=lambda orphan: orphan.path,
        )
    )


def _kept(audit: Audit, requested: str, proof: str | None) -> str:
    if proof is not None:
        return f"{proof}, so its write completed"
    first = audit.first_active
    if first is None:
        return "the active timeline has no completed instant; it may have been lost"
    if requested < first and requested < min(audit.archived, default="~"):
        return f"it is older than the active timeline ({first}), and the archive does not reach back to it"
    return ""
