"""The hunt for every generated mutant; it goes on where an earlier one was left."""

from __future__ import annotations

from collections.abc import Iterator

from . import generated
from .cases import cases
from .hunt import Hunt
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
    if check and not (known and known.checked and before.keys() == mutants.keys()):
        hunt.check()
        yield found(len(cases()), True)
