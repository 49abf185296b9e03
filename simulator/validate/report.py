"""The judgement of a table: its history, its diagnostics, and what both mean for each promise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from nbcc.engine.audit import Audit

from .diagnostics import Diagnostic
from .history_check import HistoryCheck

Verdict = Literal["OK", "BROKEN", "UNDETERMINED"]

SHOWN: Final[Mapping[str, str]] = {
    "SNAP": "every file that a snapshot reads is there, listed, and in a slice that is read",
    "TRAVEL": "the files that reads of retained times need are there",
    "INCR": "the commits of the windows that can be asked for are readable, and their files there",
    "ATOM": "every data file belongs to a completed instant that lists it, or to one in flight",
    "RO": "the newest completed base file of every file group is there",
    "QUIET": "every compaction took the logs of its slice, all of them and no others",
    "PART": "each completed log lies in exactly one slice",
    "CLEAN": "what cleaning deleted is needed by nobody",
    "ARCH": "what belongs to a failed write is recognised as such, archived or not",
    "REC": "no instant was both rolled back and completed",
    "KEY": "a bucket has one file group",
    "MONO": "times are distinct, rise from requested to completed, and lie in the past",
    "PROGRESS": "every plan can be carried out",
}
"""The promises of which a table shows something, and what it shows."""

_WITH: Final[Mapping[str, tuple[str, ...]]] = {
    "SNAP": ("INCR", "RO"),
    "TRAVEL": ("INCR",),
}
"""Complaints about the first speak of the others, too: the same files are read."""

_HISTORY: Final = ("QUIET", "PART")
"""Promises that rest on a history that the model can make."""


@dataclass(frozen=True)
class PromiseLine:
    """A promise, and why it is what it is."""

    verdict: Verdict
    because: str


@dataclass(frozen=True)
class Report:
    """`undetermined` is the reason why nothing can be said at all (an old table); then there is nothing else.

    `gaps` are promise -> evidence that is missing. `opened`: the data files were opened, too.
    """

    url: str
    name: str
    version: str
    rules: str
    history: HistoryCheck | None
    diagnostics: tuple[Diagnostic, ...]
    gaps: Mapping[str, str]
    opened: bool
    files: int
    undetermined: str = ""

    @property
    def promises(self) -> dict[str, PromiseLine]:
        """The promises that a table can show."""
        if self.undetermined:
            return {name: PromiseLine("UNDETERMINED", self.undetermined) for name in SHOWN}
        return {name: self._promise(name) for name in SHOWN}

    def _promise(self, name: str) -> PromiseLine:
        broken = [c for c in self.diagnostics if c.gravity == "BROKEN" and name in _spoken_of(c)]
        if broken:
            more = f", and {len(broken) - 1} more" if len(broken) > 1 else ""
            return PromiseLine("BROKEN", f"{broken[0].rule}: {broken[0].file}{more}")
        history = self.history
        if name in _HISTORY and history is not None and history.refusal is not None:
            return PromiseLine("BROKEN", f"the history is not possible: {history.refusal.event}")
        if name in self.gaps:
            return PromiseLine("UNDETERMINED", self.gaps[name])
        if name in _HISTORY and history is not None and history.left_out:
            reason, groups = next(iter(history.left_out.items()))
            return PromiseLine("UNDETERMINED", f"{reason} ({groups} file groups)")
        return PromiseLine("OK", SHOWN[name])

    @property
    def verdict(self) -> Verdict:
        """The gravest of all."""
        verdicts = {line.verdict for line in self.promises.values()}
        if any(c.gravity == "BROKEN" for c in self.diagnostics) or "BROKEN" in verdicts:
            return "BROKEN"
        return "UNDETERMINED" if "UNDETERMINED" in verdicts else "OK"

    @property
    def fine(self) -> bool:
        """Nothing is broken, open, or at risk."""
        return self.verdict == "OK" and not self.diagnostics

    def to_mapping(self) -> dict[str, Any]:
        """The value of ``validate --json``, without its ``format``."""
        history = self.history
        return {
            "table": {"version": self.version, "rules": self.rules, "data_files": self.files, "opened": self.opened},
            "verdict": self.verdict,
            "because": self.undetermined,
            "history": None if history is None else {**asdict(history), "verdict": history.verdict},
            "promises": {n: {"verdict": p.verdict, "because": p.because} for n, p in self.promises.items()},
            "diagnostics": [
                {**c._asdict(), "promises": list(c.promises), "remedy": c.remedy.replace("{table}", self.url)}
                for c in self.diagnostics
            ],
        }


def _spoken_of(diagnostic: Diagnostic) -> set[str]:
    return {*diagnostic.promises, *(other for name in diagnostic.promises for other in _WITH.get(name, ()))}


def missing_evidence(found: Audit) -> dict[str, str]:
    """Promise -> the evidence about it that is missing."""
    gaps: dict[str, str] = {}
    unread = sum(instant not in found.commits for instant in found.archived)
    if unread:
        told = f"the archive does not tell what {unread} archived instants wrote"
        gaps = dict.fromkeys(("SNAP", "TRAVEL", "QUIET", "PART"), told)
    if found.shared_requests:
        told = f"several instants were requested at {min(found.shared_requests)}, and file names do not tell them apart"
        gaps |= dict.fromkeys(("SNAP", "TRAVEL", "ATOM", "RO", "QUIET", "PART", "ARCH"), told)
    kinds = {fault.kind for fault in found.faults}
    if "archive" in kinds:
        gaps |= dict.fromkeys(("SNAP", "TRAVEL", "QUIET", "PART", "ATOM"), "part of the archive cannot be read")
    if "clean" in kinds:
        gaps |= dict.fromkeys(("CLEAN", "TRAVEL"), "what a clean deleted cannot be read")
    if "rollback" in kinds:
        gaps |= {"REC": "what a rollback undid cannot be read"}
    if "commit" in kinds:
        told = "a commit cannot be read"
        gaps |= dict.fromkeys(("SNAP", "TRAVEL", "INCR", "ATOM", "RO", "QUIET", "PART", "KEY"), told)
    return gaps
