"""Names the objects of Hudi's storage calls, and maps the calls that other actors see to the actions of the model."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from nbcc.model.kernel.compactor import COMPACTOR, COMPACTOR_WRITES_BASE
from nbcc.model.kernel.publication import publication_actions
from nbcc.model.kernel.writer import WRITER, WRITER_WRITES_LOG
from nbcc.model.mechanisms import actions
from nbcc.model.mechanisms.archiving.mechanism import ARCHIVER, ARCHIVER_ARCHIVES_INSTANTS
from nbcc.model.mechanisms.cleaning.mechanism import CLEANER
from nbcc.model.mechanisms.rollback.rollbacker import ROLLBACKER
from nbcc.simulator.lockstep.mechanisms import rooms

FIGURES = Path(__file__).resolve().parents[2] / "specs" / "hudi-calls.json"
LABELS = (
    (r"/\.hoodie/timeline/\d+(_\d+)?\.(?P<action>[a-z]+)(\.(?P<state>requested|inflight))?$", ""),
    (r"/\.hoodie/timeline/history/_version_", "archive version"),
    (r"/\.hoodie/timeline/history/manifest_\d+", "archive manifest"),
    (r"/\.hoodie/timeline/history/.*\.parquet", "archive file"),
    (r"/\.hoodie/timeline/.*", "temporary file"),
    (r"/\.hoodie/\.heartbeat/.*", "heartbeat"),
    (r"/\.hoodie/\.temp/.*", "marker"),
    (r"/\.hoodie/hoodie\.properties.*", "properties"),
    (r"/\.hoodie/(lock|\.locks/.*)", "lock"),
    (r"/\.hoodie/\.aux/.*", "bootstrap index"),
    (r".*/\.hoodie_partition_metadata.*", "partition metadata"),
    (r".*\.log\..*", "log"),
    (r".*\.parquet", "base"),
)
CHANGES = ("put", "rename", "delete")
SEEN_BY_OTHERS = ("requested", "inflight", "completed", "log", "base", "version")
"""What the model's actions change: instants on the timeline, the version of the archive, and data files."""


def label(path: str) -> str:
    """Return what the object of a call is, for example `deltacommit requested`, `log` or `marker`."""
    for pattern, name in LABELS:
        if found := re.fullmatch(pattern, path):
            return name or f"{found['action']} {found['state'] or 'completed'}"
    return "folder"


def named(call: str) -> str:
    """Return a call as a verb and a label, for example `rename deltacommit inflight`."""
    verb, _, path = call.partition(" ")
    return f"{verb} {label(path)}"


def seen_by_others(calls: Iterable[str]) -> Iterator[str]:
    """Yield the calls that change what other actors list, each as a verb and a label. Temporary files, markers,
    heartbeats and partition metadata do not count.
    """
    for call in calls:
        verb, _, path = call.partition(" ")
        name = label(path)
        if verb in CHANGES and name.endswith(SEEN_BY_OTHERS):
            yield f"{'put' if verb == 'rename' else verb} {name}"


KINDS = {"deltacommit": WRITER, "compaction": COMPACTOR, "commit": COMPACTOR, "rollback": ROLLBACKER, "clean": CLEANER,
         "archive": ARCHIVER}  # fmt: skip
"""The kind of actor that has an instant, by the name of the instant on the timeline."""
WRITES = {"log": WRITER_WRITES_LOG, "base": COMPACTOR_WRITES_BASE}


def action(operation: str, change: str) -> str:
    verb, _, name = change.partition(" ")
    if verb == "put" and name in WRITES:
        return WRITES[name]
    instant, _, state = name.partition(" ")
    if state == "version":
        return ARCHIVER_ARCHIVES_INSTANTS
    kind = KINDS[operation if verb == "delete" else instant]
    if verb == "delete":  # of a data file, or of a failed or archived instant
        word = f"{kind.name}_deletes" if name in WRITES else f"{kind.name}_removes"
        return next(each for each in actions() if each.startswith(word))
    runs = next(room.runs for room in rooms().values() if room.runs and room.runs.kind == kind)
    by_state = {"requested": runs.begins.action, "inflight": runs.inflight.action}
    return by_state.get(state) or publication_actions(kind.name)[-1].name


def changes_of_actions(operation: str, seen: Iterable[str]) -> Mapping[str, int]:
    """Return how many changes of an operation each action of the model stands for."""
    return Counter(action(operation, change) for change in seen)


def recorded(operation: str) -> Mapping[str, int]:
    """Return how many calls of the recorded run of an operation each action of the model stands for."""
    return changes_of_actions(operation, json.loads(FIGURES.read_text("utf-8"))["operations"][operation]["seen"])
