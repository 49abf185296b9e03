"""The cuts of the decision log: numbers up to which its entries may be deleted (`timeline.decisions`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ..storage import Entry, Storage

CUTS: Final = ".hoodie/.nbcc/cuts"


def is_cut(storage: Storage, number: int) -> bool:
    """Return whether the entry `number` may have been deleted. The caller has just created an entry of that number, and
    must not take it for the first one if the result is True.
    """
    return number <= newest_cut(storage)


def put_cut(storage: Storage, number: int) -> None:
    """Record that all entries up to `number` are carried out, before any of them is deleted.

    Cuts only advance: each is an object of its own, so that a stalled archiver cannot replace a newer cut by its own.
    The two newest cuts stay, so that a listing during a later cut shows one of them.
    """
    storage.put_if_absent(f"{CUTS}/{number:020d}", b"")
    if old := sorted(numbers_in(storage.list(CUTS)))[:-2]:
        storage.delete_all([f"{CUTS}/{each:020d}" for each in old])


def newest_cut(storage: Storage) -> int:
    return max(numbers_in(storage.list(CUTS)), default=0)


def numbers_in(entries: Iterable[Entry]) -> list[int]:
    names = (entry.path.rpartition("/")[2] for entry in entries)
    return [int(name) for name in names if name.isdecimal()]
