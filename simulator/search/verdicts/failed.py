"""Lists the verdict-matrix searches that failed or ran out of memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..jobs import FAILED, transient
from .bound import sentence
from .judge import MatrixRow


class FailedSearch(NamedTuple):
    """A search of the verdict matrix that failed or ran out of memory, with the reason. `failed` is False if the search
    ran out of memory.
    """

    protocol: str
    world: str
    because: str
    failed: bool


def failed_searches(rows: Iterable[MatrixRow]) -> tuple[FailedSearch, ...]:
    """Return the searches of the given matrix rows that failed or ran out of memory. Such searches may succeed if they
    are repeated.
    """
    return tuple(
        FailedSearch(row.name, sentence(each.bound), because, FAILED in each.result.promises)
        for row in rows
        for each in row.searched
        if (because := transient(each.result)) is not None
    )


def messages(searches: Iterable[FailedSearch]) -> Iterator[str]:
    """Yield one line for each reason: the first affected search, and the number of others."""
    by_reason: dict[str, list[FailedSearch]] = {}
    for each in searches:
        by_reason.setdefault(each.because, []).append(each)
    for because, (first, *others) in by_reason.items():
        more = f", and {len(others):,} more" if others else ""
        yield f"not judged: {first.protocol} in {first.world}{more}: {because}"
