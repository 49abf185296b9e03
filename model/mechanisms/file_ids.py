"""File ids that are not fixed by the bucket."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from ..kernel.table import Write
from ..machine.marks import mark
from ..machine.mechanism import Mechanism
from ..machine.options import Options, choice


@dataclass(frozen=True, slots=True, kw_only=True)
class FileIds(Options):
    """File ids that are not fixed by the bucket."""

    file_ids: Literal["fixed", "minted"] = choice(
        "fixed",
        "fixed: the bucket fixes the file id. minted: a writer that finds a bucket empty begins a file group with a "
        "new id.",
    )
    bucket_count: Literal["of_table", "own"] = choice(
        "of_table",
        "The number of buckets into which a writer hashes keys: that of the table, or that of its own options.",
        by=("writer",),
    )


class MintedIds(NamedTuple):
    """Of a write: (file group, file id) where that is not the id that the bucket fixes."""

    ids: tuple[tuple[int, int], ...] = ()
    kind: str = "minted ids"


def minted_ids(write: Write) -> tuple[tuple[int, int], ...]:
    """The file ids of a write that its buckets do not fix, by file group."""
    return mark(write, MintedIds).ids if write.marks else ()


MECHANISM = Mechanism(options=FileIds)
