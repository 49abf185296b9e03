"""The promises that a protocol breaks, and the steps of shortest runs, as the accepted matrix states them."""

from __future__ import annotations

from functools import cache
from typing import Any

from .. import specs
from ..search.verdicts.bound import bound_of, sentence
from ..search.verdicts.data import load
from ..search.verdicts.judge import worlds_of
from ..trace import Trace
from . import minimal_examples


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
