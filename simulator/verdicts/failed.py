"""Lists the verdict-matrix searches that failed or ran out of memory. A page of verdicts is written only if no search
failed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..explore.failed import FAILED, transient
from .bound import sentence
from .judge import MatrixRow


class FailedSearch(NamedTuple):
    """A search that ended without a result, and the reason. `failed` is True after an error, and False if the search
    ran out of memory.
    """

    protocol: str
    world: str
    because: str
    failed: bool


def failed_searches(rows: Iterable[MatrixRow]) -> tuple[FailedSearch, ...]:
    """Return the searches of the given matrix rows that failed or ran out of memory. A repeated search may succeed."""
    return tuple(
        FailedSearch(row.name, sentence(each.bound), because, FAILED in each.result.promises)
        for row in rows
        for each in row.searched
        if (because := transient(each.result)) is not None
    )


def messages(searches: Iterable[FailedSearch]) -> Iterator[str]:
    """Yield one line for each reason for failure, with the first affected search and the number of other affected
    searches.
    """
    by_reason: dict[str, list[FailedSearch]] = {}
    for each in searches:
        by_reason.setdefault(each.because, []).append(each)
    for because, (first, *others) in by_reason.items():
        more = f", and {len(others):,} more" if others else ""
        yield f"not judged: {first.protocol} in {first.world}{more}: {because}"
