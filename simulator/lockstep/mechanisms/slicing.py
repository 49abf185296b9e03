"""Which slice a log file belongs to."""

from __future__ import annotations

from nbcc.model.kernel.compactor import COMPACTOR_SCHEDULES_PLAN
from nbcc.model.kernel.writer import WRITER_WRITES_LOG
from nbcc.model.machine.options import names_of
from nbcc.model.variants.order import Order
from nbcc.model.variants.slicing import Slicing

from ..mechanism import Feature, Lockstep, Picture

BY_COMPLETION = "sliced by completion time, t{c} > barrier t{b}: the log belongs to slice t{b}"

LOCKSTEP = Lockstep(
    features=(
        Feature("file-slicing",
            about="A log belongs to the slice of the greatest barrier at or before its completion; a pending plan is a"
                  " barrier, too.",
            source="RFC-66, new file slicing", model=(WRITER_WRITES_LOG, COMPACTOR_SCHEDULES_PLAN),
            options=("slicing", "barriers", *names_of(Order), "first_slice"),
            engine=("file_slices", "files.slices:slice_time"), hudi=("data", "plan"),
            mutants=("log-by-requested-time", "base-file-at-its-completion", "logs-scanned-backwards",
                     "base-wins-over-log"),
            verdicts=("requested-time-slicing", "base-instant-naming", "old-layout-serial", "requested-merge-order",
                      "blocks-in-file-order", "rfc-66-slicing", "rfc-66-temporal-order", "rfc-66-as-written",
                      "pending-first"),
            promises=("PART", "SNAP", "QUIET", "LAWS"), trace="06-lost-row", boundary="**Upsert and delete**"),
    ),
    refuses={
        Slicing(barriers="base_files"): "a plan is a barrier as soon as it is made",
        Slicing(slicing="base_instant"): "log files are named by their own instant",
        Slicing(slicing="temporal"): "every completed log is in a slice",
        Slicing(first_slice="first_requested"): "files that no completed instant lists are ignored",
    },
    pictures={
        Slicing(slicing="requested"): Picture(
            "Sliced by requested time, t{r} < barrier t{b}: it counts as replaced by base t{b}, which never took "
            "it because it had not completed.",
            BY_COMPLETION,
        ),
        Slicing(slicing="base_instant"): Picture(
            "Sliced by the base instant in its name, looked up before plan t{b} was made: it counts as replaced by "
            "base t{b}, which never took it.",
            BY_COMPLETION,
        ),
        Slicing(first_slice="first_requested"): Picture(
            "Its slice begins with the log of a pending write that was requested earlier: the whole slice is not read.",
            "the slice begins with the completed logs; the pending log is skipped",
        ),
    },
    explains={"hidden": {"slicing": 1, "first_slice": 3}},
)  # fmt: skip
