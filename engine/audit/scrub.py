"""A scrubbed audit: the timeline and the sizes of a table without its names, keys and values, as one JSON document.

What is written: times, actions, states, operations, sizes, counts, buckets and versions. Partitions and file ids are
replaced by numbers, other names and all other properties are left out. The document says as much about the history of
the table as the audit, so that another person can judge it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from ..errors import NotATable
from ..file_names import split_path
from ..json_text import parse_json
from ..timeline import CompactionOperation, CompactionPlan, Instant, Timeline, WriteStat, parse_instant
from ..timeline.cleans import CleanPlan
from ..timeline.instant import ACTIONS, PENDING
from ..timeline.metadata import COVERS, OWN_KEY
from ..timeline.restores import RestorePlan
from .gather import data_files
from .record import Audit, Commit, DamagedFile, RecordedClean, RecordedRollback

FORMAT: Final = 1
KEPT_PROPERTIES: Final = (
    "hoodie.table.version", "hoodie.table.type", "hoodie.timeline.layout.version", "hoodie.record.merge.mode",
    "hoodie.table.timeline.timezone", "hoodie.table.base.file.format", "nbcc.format", "nbcc.buckets",
    "nbcc.decision", "hoodie.write.concurrency.mode",
)  # fmt: skip
_CODE: Final = re.compile(r"[A-Z0-9_.]{0,64}|lock|log|shared|free")
"""Values of properties that are written: numbers, words of Hudi, and who decides the order of instants."""
_BUCKET: Final = re.compile(r"(\d{8})-.*?-?(\d+)?")
_TIMELINE_KINDS: Final = (".hoodie/timeline/", ".hoodie/.heartbeat/")


class _Scrubber:
    """Replaces names by numbers, in the order in which they are met."""

    def __init__(self) -> None:
        self._partitions: dict[str, str] = {}
        self._ids: dict[str, str] = {}

    def partition(self, name: str) -> str:
        return self._partitions.setdefault(name, f"p{len(self._partitions) + 1}") if name else ""

    def file_id(self, text: str) -> str:
        match = _BUCKET.fullmatch(text)
        bucket, last = (match[1], match[2] or "0") if match else ("", "0")
        number = f"{len(self._ids) + 1:012x}"
        scrubbed = f"{bucket or 'ffffffff'}-0000-0000-0000-{number}-{last}"
        return self._ids.setdefault(text, scrubbed)

    def name(self, name: str) -> str:
        """Return the name of a data file without its file id; '' for another name."""
        dot = "." if name.startswith(".") else ""
        file_id, separator, rest = name.removeprefix(".").partition("_")
        kept = re.sub(r"[^0-9A-Za-z_.-]", "", rest)
        return f"{dot}{self.file_id(file_id)}_{kept}" if separator else ""

    def path(self, path: str) -> str:
        partition, name = split_path(path)
        scrubbed = self.name(name)
        return f"{self.partition(partition)}/{scrubbed}" if partition else scrubbed


def scrubbed(audit: Audit) -> dict[str, Any]:
    """Return the JSON document of an audit, without names, keys and values."""
    scrub = _Scrubber()
    files = {scrub.path(path): audit.listing[path] for path in sorted(audit.files, key=_by_time)}
    kept = (p for p in audit.listing if p.startswith(_TIMELINE_KINDS[1]) and p.rpartition("/")[2].isdecimal())
    return {
        "format": FORMAT,
        "properties": {k: v for k in KEPT_PROPERTIES if (v := audit.properties.get(k)) and _CODE.fullmatch(v)},
        "names": [name for name in audit.names if parse_instant(name)],
        "listing": {**files, **{path: audit.listing[path] for path in kept}},
        "archived": dict(audit.archived),
        "archive": [_row(instant) for instant in audit.archive],
        "commits": [_commit(commit, scrub) for commit in audit.commits.values()],
        "plans": {r: _plan(plan, scrub) for r, plan in audit.plans.items()},
        "log_plans": {r: _plan(plan, scrub) for r, plan in audit.log_plans.items()},
        "clean_plans": {r: _clean_plan(plan, scrub) for r, plan in audit.clean_plans.items()},
        "cleans": [
            [_row(c.instant), c.retained, sorted(map(scrub.name, c.deleted)), c.own, c.horizon]
            for c in audit.cleans
        ],
        "rollbacks": [[_row(r.instant), list(r.undone)] for r in audit.rollbacks],
        "restores": [[r.requested, r.savepoint, [list(pair) for pair in r.undone]] for r in audit.restores],
        "savepoints": sorted(audit.savepoints),
        "faults": [
            [fault.kind, fault.path if fault.path.startswith(_TIMELINE_KINDS[0]) else f".hoodie/{fault.kind}",
             "it is missing" if fault.because == "it is missing" else "it cannot be read"]
            for fault in audit.faults
        ],
    }  # fmt: skip


def unscrubbed(text: bytes) -> Audit:
    """Return the audit of a scrubbed document. Raises `NotATable` if the document is not one."""
    try:
        return _audit(parse_json(text.decode("utf-8")))
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as wrong:
        exists = f"its timeline cannot be read ({type(wrong).__name__})"
        raise NotATable("read an incident", exists, "write it again with nbcc incident TABLE --out FILE") from None


def _audit(found: Mapping[str, Any]) -> Audit:
    if found["format"] != FORMAT:
        raise ValueError(f"format {found['format']}")
    instants = [instant for name in found["names"] if (instant := parse_instant(name))]
    archive = tuple(_instant(name) for name in found["archive"])
    timeline = Timeline.of(instants, bool(archive))
    listing = {str(path): int(size) for path, size in found["listing"].items()}
    writes = {i.requested: i.completed for i in timeline.completed if i.writes}
    commits = {c.instant.requested: c for c in map(_read_commit, found["commits"])}
    return Audit(
        url="",
        properties={"hoodie.table.name": "incident", **found["properties"]},
        timeline=timeline,
        names=tuple(found["names"]),
        completions=tuple(i for i in instants if i.state == "completed"),
        listing=listing,
        files=data_files(listing, found["archived"] | writes),
        archived=found["archived"],
        archive=archive,
        commits=commits,
        plans={r: _read_plan(plan) for r, plan in found["plans"].items()},
        log_plans={r: _read_plan(plan) for r, plan in found["log_plans"].items()},
        clean_plans={r: _read_clean_plan(plan) for r, plan in found["clean_plans"].items()},
        cleans=tuple(RecordedClean(_instant(n), r, frozenset(d), own, h) for n, r, d, own, h in found["cleans"]),
        rollbacks=tuple(RecordedRollback(_instant(name), tuple(undone)) for name, undone in found["rollbacks"]),
        restores=tuple(RestorePlan(r, s, tuple((a, b) for a, b in undone)) for r, s, undone in found["restores"]),
        savepoints=frozenset(found["savepoints"]),
        faults=tuple(DamagedFile(*fault) for fault in found["faults"]),
    )


def _by_time(path: str) -> tuple[str, str]:
    return path.rpartition("_")[2], path


def _row(instant: Instant) -> list[str | None]:
    return [instant.requested, instant.action, instant.state, instant.completed]


def _instant(row: Sequence[Any]) -> Instant:
    requested, action, state, completed = row
    if action not in ACTIONS or state not in (*PENDING, "completed"):
        raise ValueError(action)
    return Instant(str(requested), action, state, completed)


def _commit(commit: Commit, scrub: _Scrubber) -> dict[str, Any]:
    return {
        "instant": _row(commit.instant),
        "active": commit.active,
        "operation": commit.operation,
        "compacted": commit.compacted,
        "own": commit.own,
        "covers": {scrub.path(path): [scrub.path(each) for each in logs] for path, logs in commit.covers.items()},
        "replaced": {scrub.partition(p): [scrub.file_id(i) for i in ids] for p, ids in commit.replaced.items()},
        "stats": [
            {
                **stat._asdict(),
                "file_id": scrub.file_id(stat.file_id),
                "path": scrub.path(stat.path),
                "partition": scrub.partition(stat.partition),
                "log_files": [scrub.name(name) for name in stat.log_files],
                "prev_base_file": scrub.name(stat.prev_base_file) if stat.prev_base_file else None,
                "checksum": "",
            }
            for stat in commit.stats
        ],
    }


def _read_commit(found: Mapping[str, Any]) -> Commit:
    covers = {path: [split_path(each)[1] for each in logs] for path, logs in found["covers"].items()}
    extra = {OWN_KEY: "1"} if found["own"] else {}
    extra |= {COVERS: json.dumps(covers)} if covers else {}
    stats = tuple(WriteStat(**{**stat, "log_files": tuple(stat["log_files"])}) for stat in found["stats"])
    replaced = {partition: tuple(ids) for partition, ids in found["replaced"].items()}
    instant = _instant(found["instant"])
    operation, compacted, active = found["operation"], found["compacted"], found["active"]
    return Commit(stats, operation, compacted, extra, replaced, instant=instant, active=active)


def _plan(plan: CompactionPlan, scrub: _Scrubber) -> dict[str, Any]:
    operations = [
        {
            **asdict(each),
            "partition": scrub.partition(each.partition),
            "file_id": scrub.file_id(each.file_id),
            "base_file": scrub.name(each.base_file) if each.base_file else None,
            "logs": [scrub.name(name) for name in each.logs],
        }
        for each in plan.operations
    ]
    known = {key: value for key, value in plan.extra.items() if key.startswith("nbcc.") and _CODE.fullmatch(value)}
    return {"operations": operations, "extra": known}


def _read_plan(found: Mapping[str, Any]) -> CompactionPlan:
    operations = (CompactionOperation(**{**each, "logs": tuple(each["logs"])}) for each in found["operations"])
    return CompactionPlan(tuple(operations), found["extra"])


def _clean_plan(plan: CleanPlan, scrub: _Scrubber) -> dict[str, Any]:
    files: Iterable[tuple[str, tuple[str, ...]]] = plan.files.items()
    return {
        "files": {scrub.partition(partition): [scrub.name(name) for name in names] for partition, names in files},
        "earliest": _row(plan.earliest) if plan.earliest else None,
        "horizon": plan.horizon,
        "savepoints": list(plan.savepoints),
    }


def _read_clean_plan(found: Mapping[str, Any]) -> CleanPlan:
    files = {partition: tuple(names) for partition, names in found["files"].items()}
    earliest = _instant(found["earliest"]) if found["earliest"] else None
    return CleanPlan("", files, earliest, "", found["horizon"], tuple(found["savepoints"]))
