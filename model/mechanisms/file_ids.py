"""File ids that are not fixed by the bucket."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..machine.mechanism import Mechanism
from ..machine.options import Options, choice


@dataclass(frozen=True, slots=True, kw_only=True)
class FileIds(Options):
    """File ids that are not fixed by the bucket."""

    file_ids: Literal["fixed", "minted"] = choice(
        "fixed",
        "a bucket has one file group, or whoever finds none begins one of its own",
    )
    bucket_count: Literal["of_table", "own"] = choice(
        "of_table",
        "a writer hashes keys into the buckets that the table says, or into as many as its options say",
        by=("writer",),
    )


MECHANISM = Mechanism(options=FileIds)
