"""Readings of an incremental window."""

from __future__ import annotations

from nbcc.model.variants.windows import Windows

from ..mechanism import Feature, Lockstep, Picture

MERGES_LOGS = "a window merges the logs of its writes"
EACH_OTHER = "the window merges the logs of its writes with each other"

LOCKSTEP = Lockstep(
    features=(
        Feature("incremental",
            about="The window (T0, T1] is the merge of exactly the writes that completed in it.",
            source="RFC-66, incremental queries; RFC-22, incremental reads", engine=("incremental",),
            hudi=("incremental",),
            mutants=("incremental-by-requested-time", "incremental-bounded-by-last-requested",
                     "window-loses-slice-of-pending-plan"),
            verdicts=("requested-incremental", "rfc-66-incremental", "hudi-1.2.0", "hudi-rs-0.5.0"), promises=("INCR",),
            trace="09-incremental", boundary="snapshot, as-of, incremental and change reads"),
    ),
    refuses={
        Windows(window_merge="slice_of_window"): MERGES_LOGS,
        Windows(window_merge="slice_of_table"): MERGES_LOGS,
        Windows(window_merge="slice_of_files"): MERGES_LOGS,
        Windows(window_merge="slice_of_files_from"): MERGES_LOGS,
        Windows(window_merge="uncompacted_slices"): MERGES_LOGS,
        Windows(window_deletes="omitted"): "a window shows its deletes",
    },
    traceless="a reader puts no file",
    pictures={
        Windows(incremental_axis="requested"): Picture(
            "The window is cut by requested time t{r}, not by completion time t{c}.",
            "the window takes the writes that completed in it",
        ),
        Windows(window_merge="slice_of_window"): Picture(
            "The window merges the newest slice of its files, and shows what its writes set there.", EACH_OTHER
        ),
        Windows(window_merge="slice_of_table"): Picture(
            "The window merges the newest slice that begins within it, and shows what its writes set there.", EACH_OTHER
        ),
        Windows(window_deletes="omitted"): Picture(
            "The window leaves out winning deletes.", "a window shows deletes, marked"
        ),
    },
    explains={"hidden": {"incremental_axis": 5}, "read": {"incremental_axis": 6}},
)  # fmt: skip
