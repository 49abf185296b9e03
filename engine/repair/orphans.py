"""Orphans: data files that belong to no write, and whether they can be deleted safely."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..audit import Audit

_ANOTHER: Final = "each of them may have written it, and the names of files do not say which"


@dataclass(frozen=True, slots=True)
class Orphan:
    """An orphan. `kept`: why it must not be deleted; '' if it can be."""

    path: str
    size: int
    because: str
    kept: str = ""


def orphan_files(found: Audit) -> tuple[Orphan, ...]:
    """The orphans among the data files, sorted by path.

    `found` listed the files before the timeline. A running writer puts its instant before its files, so a file whose
    instant is on no timeline belongs to no running write. If the archive cannot be read, or does not reach back to a
    file, its instant may have completed: such files are kept.
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
