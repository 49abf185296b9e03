"""Table services of other engines."""

from __future__ import annotations

from nbcc.model.kernel.compactor import COMPACTOR_RESUMES_PLAN, COMPACTOR_STARTS_PLAN, COMPACTOR_WRITES_BASE
from nbcc.model.mechanisms.foreign_services import ForeignServices

from ..mechanism import Feature, Lockstep, Picture

LOCKSTEP = Lockstep(
    features=(
        Feature("foreign-services",
            about="A compaction or clean without nbcc's mark: its file groups are merged by Hudi's rules, and inspect "
                  "and validate report it.",
            source="docs/contract.md, Assumptions: the table services that run on the table are nbcc's",
            model=(COMPACTOR_STARTS_PLAN, COMPACTOR_RESUMES_PLAN, COMPACTOR_WRITES_BASE,
                   "compactor_publishes_instant"),
            engine=("audit.foreign_services:foreign_services", "reads.tasks:group_rules"),
            hudi=("plan", "compact", "commit_compaction"),
            mutants=("foreign-base-read-as-ours", "every-compaction-is-marked"),
            verdicts=("foreign-compaction", "foreign-compaction-unseen"), promises=("SNAP", "QUIET"),
            trace="90-another-engine-compacts", boundary="Services of other engines"),
    ),
    pictures={
        ForeignServices(services="foreign"): Picture(
            "Another engine ran compaction t{b}: it merged by requested time and dropped the deletes.",
            "a compaction of nbcc merges by completion time and keeps the deletes with base t{b}",
        ),
    },
    explains={"merged": {"services": 5}, "read": {"services": 8}},
)  # fmt: skip
