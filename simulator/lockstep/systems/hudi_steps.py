"""Maps each action of the model to the Apache Hudi client call that performs it: the steps of all mechanisms.

One call of Hudi's client performs several steps of the model. With the world's option `granularity = call`, the model
executes all steps of a call atomically.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ..mechanism import PeerStep
from ..mechanisms import mapping_rows

STEPS: Final[Mapping[str, PeerStep]] = {row.action: row.hudi for row in mapping_rows() if row.hudi}
"""Action -> the step of Apache Hudi."""
IMPOSSIBLE: Final = {action: step.because for action, step in STEPS.items() if step.impossible}
"""Action that cannot be played -> the reason."""
BY_HAND: Final = (
    "archive", "clean", "cluster", "commit_log_compaction", "configured",
    "give_back", "hold", "log_compact", "plan_clustering",
    "plan_log_compaction", "procedure",
)  # fmt: skip
"""Calls of the peer that only tests in tests/interop make; no random history contains them."""
