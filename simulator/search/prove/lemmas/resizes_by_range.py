"""Resizes whose readers look for late logs by range: writers do not look for a resize, and no log is copied or moved.

A read finds each log by its range, in any file group. A writer uses the layout of the newest completed resize, or that
of the pending one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

from nbcc.model.kernel.writer import WRITER_STARTS_WRITING

from ..logic import Term, at, both, no
from ..system import Formula, Move
from . import core
from .resizes import ResizeLemmas, ResizeOptions
from .state import PLAN, REQUESTED, WRITE, WRITING

COPIES: Final = (
    "a write is in the file groups of a completed resize, or in the first ones",
    "a write that completes is in the current file groups",
    "a completed write is in the file groups that were current when it completed",
    "a resizer that completes has copied all that has completed",
    "a completed resize has what completed before it",
)
"""The clauses of resizes by cut-over about writers that move their logs, and about copies."""


@dataclass(frozen=True)
class ByRangeOptions(ResizeOptions):
    """The model options that affect resizes whose readers look by range."""

    resizing: Literal["by_range"] = "by_range"  # type: ignore[assignment]
    mapping_check: Literal["under_lock"] = "under_lock"


class ResizesByRange(ResizeLemmas):
    """The transition relation of resizes by range."""

    options: ByRangeOptions

    def opens(self, s: Any, w: Term, complete: Callable[[Term], Term]) -> Term:
        return True

    def writing(self) -> tuple[Move, ...]:
        planned = Move(
            "writer starts writing by a planned mapping", (WRITE, PLAN),
            lambda s, w, p: both(self.can_write(s, w, REQUESTED), s.resizes(p), no(s.done(p))),
            lambda s, w, p: {
                "phase": at(s.phase, w, to=WRITING), "made_by": at(s.made_by, w, to=s.barrier(p)),
                "layout_in": at(s.layout_in, w, to=s.layout_of(p)),
            },
            (WRITER_STARTS_WRITING,),
        )  # fmt: skip
        return (*super().writing(), planned)

    def completing_writes(self) -> tuple[Move, ...]:
        return core.Core.completing_writes(self)

    def is_late(self, s: Any, c: Term, w: Term) -> Term:
        return False

    def resizers(self) -> tuple[Move, ...]:
        """Return the actions of resizers. None copies logs; that a resize is cancelled is not described."""
        return tuple(each for each in super().resizers() if each.name == "resizer schedules resize")

    def clauses(self) -> dict[str, Formula]:
        return {name: each for name, each in super().clauses().items() if name not in COPIES}
