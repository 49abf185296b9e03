"""Compactions by another engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..machine.mechanism import Mechanism
from ..machine.options import Options, choice


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignServices(Options):
    """Compactions by another engine."""

    services: Literal["own", "foreign"] = choice(
        "own",
        "a compaction is one of ours and says so; or another engine's, which merges by request, forgets "
        "deletes and leaves no mark",
        by=("compactor",),
    )
    unmarked: Literal["by_its_maker", "by_the_table"] = choice(
        "by_its_maker",
        "a file group whose base file has no mark is merged as whoever made it goes on to merge, until a "
        "compaction of ours; or by the table's rules, as if nobody else had been there",
    )


MECHANISM = Mechanism(options=ForeignServices)
