"""Continues the search for kills of all generated mutants from a record, and repeats every recorded kill."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from . import generated
from .cases import Case, cases
from .checks import CHECKS, EngineCheck
from .hunt import SURVIVES, Fate, Hunt
from .record import Record


def resume(check: bool = True, known: Record | None = None) -> Iterator[Record]:
    """Yield the record after each case.

    Kills of `known` are not repeated; survivors skip the cases that they passed. A mutant that `known` lacks is
    recorded once it is killed, or has passed as many cases as the others.
    """
    mutants = {mutant.name: mutant for mutant in generated()}
    before = {name: fate for name, (_, fate) in known.mutants.items() if name in mutants} if known else {}
    passed = known.searched if known else 0
    hunt = Hunt(mutants, dict(before), dict.fromkeys(before, passed))

    def record(searched: int, checked: bool = False) -> Record:
        rows = {
            name: (mutants[name].operator, fate)
            for name, fate in hunt.fates.items()
            if name in before or fate.by or searched >= passed
        }
        return Record(rows, len(cases()), max(searched, passed), checked, len(mutants) - len(rows))

    for done in hunt.through():
        yield record(done)
    alive = {name for name, fate in hunt.fates.items() if not fate.by}
    if known and known.checked and alive <= before.keys():  # all survivors were checked in an earlier run
        yield record(len(cases()), checked=True)
    elif check:
        yield from (record(len(cases()), done == len(CHECKS)) for done in hunt.check())


def kills_again(known: Record) -> Iterator[tuple[str, Fate]]:
    """Search each killed mutant again, only in the case where it was killed, and yield its new fate."""
    mutants = {mutant.name: mutant for mutant in generated() if mutant.name in known.mutants}
    killed: dict[Case | EngineCheck, list[str]] = {}
    for name in mutants:
        fate = known.mutants[name][1]
        if fate.by:
            killed.setdefault(place_of(fate), []).append(name)
    for place, names in killed.items():
        hunt = Hunt({name: mutants[name] for name in names}, dict.fromkeys(names, SURVIVES))
        list(hunt.through([place]) if isinstance(place, Case) else hunt.check([place]))
        yield from hunt.fates.items()


def place_of(fate: Fate) -> Case | EngineCheck:
    """Return the case or check that killed a mutant.

    Raises:
        ValueError: no present case or check has the name in the record.
    """
    places: Sequence[Case | EngineCheck] = CHECKS if fate.by == "check" else cases()
    matching = [place for place in places if place.where in fate.how]
    if not matching:
        raise ValueError(f"killed in a case that does not exist any more: {fate}")
    return max(matching, key=lambda place: len(place.where))  # the names of many worlds end in "1 group"
