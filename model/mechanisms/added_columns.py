"""Columns that are added to a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..machine.mechanism import Mechanism
from ..machine.options import Limits, Options, choice, limit


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedColumns(Options):
    """Columns that are added to a table."""

    columns_shown: Literal["of_time", "of_now", "of_commit"] = choice(
        "of_time",
        "as of a time the columns that the table had then; or those of now; of_commit: those that the newest "
        "commit names, by request, whether its writer knew all of them or not (Apache Hudi)",
    )
    columns_kept: Literal["of_now", "as_opened"] = choice(
        "of_now",
        "a service writes the columns that the table has when it begins with its plan, or those that it knew "
        "when it opened the table",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Alterations(Limits):
    """Limits: columns that are added to a table."""

    alterations: int = limit(0, "how often a column is added to the table")


MECHANISM = Mechanism(options=AddedColumns, limits=Alterations)
