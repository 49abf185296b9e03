"""The options and limits of cleaning."""

from __future__ import annotations

from typing import Literal

from ...machine.options import Limits, Options, limit, option


class Cleaning(Options):
    """The options of cleaning, such as which files a clean deletes."""

    retention: Literal["completion", "barrier", "any_barrier"] = option(
        "completion",
        "the base file whose older slices a clean deletes. completion: the newest that was complete at the horizon; "
        "barrier: the newest complete one whose barrier is at or before the horizon; any_barrier: as barrier, but its "
        "compaction may be pending",
    )
    horizon: Literal["before_delete", "after_delete"] = option(
        "before_delete",
        "when readers learn the horizon of a clean. before_delete: with its plan; after_delete: when it is complete",
    )


class Cleans(Limits):
    """The limits of cleaning: the number of cleans, and the number of commits that a clean retains."""

    cleans: int = limit(0, "how many cleans may be planned", in_random_worlds=(2,), needs="cleaner")
    commits_retained: int = limit(
        0,
        "of how many newest writes a clean keeps the state after each; every later state is kept as well",
        by=("cleaner",),
        in_random_worlds=(1, 2),
        needs="cleaner",
    )
