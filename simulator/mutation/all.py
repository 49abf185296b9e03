"""The hunt for every generated mutant, on several processes; it goes on where an earlier one was left."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from hashlib import sha256

from . import Generated, generated
from .hunt import Fate, hunt
from .record import Record


def order() -> list[Generated]:
    """Every mutant there is now, in an order that has nothing to do with where it stands: a part of it is a sample."""
    return sorted(generated(), key=lambda mutant: sha256(mutant.name.encode()).digest())


def hunt_all(workers: int = 1, check: bool = True, known: Record | None = None) -> Iterator[Record]:
    """What has become of them so far, after each one that `known` does not hold."""
    mutants = order()
    found = {m.name: known.mutants[m.name] for m in mutants if known and m.name in known.mutants}
    kinds = {mutant.name: mutant.operator for mutant in mutants}
    left = [(name, check) for name in kinds if name not in found]
    yield Record(dict(found), len(kinds))
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        for name, fate in pool.imap(_hunt, left):
            found[name] = (kinds[name], fate)
            yield Record(dict(found), len(kinds))


_MUTANTS: dict[str, Generated] = {}


def _hunt(what: tuple[str, bool]) -> tuple[str, Fate]:
    name, check = what
    if not _MUTANTS:
        _MUTANTS.update({mutant.name: mutant for mutant in generated()})
    return name, hunt(_MUTANTS[name], check)
