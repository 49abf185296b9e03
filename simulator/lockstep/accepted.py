"""What the accepted matrix states: the promises that a protocol breaks, the steps of shortest runs, and the verdicts on
Apache Hudi, with the findings about it.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from .. import specs
from ..search.verdicts.bound import bound_of, sentence
from ..search.verdicts.data import load
from ..search.verdicts.judge import worlds_of
from ..trace import Trace
from . import findings, minimal_examples


@cache
def _protocols() -> dict[str, Any]:
    protocols: dict[str, Any] = load("quick")["protocols"]
    return protocols


def is_judged(protocol: str) -> bool:
    """True unless the protocol is newer than the accepted matrix."""
    return protocol in _protocols()


def breaks(protocol: str) -> dict[str, int]:
    """Map each promise that a protocol breaks to the steps of a run that is the shortest in every searched world. These
    are the cells that `specs/verdicts.md` prints.
    """
    cells = _protocols()[protocol]["promises"].items() if is_judged(protocol) else ()
    return {promise: cell["steps"] for promise, cell in cells if cell["verdict"] == "VIOLATED"}


def undetermined(protocol: str) -> list[str]:
    """Return the promises on which the matrix has no verdict under a protocol."""
    cells = _protocols()[protocol]["promises"].items() if is_judged(protocol) else ()
    return [promise for promise, cell in cells if cell["verdict"] == "UNDETERMINED"]


def example(protocol: str, promise: str) -> Trace | None:
    """Search for a run as short as the matrix states, in the worlds of the bound that the matrix states."""
    cell = _protocols()[protocol]["promises"][promise]
    for world in worlds_of(protocol, "quick"):
        if sentence(bound_of(world)) == cell["bound"]:
            trace = minimal_examples.breaking(world, specs.protocol(protocol), promise)
            if trace is not None and len(trace.steps) == cell["steps"]:
                return trace
    return None


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
