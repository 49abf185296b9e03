"""Findings: where a real system breaks a promise, one file each in `specs/findings`.

`NAME.toml` holds the words, `NAME.json` the run that shows it, `NAME.md` the page that is generated from both. A
finding that no run of the model can show names a test on the system itself instead.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from nbcc.model.promises import PROMISES
from nbcc.model.validation import nearest, refuse_unknown

from . import specs
from .trace import Trace
from .trace import load as load_trace

FOLDER: Final = Path(str(files("nbcc") / "specs" / "findings"))
NEWEST: Final = "Apache Hudi 1.2.0"
HUDI_RS: Final = "hudi-rs 0.5.0"
SYSTEMS: Final = {
    "hudi-1.2.0": (NEWEST, f"{NEWEST} on Spark, non-blocking concurrency control, MERGE_ON_READ, bucket index"),
    "hudi-rs-0.5.0": (HUDI_RS, f"{HUDI_RS}, reading a table that nbcc writes: MERGE_ON_READ, bucket index"),
}
"""Protocol that describes a system -> the name of the system, and how it was run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A promise that a real system breaks.

    `breaks`: the promises that the run breaks under the protocol `setting`, or that the test shows broken.
    `read`: the read at the end of the run that shows the difference. `expected`, `actual`: of findings without a run.
    `seen`: release -> what it shows.
    """

    name: str
    title: str
    setting: str
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

    @property
    def path(self) -> Path:
        """The file of its run."""
        return FOLDER / f"{self.name}.json"

    @property
    def trace(self) -> Trace:
        """The run, under the protocol of the finding."""
        return replace(load_trace(self.path), protocol=specs.protocol(self.setting))

    @property
    def system(self) -> str:
        """The system that breaks the promise, by its name in `seen`."""
        return SYSTEMS[self.setting][0]


def names() -> tuple[str, ...]:
    """The names of all findings."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


@cache
def load(name: str) -> Finding:
    """A finding by name.

    Raises:
        ValueError: no finding has this name, or its file is wrong.
    """
    if name not in (known := names()):
        raise ValueError(f"no finding is called {name!r}; {nearest(name, known)}")
    given: dict[str, Any] = tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8"))
    known_fields = ("format", *(each.name for each in fields(Finding) if each.name != "name"))
    refuse_unknown(given, known_fields, f"finding {name!r}")
    wrong = [promise for promise in given.get("breaks", ()) if promise not in PROMISES]
    if wrong:
        raise ValueError(f"finding {name!r}: {nearest(wrong[0], tuple(PROMISES))}")
    given.pop("format")
    return Finding(name=name, **{**given, "breaks": tuple(given.get("breaks", ()))})


def is_system(protocol: str) -> bool:
    """Whether a protocol describes a release of Apache Hudi."""
    return protocol.startswith("hudi-")


def confirmed(protocol: str) -> frozenset[str]:
    """The promises that the system of this protocol broke in the runs of findings."""
    found = (load(name) for name in names())
    return frozenset(
        promise for each in found if each.setting == protocol and not each.test and each.system in each.seen
        for promise in each.breaks
    )  # fmt: skip
