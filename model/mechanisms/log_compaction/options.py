"""The options and limits of log compaction."""

from __future__ import annotations

from typing import Literal

from ...machine.options import Limits, Options, limit, option


class LogCompactions(Options):
    """The options that select how readers use a log file written by a log compaction."""

    log_compaction_rank: Literal["inputs", "own"] = option(
        "inputs",
        "the rank of the log of a log compaction. inputs: that of its newest input; own: by its own completion time",
    )
    log_compaction_window: Literal["excluded", "included"] = option(
        "excluded",
        "what an incremental window does with that log. excluded: it delivers the inputs instead; included: it "
        "delivers the log like that of a write",
    )


class LogCompactionLimits(Limits):
    """The limit on the number of log compactions."""

    log_compactions: int = limit(0, "how many log compactions may be planned",
                                 in_random_worlds=(1, 2), needs="log_compactor")  # fmt: skip
