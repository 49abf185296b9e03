"""Clustering."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..machine.mechanism import Mechanism
from ..machine.options import Options, choice


@dataclass(frozen=True, slots=True, kw_only=True)
class Clustering(Options):
    """Clustering."""

    clustering: Literal["plan", "file_ids"] = choice(
        "plan",
        "a compaction that sorts, where buckets fix the file ids; or a file group of its own that takes the "
        "place of the one it names, held against the writes that completed since it was planned",
    )


MECHANISM = Mechanism(options=Clustering)
