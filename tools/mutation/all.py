"""The hunt for every generated mutant; it goes on where an earlier one was left. And every kill, seen once more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from . import generated
from .cases import Case, cases
from .checks import CHECKS, Played
from .hunt import LIVES, Fate, Hunt
from .record import Record


def hunt_all(check: bool = True, known: Record | None = None) -> Iterator[Record]:
    """What has become of them so far, after each case; what `known` says need not be found again."""
    mutants = {mutant.name: mutant for mutant in generated()}
    before = {name: fate for name, (_, fate) in known.mutants.items() if name in mutants} if known else {}
    hunt = Hunt(mutants, dict(before), dict.fromkeys(before, known.searched) if known else {})

    def found(searched: int, checked: bool = False) -> Record:
        rows = {name: (mutants[name].operator, fate) for name, fate in hunt.fates.items()}
        return Record(rows, len(cases()), searched, checked)

    for done in hunt.through():
        yield found(done)
    alive = {name for name, fate in hunt.fates.items() if not fate.by}
    if known and known.checked and alive <= before.keys():  # each was played when it was first seen to live
        yield found(len(cases()), checked=True)
    elif check:
        yield from (found(len(cases()), done == len(CHECKS)) for done in hunt.check())


def kills_again(known: Record) -> Iterator[tuple[str, Fate]]:
    """Each mutant that is said to be dead, with what became of it where it was killed, and there alone."""
    mutants = {mutant.name: mutant for mutant in generated() if mutant.name in known.mutants}
    killed: dict[Case | Played, list[str]] = {}
    for name in mutants:
        fate = known.mutants[name][1]
        if fate.by:
            killed.setdefault(place_of(fate), []).append(name)
    for place, names in killed.items():
        hunt = Hunt({name: mutants[name] for name in names}, dict.fromkeys(names, LIVES))
        list(hunt.through([place]) if isinstance(place, Case) else hunt.check([place]))
        yield from hunt.fates.items()


def place_of(fate: Fate) -> Case | Played:
    """Where a mutant was killed. ValueError: nothing of today is named so."""
    said: Sequence[Case | Played] = CHECKS if fate.by == "check" else cases()
    there = [place for place in said if place.where in fate.how]
    if not there:
        raise ValueError(f"killed in nothing of today: {fate}")
    return max(there, key=lambda place: len(place.where))  # "1 group" is the end of the name of many a world
