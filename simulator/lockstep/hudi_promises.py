"""What a row of the matrix that describes Apache Hudi says about each promise, with the findings about Hudi."""

from __future__ import annotations

from typing import NamedTuple

from .. import specs
from ..search.verdicts.data import load
from . import findings


class HudiVerdict(NamedTuple):
    """The verdict on one promise: that of the search, unless findings show that Hudi breaks the promise.

    `steps` is the length of a shortest run that breaks it in a search; 0 if no search breaks it. `findings` names the
    findings that show the promise broken, if only they do.
    """

    verdict: str
    steps: int = 0
    findings: tuple[str, ...] = ()


def promises_of(row: str) -> dict[str, HudiVerdict]:
    """Return the verdict on each promise for a row of the matrix.

    A promise that no search breaks, and a finding does, is VIOLATED if the finding is about this row, and UNDETERMINED
    if it is about the protocol of Hudi that the row extends.
    """
    system = next((each for each in specs.ancestors(row) if findings.is_system(each)), row)
    shown = findings.shown_broken(system) if findings.is_system(system) else {}
    found = {}
    for promise, cell in load("quick")["protocols"][row]["promises"].items():
        names = tuple(each.name for each in shown.get(promise, ()))
        if names and cell["verdict"] != "VIOLATED":
            found[promise] = HudiVerdict("VIOLATED" if system == row else "UNDETERMINED", 0, names)
        else:
            found[promise] = HudiVerdict(cell["verdict"], cell.get("steps", 0))
    return found
