"""Findings: cases in which a real system breaks a promise of nbcc's contract, stored in `specs/findings`.

The file `NAME.toml` describes a finding, and `NAME.json` contains the run that demonstrates it. The page `NAME.md` is
generated from the two files. If the model cannot show a finding, a test of the real system replaces the run.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from nbcc.model import Step
from nbcc.model.promises import PROMISES
from nbcc.model.validation import nearest, refuse_unknown

from .. import specs
from ..search.verdicts.judge import MatrixRow
from ..trace import Trace
from ..trace import load as load_trace
from .mapping import IMPOSSIBLE

FOLDER: Final = Path(str(files("nbcc") / "specs" / "findings"))
NEWEST: Final = "Apache Hudi 1.2.0"
HUDI_RS: Final = "hudi-rs 0.5.0"
SYSTEMS: Final = {
    "hudi-1.2.0": (NEWEST, f"{NEWEST} on Spark, non-blocking concurrency control, MERGE_ON_READ, bucket index"),
    "hudi-rs-0.5.0": (HUDI_RS, f"{HUDI_RS}, reading a table that nbcc writes: MERGE_ON_READ, bucket index"),
}
"""Protocol that describes a system -> the name of the system, and how it was run."""
PLAYED: Final = ("hudi-1.2.0",)
"""Those whose system can refuse a step of a run; a reader such as hudi-rs reads what nbcc wrote."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A case in which a real system breaks a promise of the contract or refuses a user's request.

    `protocol` is the set of timeline rules that describes the system. `breaks` lists the broken promises. The run
    recorded under `protocol` demonstrates the finding. If the model cannot show the finding, `test` names a test that
    demonstrates it. In this case, `steps`, `expected` and `actual` describe the behaviour in words. `rule` is the
    protocol option that causes the behaviour. `read` is the query whose result demonstrates the finding. `seen` maps
    each release of the system to the behaviour observed there. `concurrency` is the mode of the writers.
    """

    name: str
    title: str
    protocol: str
    mechanism: str
    workaround: str
    issue: str
    seen: Mapping[str, str]
    breaks: tuple[str, ...] = ()
    rule: str = ""
    read: str = ""
    test: str = ""
    expected: str = ""
    actual: str = ""
    steps: str = ""
    concurrency: str = "non-blocking"

    @property
    def path(self) -> Path:
        """The path of the JSON file with the run that shows the finding."""
        return FOLDER / f"{self.name}.json"

    @property
    def trace(self) -> Trace:
        """The recorded run that demonstrates the finding, under the finding's protocol."""
        return replace(load_trace(self.path), protocol=specs.protocol(self.protocol))

    @property
    def system(self) -> str:
        """The name and release of the real system that `protocol` describes."""
        return SYSTEMS[self.protocol][0]


def names() -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


@cache
def load(name: str) -> Finding:
    """Return the finding with the given name.

    Raises ValueError if the name is unknown, or if the finding's file is invalid.
    """
    if name not in (known := names()):
        raise ValueError(f"no finding is called {name!r}; {nearest(name, known, 'nbcc list findings')}")
    given: dict[str, Any] = tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8"))
    known_fields = ("format", *(each.name for each in fields(Finding) if each.name != "name"))
    refuse_unknown(given, known_fields, f"finding {name!r}")
    wrong = [promise for promise in given.get("breaks", ()) if promise not in PROMISES]
    if wrong:
        raise ValueError(f"finding {name!r}: {nearest(wrong[0], tuple(PROMISES))}")
    given.pop("format")
    return Finding(name=name, **{**given, "breaks": tuple(given.get("breaks", ()))})


def is_system(protocol: str) -> bool:
    """Return whether the protocol describes a real system that nbcc can run."""
    return protocol in SYSTEMS


def shown_broken(protocol: str) -> dict[str, tuple[Finding, ...]]:
    """Map each broken promise of the real system that `protocol` describes to the findings that demonstrate the
    violation.
    """
    every = [each for each in map(load, names()) if each.protocol == protocol and each.system in each.seen]
    broken = dict.fromkeys(promise for each in every for promise in each.breaks)
    return {promise: tuple(each for each in every if promise in each.breaks) for promise in broken}


def confirmed(rows: Iterable[MatrixRow]) -> tuple[MatrixRow, ...]:
    """Return rows of the verdict matrix in which each cell says how the real system confirms it."""
    return tuple(
        replace(row, cells={
            name: replace(cell, evidence=evidence(row.name, name, cell.trace)) for name, cell in row.cells.items()
        })
        for row in rows
    )  # fmt: skip


def evidence(protocol: str, promise: str, steps: Sequence[Step] | None) -> str:
    """Return how a violation was confirmed on the real system that `protocol` describes, such as "model only".

    `steps` contains the steps of the violation that a search found in the model; None if the search found none.
    """
    findings = shown_broken(protocol).get(promise, ()) if is_system(protocol) else ()
    runs = [len(each.trace.steps) for each in findings if not each.test]
    if steps is None or not is_system(protocol):
        return "broken by a test" if findings else ""
    if not findings:
        return "model only"
    if not runs:
        return "confirmed by a test"
    refused = protocol in PLAYED and any(step.action in IMPOSSIBLE for step in steps)
    return f"confirmed in {min(runs)} steps" if refused else "confirmed"
