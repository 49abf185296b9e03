"""An incident: a scrubbed timeline of a table, and what led to it.

The diagnostics of the scrubbed table are ranked: a cause comes before what follows from it. The first cause with a run
is shown with the shortest run of its protocol, and with a test for pytest. If the model cannot make the
history, the protocols under which the history is possible are causes, too.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from nbcc.engine.audit import Audit
from nbcc.engine.audit.scrub import scrubbed, unscrubbed
from nbcc.engine.errors import NotATable
from nbcc.engine.limits import limits

from ..trace import Trace
from .diagnostics import RULES, Diagnostic, diagnostics_of
from .explain import CAUSES, explain
from .history_check import check_history
from .judge import protocols
from .view import TableView

NAME: Final = "incident.json"
ABOUT: Final = "about.txt"
_ABOUT: Final = (
    "A scrubbed timeline, written by nbcc incident: times, actions, sizes and counts; no names, keys or values.\n"
)
ORDER: Final = (
    "undone-and-completed", "completed-twice", "completed-before-requested", "equal-times", "future-instant",
    "marks-disagree", "written-after-replace", "base-file-over-logs", "plan-from-old-base", "compaction-left-logs-out",
    "log-in-two-slices", "committed-log-lost",
)  # fmt: skip
"""Rules whose faults lead to others, the first cause first. The others follow in the order of `RULES`."""


class Suspect(NamedTuple):
    """A possible cause: a diagnostic or a protocol, the number of its places, and how it comes about."""

    name: str
    places: int
    comes_about: str
    gravity: str

    @property
    def run(self) -> Trace | None:
        """The shortest run of the protocol that is named for the cause; None if none is."""
        return explain(self.name)[0].run()


def packed(audit: Audit) -> bytes:
    """Return an incident as a ZIP file."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in ((ABOUT, _ABOUT), (NAME, json.dumps(scrubbed(audit), indent=1))):
            archive.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), text)
    return content.getvalue()


def unpacked(path: Path) -> Audit:
    """Return the audit in an incident. Raises `NotATable` if the file is not an incident."""
    remedy = "write it again with nbcc incident TABLE --out FILE.zip"
    try:
        with zipfile.ZipFile(path) as archive:
            if archive.getinfo(NAME).file_size > limits().decoded_bytes:
                raise NotATable(f"read the incident {path.name}", "it is too large", remedy)
            return unscrubbed(archive.read(NAME))
    except (zipfile.BadZipFile, KeyError, OSError) as wrong:
        exists = f"it is not an incident ({type(wrong).__name__})"
        raise NotATable(f"read the incident {path.name}", exists, remedy) from None


def suspects(audit: Audit, now: str) -> list[Suspect]:
    """Return the possible causes of an incident, the most probable first."""
    view = TableView(audit, now)
    found: dict[tuple[str, str], list[Diagnostic]] = {}
    for diagnostic in diagnostics_of(view, RULES):
        if not diagnostic.file.endswith("hoodie.properties"):  # most of them are left out of an incident
            found.setdefault((diagnostic.gravity, diagnostic.rule), []).append(diagnostic)
    ranked = sorted(found, key=lambda key: (key[0] != "BROKEN", _place(key[1])))
    named = [Suspect(r, len(found[g, r]), CAUSES[r].comes_about, g) for g, r in ranked]
    broken = [each for each in named if each.gravity == "BROKEN"]
    return [*broken, *_of_history(view), *named[len(broken) :]]


def _place(rule: str) -> int:
    return ORDER.index(rule) if rule in ORDER else len(ORDER) + [each.name for each in RULES].index(rule)


def _of_history(view: TableView) -> Iterator[Suspect]:
    """Yield the protocols under which a history is possible that the model cannot make under the table's own."""
    check = check_history(view)
    if check.refusal is None:
        return
    own = protocols()[check.own]
    nearest = sorted(check.legal, key=lambda name: (_distance(name, own), name))
    because = f"{check.refusal.event}: {'; '.join(check.refusal.reasons)}"
    for name in nearest[:3]:
        yield Suspect(name, 1, f"the writers follow the protocol {name}; {because}", "BROKEN")


def _distance(name: str, own: object) -> int:
    theirs, ours = protocols()[name].to_mapping(), own.to_mapping()  # type: ignore[attr-defined]
    return sum(theirs[option] != ours[option] for option in ours)


def reproducer(trace: Trace, path: Path) -> str:
    """Return a test for pytest that replays the run of a cause."""
    return f'''"""Replays the run of the model that ends like the incident (promise {trace.promise})."""

import subprocess


def test_the_run_breaks_{trace.promise.lower()}() -> None:
    done = subprocess.run(["nbcc", "replay", "{path}", "--expect", "violated"], check=False)
    assert done.returncode == 0
'''
