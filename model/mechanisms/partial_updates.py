"""Partial updates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..machine.mechanism import Mechanism
from ..machine.options import Limits, Options, choice, limit


@dataclass(frozen=True, slots=True, kw_only=True)
class PartialUpdates(Options):
    """Partial updates."""

    column_merge: Literal["by_column", "by_row", "by_row_in_base"] = choice(
        "by_column",
        "partial updates: each column by the rank with which it was set; or, once several have become a row "
        "in a base file, all of them by the row's rank; by_row: wherever two are merged",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PartialColumns(Limits):
    """Limits: partial updates."""

    columns: int = limit(
        0, "how many columns there are of which a write sets some; 0: rows are written whole", section="table"
    )


MECHANISM = Mechanism(options=PartialUpdates, limits=PartialColumns)
