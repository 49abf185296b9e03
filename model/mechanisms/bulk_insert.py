"""Bulk inserts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..machine.mechanism import Mechanism
from ..machine.options import Options, choice


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkInsert(Options):
    """Bulk inserts."""

    bulk_insert: Literal["checked", "unchecked", "resolved"] = choice(
        "checked",
        "base files only into file groups in which nothing else has completed, asked again under the lock "
        "before publishing; resolved: refused as well if only its logs were overtaken, as by Hudi's conflict "
        "resolution; unchecked: base files into every group, whatever is there",
    )


MECHANISM = Mechanism(options=BulkInsert)
