"""The report of `nbcc validate` on a table: its history, its diagnostics, and the verdict on each promise."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, Literal

from nbcc.engine.audit import Audit
from nbcc.engine.audit.amounts import several

from .diagnostics import OF_TIMES, Diagnostic
from .health import Health
from .history_check import HistoryCheck

Verdict = Literal["OK", "BROKEN", "UNDETERMINED"]

SHOWN: Final[Mapping[str, str]] = {
    "SNAP": "every file that a snapshot reads exists, is listed, and is in a slice that is read",
    "TRAVEL": "the files that reads of retained times need exist",
    "INCR": "the commits of all readable windows are readable, and their files exist",
    "ATOM": "the completed instant of every data file lists it, or the instant is pending",
    "RO": "the newest completed base file of every file group exists",
    "QUIET": "every compaction merged exactly the logs of its slice",
    "PART": "each completed log is in exactly one slice",
    "CLEAN": "no read needs a file that a clean deleted",
    "ARCH": "files of failed writes are recognised, whether or not their instants are archived",
    "REC": "no instant was both rolled back and completed",
    "KEY": "a bucket has one file group",
    "MONO": "times are distinct, rise from requested to completed, and are in the past",
    "PROGRESS": "every pending plan can run",
}
"""The promises for which a table holds evidence, and what an intact table shows."""

_TIMES: Final = re.compile(r"\d{17}")
_HISTORY: Final = ("QUIET", "PART")
"""Promises that hold only if the model can make the history."""


@dataclass(frozen=True)
class PromiseLine:
    """The verdict on a promise, with the reason."""

    verdict: Verdict
    because: str


@dataclass(frozen=True)
class Report:
    """The report on a table. If the table cannot be checked, `undetermined` is the reason, and the report contains
    neither a history nor diagnostics.

    `gaps` maps each promise that cannot be confirmed to the evidence that the table's files lack. `opened` is True if
    the data files were opened. `strangers` is the number of files in the table's folders that are not of the table, and
    that no rule reports. `judged` are the promises for which a table of this version holds evidence. `health` is
    the cadence of the table's services.
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
    strangers: int = 0
    undetermined: str = ""
    judged: tuple[str, ...] = tuple(SHOWN)
    health: Health = field(default_factory=Health)

    @property
    def promises(self) -> dict[str, PromiseLine]:
        """Return the verdict on each promise that can be judged from a table's files."""
        if self.undetermined:
            return {name: PromiseLine("UNDETERMINED", self.undetermined) for name in self.judged}
        return {name: self._promise(name) for name in self.judged}

    def _promise(self, name: str) -> PromiseLine:
        broken = [d for d in self.diagnostics if d.gravity == "BROKEN" and name in d.promises]
        if broken:
            more = f", and {len(broken) - 1} more" if len(broken) > 1 else ""
            return PromiseLine("BROKEN", f"{broken[0].rule}: {broken[0].file}{more}")
        history = self.history
        if name in _HISTORY and history is not None and history.refusal is not None:
            if wrong := next((d for d in self.diagnostics if d.gravity == "BROKEN" and d.rule in OF_TIMES), None):
                return PromiseLine("UNDETERMINED", f"the times are wrong ({wrong.rule}), so that no order is certain")
            return PromiseLine("BROKEN", f"the model cannot make the history: {history.refusal.event}")
        if name in self.gaps:
            return PromiseLine("UNDETERMINED", self.gaps[name])
        if name in _HISTORY and history is not None and history.left_out:
            reason, groups = next(iter(history.left_out.items()))
            return PromiseLine("UNDETERMINED", f"{reason} ({several(groups, 'file group')})")
        return PromiseLine("OK", SHOWN[name])

    @property
    def pending(self) -> int:
        """The number of pending instants."""
        return int(next((figure.value or 0 for figure in self.health.figures if figure.name == "pending"), 0))

    def since(self, time: str) -> Report:
        """Return the report without the faults of files whose names contain an older requested time."""
        kept = tuple(d for d in self.diagnostics if not _is_older(d.file, time))
        return replace(self, diagnostics=kept)

    @property
    def verdict(self) -> Verdict:
        """Return the overall verdict: BROKEN if anything is broken; otherwise UNDETERMINED if any verdict is
        undetermined; otherwise OK.
        """
        verdicts = {line.verdict for line in self.promises.values()}
        if any(d.gravity == "BROKEN" for d in self.diagnostics) or "BROKEN" in verdicts:
            return "BROKEN"
        return "UNDETERMINED" if "UNDETERMINED" in verdicts else "OK"

    @property
    def fine(self) -> bool:
        """True if the verdict is OK and no rule has detected a fault."""
        return self.verdict == "OK" and not self.diagnostics

    def to_mapping(self) -> dict[str, Any]:
        """Return the JSON value that ``nbcc validate --json`` prints, without its field ``format``."""
        history = self.history
        return {
            "table": {
                "version": self.version,
                "rules": self.rules,
                "data_files": self.files,
                "opened": self.opened,
                "other_files": self.strangers,
            },
            "verdict": self.verdict,
            "because": self.undetermined,
            "history": None if history is None else {**asdict(history), "verdict": history.verdict},
            "promises": {n: {"verdict": p.verdict, "because": p.because} for n, p in self.promises.items()},
            "health": {f.name: {"value": f.value, "threshold": f.threshold} for f in self.health.figures},
            "diagnostics": [
                {**d._asdict(), "promises": list(d.promises), "remedy": d.remedy.replace("{table}", self.url)}
                for d in self.diagnostics
            ],
        }


def _is_older(path: str, time: str) -> bool:
    named = _TIMES.findall(path.rpartition("/")[2])
    return bool(named) and max(named) < time


def missing_evidence(audit: Audit) -> dict[str, str]:
    """Map each promise that cannot be confirmed to the evidence that the table's files lack."""
    gaps: dict[str, str] = {}
    unrecorded = sum(r not in audit.commits and r not in audit.undone for r in audit.archived)
    if unrecorded:
        reason = f"the archive does not record what {several(unrecorded, 'archived instant')} wrote"
        gaps = dict.fromkeys(("SNAP", "TRAVEL", "QUIET", "PART"), reason)
    if audit.shared_requests:
        time = min(audit.shared_requests)
        reason = f"several instants were requested at {time}, and file names do not show which of them wrote a file"
        gaps |= dict.fromkeys(("SNAP", "TRAVEL", "ATOM", "RO", "QUIET", "PART", "ARCH"), reason)
    kinds = {fault.kind for fault in audit.faults}
    if "archive" in kinds:
        gaps |= dict.fromkeys(("SNAP", "TRAVEL", "QUIET", "PART", "ATOM"), "part of the archive cannot be read")
    if "clean" in kinds:
        gaps |= dict.fromkeys(("CLEAN", "TRAVEL"), "a clean cannot be read: what it deleted is unknown")
    if "rollback" in kinds:
        gaps |= {"REC": "a rollback cannot be read: what it undid is unknown"}
    if "commit" in kinds:
        reason = "a commit cannot be read"
        gaps |= dict.fromkeys(("SNAP", "TRAVEL", "INCR", "ATOM", "RO", "QUIET", "PART", "KEY"), reason)
    return gaps
