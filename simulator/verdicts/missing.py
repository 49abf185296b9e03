"""Searches that say nothing that lasts: they failed, or were short of memory. Pages are not written without them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..explore.lost import LOST, fleeting
from .bound import sentence
from .judge import Row


class Missing(NamedTuple):
    """Which search, and why; `failed` is our fault, not the machine's."""

    setting: str
    world: str
    because: str
    failed: bool


def missing(rows: Iterable[Row]) -> tuple[Missing, ...]:
    """Of all searches of some rows those that another time may end otherwise."""
    return tuple(
        Missing(row.name, sentence(each.bound), because, LOST in each.result.promises)
        for row in rows
        for each in row.searched
        if (because := fleeting(each.result)) is not None
    )


def told(those: Iterable[Missing]) -> Iterator[str]:
    """A line a reason: the first search that has it, and how many more do."""
    alike: dict[str, list[Missing]] = {}
    for each in those:
        alike.setdefault(each.because, []).append(each)
    for because, (first, *others) in alike.items():
        more = f", and {len(others):,} more" if others else ""
        yield f"not judged: {first.setting} in {first.world}{more}: {because}"
