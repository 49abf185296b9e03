"""Consumers with a checkpoint."""

from __future__ import annotations

from nbcc.model.mechanisms.consumers import Consumers

from ..mechanism import AFTER_LISTING, Feature, Lockstep, MappingRow
from .reader import IN_ONE_CALL

LOCKSTEP = Lockstep(
    features=(
        Feature("consumers",
            about="A consumer reads consecutive windows and stores a checkpoint with their rows; behind the horizon "
                  "its window is refused.",
            source="RFC-22, incremental reads, options 1 to 3; docs/contract.md, INCR",
            engine=("incremental", "reads.windows:settled_window", "reads.retention:refuse_cleaned"),
            hudi_impossible="Hudi's reader lists and reads in one call; the windows themselves are compared as queries",
            mutants=("checkpoint-past-the-window", "checkpoint-before-pending", "window-behind-the-horizon-answered",
                     "window-ends-at-second-newest", "window-lists-once"),
            verdicts=("rfc-22-option-1", "rfc-22-option-2", "behind-in-silence"), promises=("INCR", "CLEAN", "FRESH"),
            trace="68-checkpoint-passes-a-write", boundary="**Consumers**"),
    ),
    rows=(
        # The first listing determines the window's end, the second finds the writes that completed in it.
        MappingRow("consumer_takes_window", "incremental", ends_after="list.end timeline", also=AFTER_LISTING,
                   starts=True, arguments=(("after", "after"),)),
        MappingRow("consumer_lists_window", "incremental", ends_after="list.end timeline", also=AFTER_LISTING,
                   raises="Cleaned"),
        MappingRow("consumer_reads_window", "incremental", raises="Cleaned"),
    ),
    hudi_cannot=IN_ONE_CALL,
    refuses={
        Consumers(checkpoint="fenced"): "an open window ends at the newest completion",
        Consumers(behind_horizon="skipped"): "a window that begins before the horizon is refused",
    },
    traceless="a consumer puts no file",
)  # fmt: skip
