"""Copy-on-write tables."""

from __future__ import annotations

from dataclasses import dataclass

from ..machine.mechanism import Mechanism
from ..machine.options import Limits, limit


@dataclass(frozen=True, slots=True, kw_only=True)
class TableKind(Limits):
    """Limits: copy-on-write tables."""

    table_type: str = limit("MERGE_ON_READ", "whether writes put log files or base files", section="table")


MECHANISM = Mechanism(limits=TableKind)
