"""Files that belong to no write: which they are, and which of them can be deleted without doubt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..audit import Audit

_ANOTHER: Final = "each of them may have written it, and the names of files do not say which"


@dataclass(frozen=True, slots=True)
class Orphan:
    """`kept` says why it must not be deleted; empty: it can be."""

    path: str
    size: int
    because: str
    kept: str = ""


def orphan_files(found: Audit) -> tuple[Orphan, ...]:
    """The orphans among the data files, by path.

    `found` listed the files before the timeline: whoever is at work has put its instant first, so that a file whose
    instant is nowhere is nobody's. Where the archive cannot be read, or does not reach back to a file, it may be that
    of an instant which completed: such files are kept.
    """
    hurt = next((fault for fault in found.faults if fault.kind == "archive"), None)
    nowhere = [
        Orphan(file.path, file.size, f"no timeline knows its instant {file.requested}", _kept(found, file.requested))
        for file in found.orphans
    ]
    late = [
        Orphan(file.path, file.size, f"its instant {file.requested} is completed and does not list it")
        for file in found.unlisted
    ]
    doubtful = [
        Orphan(file.path, file.size, f"several instants were requested at {file.requested}", _ANOTHER)
        for file in found.ambiguous
    ]
    kept = f"{hurt.path} cannot be read ({hurt.because}), and may know it" if hurt else ""
    return tuple(
        sorted(
            (Orphan(o.path, o.size, o.because, o.kept or kept) for o in (*nowhere, *late, *doubtful)),
            key=lambda orphan: orphan.path,
        )
    )


def _kept(found: Audit, requested: str) -> str:
    first = found.first_active
    if first is None:
        return "nothing has completed on the active timeline, which may have been lost"
    if requested < first and requested < min(found.archived, default="~"):
        return f"it is older than the active timeline ({first}), and the archive does not reach back to it"
    return ""
