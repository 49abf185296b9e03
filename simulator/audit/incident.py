"""An incident: a scrubbed timeline of a table, and what led to it.

The diagnostics of the scrubbed table are ranked: a cause comes before what follows from it. For each one a search looks
for the shortest run of the model that leaves such instants (`incident_search`). A cause that a search refutes is ranked
behind one that a search confirms. The first run that was found is shown, and can be written as a test for pytest. If
the model cannot make the history, the protocols under which the history is possible are causes, too.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from nbcc.engine.audit import Audit
from nbcc.engine.audit.scrub import scrubbed, unscrubbed
from nbcc.engine.errors import NotATable
from nbcc.engine.limits import limits
from nbcc.model import Protocol

from .. import specs
from ..trace import Trace
from .diagnostics import RULES, Diagnostic, diagnostics_of
from .explain import CAUSES, explain
from .history_check import RefusedHistory, check_history
from .incident_search import Evidence, evidence_of, own_protocol
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
    "log-in-two-slices", "committed-log-lost", "listed-file-missing", "plan-cannot-run",
)  # fmt: skip
"""Rules whose faults lead to others, the first cause first. The others follow in the order of `RULES`."""
OF_LEFT_OUT_FILES: Final = "partition-metadata-missing"
"""The rule about files that no incident has. Most properties are left out, too."""
OF_HISTORY: Final = "QUIET"
"""The promise that a history breaks if the model cannot make it, for want of a better name."""
_NO_EVIDENCE: Final = Evidence((), ())


class Suspect(NamedTuple):
    """A possible cause: a diagnostic or a protocol, the number of its places, and how it comes about."""

    name: str
    places: int
    comes_about: str
    gravity: str
    evidence: Evidence | None = None

    @property
    def run(self) -> Trace | None:
        """The shortest run that leaves the instants of the cause; None if the searches found none."""
        return None if self.evidence is None else self.evidence.run

    @property
    def example(self) -> Trace | None:
        """The shortest run of the protocol that is named for the cause; None if none is."""
        return explain(self.name)[0].run()

    def to_mapping(self) -> dict[str, Any]:
        """Return the cause as a JSON value, without its runs."""
        evidence = self.evidence
        searches = (
            []
            if evidence is None
            else [
                {"protocol": s.protocol, "states": s.states, "whole": s.whole, "steps": s.run and len(s.run.steps)}
                for s in evidence.searches
            ]
        )
        return {"name": self.name, "places": self.places, "comes_about": self.comes_about, "gravity": self.gravity,
                "instants": [] if evidence is None else [*evidence.instants], "searches": searches}  # fmt: skip


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
        left_out = diagnostic.file.endswith("hoodie.properties") or diagnostic.rule == OF_LEFT_OUT_FILES
        if not left_out:
            found.setdefault((diagnostic.gravity, diagnostic.rule), []).append(diagnostic)
    ranked = sorted(found, key=lambda key: (key[0] != "BROKEN", _place(key[1])))
    named = [Suspect(r, len(found[g, r]), CAUSES[r].comes_about, g, _evidence(audit, found[g, r])) for g, r in ranked]
    broken = [each for each in named if each.gravity == "BROKEN"]
    return [*_refuted_last(broken), *_of_history(view, bool(broken)), *named[len(broken) :]]


def _evidence(audit: Audit, places: list[Diagnostic]) -> Evidence | None:
    """Search for the instants of one cause. Only a fault may be looked for under all protocols."""
    if places[0].gravity != "BROKEN":
        return None
    own = specs.protocol(own_protocol(audit))
    others = sorted(specs.protocol_names(), key=lambda name: (_distance(specs.protocol(name), own), name))
    weak = CAUSES[places[0].rule].protocol if places[0].rule in CAUSES else ""
    return evidence_of(audit, places, [weak] if weak else [], others)


def _refuted_last(broken: list[Suspect]) -> list[Suspect]:
    """Put the causes that a search refutes behind those that a search confirms. All others stay in their places."""
    judged = [n for n, each in enumerate(broken) if each.evidence and (each.evidence.confirms or each.evidence.refutes)]
    by_search = sorted(judged, key=lambda n: (broken[n].evidence or _NO_EVIDENCE).refutes)
    order = dict(zip(judged, by_search, strict=True))
    return [broken[order.get(n, n)] for n in range(len(broken))]


def _place(rule: str) -> int:
    return ORDER.index(rule) if rule in ORDER else len(ORDER) + [each.name for each in RULES].index(rule)


def _of_history(view: TableView, named: bool) -> Iterator[Suspect]:
    """Yield the protocols under which a history is possible that the model cannot make under the table's own. If there
    are none and no diagnostic names the fault, yield the protocol of the shortest run that leaves the refused instants.
    """
    check = check_history(view)
    if check.refusal is None:
        return
    own = protocols()[check.own]
    place, because = _of_refusal(view, check.refusal), f"{check.refusal.event}: {'; '.join(check.refusal.reasons)}"
    for name in sorted(check.legal, key=lambda name: (_distance(protocols()[name], own), name))[:3]:
        evidence = evidence_of(view.audit, [place], [name])
        yield Suspect(name, 1, f"the writers follow the protocol {name}; {because}", "BROKEN", evidence)
    if not check.legal and not named:
        searched = _evidence(view.audit, [place])
        weak = searched.searches[-1] if searched is not None and searched.confirms else None
        yield Suspect(weak.protocol if weak else OF_HISTORY, 1, because, "BROKEN", searched)


def _of_refusal(view: TableView, refusal: RefusedHistory) -> Diagnostic:
    """Return the first event that the model refuses as a diagnostic of a file in its file group."""
    partition, _, file_id = refusal.group.rpartition("/")
    files = sorted(file.path for file in view.by_group.get((partition, file_id), ()))
    because = f"{refusal.time} {refusal.event}: {'; '.join(refusal.reasons)}"
    return Diagnostic("history", "BROKEN", (), files[0] if files else "", because, "")


def _distance(one: Protocol, other: Protocol) -> int:
    """Return the number of options in which two protocols differ."""
    theirs, ours = one.to_mapping(), other.to_mapping()
    return sum(theirs[option] != ours[option] for option in ours)


def reproducer(trace: Trace, path: Path) -> str:
    """Return a test for pytest that replays a run: the same timeline, and the same promise is broken."""
    what = f"breaks_{trace.promise.lower()}" if trace.promise else "breaks_no_promise"
    expected = "violated" if trace.promise else "agreed"
    return f'''"""Replays the run of the model that leaves the timeline of the incident."""

import json
import subprocess


def test_the_run_{what}() -> None:
    command = ["nbcc", "replay", "{path}", "--expect", "{expected}", "--json"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert json.loads(done.stdout)["systems"]["model"]["same"], "the timeline of the run differs from the recorded one"
'''
