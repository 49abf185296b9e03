"""Readings of a time-travel query."""

from __future__ import annotations

from nbcc.model.variants.as_of import AsOf

from ..mechanism import Feature, Lockstep, Picture

COUNTS = "an as-of read counts the writes that completed at or before its time"

LOCKSTEP = Lockstep(
    features=(
        Feature("as-of",
            about="A read at a settled time on the completion axis returns the same answer every time.",
            source="RFC-66, time travel queries", engine=("as_of",), hudi=("as_of",),
            mutants=("time-outside-lock", "as-of-always-refused", "requested-time-not-refused", "future-answered",
                     "as-of-barrier-is-empty", "as-of-between-completions-is-empty"),
            verdicts=("unsettled-read", "rfc-66-time-travel", "hudi-1.2.0"), promises=("TRAVEL", "SNAP", "ANSWER"),
            trace="13-unsettled-read", boundary="snapshot, as-of, incremental and change reads"),
    ),
    refuses={
        AsOf(as_of_axis="requested"): "an as-of read uses the plans made by its time, not later ones",
        AsOf(as_of_axis="requested_slices"): "an as-of read uses the plans made by its time, not later ones",
        AsOf(as_of_bound="before"): "a read as of a completion time includes that write",
        AsOf(as_of_pending="refused"): "an as-of read is answered for every settled time",
    },
    traceless="a reader puts no file",
    pictures={
        AsOf(as_of_axis="requested"): Picture(
            "As of t{T} is judged by requested time t{r}, not by completion time t{c}.", COUNTS
        ),
        AsOf(as_of_axis="requested_slices"): Picture(
            "As of t{T} is judged by requested time t{r}, not by completion time t{c}, and by the slices of now.",
            COUNTS,
        ),
        AsOf(as_of_pending="refused"): Picture(
            "A write that was requested by then is pending, so the read is refused.",
            "a read at a settled time does not depend on pending writes",
        ),
    },
    explains={"hidden": {"as_of_axis": 4}, "read": {"as_of_axis": 5}},
)  # fmt: skip
