"""Log compaction merges several log files of a file slice into one; the slice keeps its base file.

Readers ignore the input logs of a completed log compaction (RFC-66, `handle_log_compaction`).

    The module `log_compactor` defines the actor that runs log compactions.
"""

from __future__ import annotations

from ...kernel.publication import publication_actions
from ...machine.mechanism import Mechanism
from ...machine.transition import Action
from . import log_compactor
from .options import LogCompactionLimits, LogCompactions
from .rules import refine

MECHANISM = Mechanism(
    rules=refine,
    compose=log_compactor.compose,
    kinds=(log_compactor.LOG_COMPACTOR,),
    options=LogCompactions,
    limits=LogCompactionLimits,
    service=True,
    actions=(
        Action("log_compactor_schedules_plan", "under the lock: takes a requested time and puts a plan over logs",
               "{actor} schedules a log compaction"),
        Action("log_compactor_starts_plan", "puts the inflight instant of the plan it scheduled",
               "{actor} starts its plan"),
        Action("log_compactor_writes_log", "puts the log that replaces the planned logs of one file group",
               "{actor} writes one log for those of group {group}", data_phase=True),
        *publication_actions("log_compactor"),
    ),
)  # fmt: skip
