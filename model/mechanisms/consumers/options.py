"""The options and limits of consumers."""

from __future__ import annotations

from typing import Literal

from ...machine.options import Limits, Options, limit, option


class Consumers(Options):
    """The options of consumers: how the checkpoint advances, and what happens to a window that begins before the
    cleaning horizon.
    """

    checkpoint: Literal["end_of_window", "before_pending", "fenced"] = option(
        "end_of_window",
        "the checkpoint that a consumer stores. end_of_window: the end of its window; before_pending: the last time "
        "before the oldest pending write, so that it reads later writes again (RFC-22, option 1); fenced: as "
        "before_pending, and its window ends there as well (option 2)",
    )
    behind_horizon: Literal["refused", "skipped"] = option(
        "refused",
        "what becomes of a window that begins before the horizon. refused: it is not read; skipped: the consumer reads "
        "the writes whose files are left",
    )


class ConsumedWindows(Limits):
    """The limit on the number of incremental windows that each consumer reads."""

    windows: int = limit(0, "how many windows each consumer reads", in_random_worlds=(2,), needs="consumer")
