"""An incident has no names, keys or values, and is judged like the table that it stems from."""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import pytest

import tools.detection
from nbcc.engine.actions import run_clean, run_restore
from nbcc.engine.audit import gather
from nbcc.engine.timeline.cleans import encode_clean
from nbcc.engine.timeline.restores import encode_restore
from nbcc.model import Model
from nbcc.simulator import specs
from nbcc.simulator.audit import incident
from nbcc.simulator.audit.diagnostics import RULES, diagnostics_of
from nbcc.simulator.audit.incident import Suspect, packed, suspects, unpacked
from nbcc.simulator.audit.incident_search import INSTANTS, searched
from nbcc.simulator.audit.incident_shape import Mark, is_goal, leads_to, of_state
from nbcc.simulator.audit.trace import judge_trace
from nbcc.simulator.audit.view import TableView
from nbcc.simulator.cli.main import run
from nbcc.simulator.cli.outcome import Exit
from nbcc.simulator.search import mutants
from tests.builders.commands import nbcc_of
from tools.detection.tables import engine_table

from .corpus.answers import NOW
from .corpus.kinds import KINDS
from .corpus.tables import TABLES

INCIDENTS: Final[dict[str, Any]] = json.loads(
    (Path(tools.detection.__file__).parent / "incidents.json").read_text("utf-8")
)["incidents"]
RIGHT: Final = 15  # of 20; eleven of them were never looked at, of which 7 are right
KEPT: Final = ("unreadable", "properties-contradict", "properties-without-checksum", "version-contradicts-layout")
"""Rules about files whose content an incident leaves out."""


def strings(value: Any) -> Iterator[str]:
    """All strings of a document, with the keys that are not fields."""
    if isinstance(value, dict):
        yield from (key for key in value if not key.isidentifier())
        value = [*value.values()]
    if isinstance(value, list):
        for each in value:
            yield from strings(each)
    elif isinstance(value, str):
        yield value


@pytest.mark.parametrize("table", ["ours MOR", "1.2.0 COW archived", "1.2.0 MOR metadata", "1.2.0 COW clustered"])
def test_no_name_key_or_value_is_in_an_incident(table: str, tmp_path: Path) -> None:
    storage = TABLES[table](tmp_path / "secret_table")
    out = tmp_path / "incident.zip"
    assert run(["incident", str(tmp_path / "secret_table"), "--out", str(out)]) == Exit.AGREES
    with zipfile.ZipFile(out) as archive:
        document = json.loads(archive.read("incident.json"))
    audit = gather(storage)
    partitions = {file.partition for file in audit.files.values()} - {""}
    words = {part for partition in partitions for part in partition.split("/")} | {"secret_table"}
    words |= {file.file_id for file in audit.files.values() if not file.file_id.startswith("0000000")}
    words |= {audit.properties["hoodie.table.name"]} - {"t"}
    words |= {audit.properties[f"hoodie.table.{name}.fields"] for name in ("recordkey", "partition", "ordering")} - {
        "ts"
    }
    assert len(words) >= 3
    written = {part for text in strings(document) for part in re.split(r"[^A-Za-z0-9=-]+", text)}
    assert "deltacommit" in written or "commit" in written, "nothing is compared"
    assert not words & written


@pytest.mark.parametrize("name", [n for n in KINDS if n.startswith("ours: ") or KINDS[n].table == "1.2.0 MOR"][::3])
def test_an_incident_is_judged_like_its_table(name: str, tmp_path: Path) -> None:
    kind = KINDS[name]
    storage = TABLES[kind.table](tmp_path / "t")
    kind.do(storage)
    audit = gather(storage)
    (tmp_path / "incident.zip").write_bytes(packed(audit))
    again = unpacked(tmp_path / "incident.zip")

    def judged(view: TableView) -> list[tuple[str, str]]:
        found = ((d.gravity, d.rule) for d in diagnostics_of(view, RULES) if not d.file.endswith("hoodie.properties"))
        return sorted(each for each in found if each[1] not in (*KEPT, "foreign-file", "partition-metadata-missing"))

    assert judged(TableView(again, NOW)) == judged(TableView(audit, NOW))


def test_the_command_names_the_cause_and_writes_a_test(tmp_path: Path) -> None:
    storage = TABLES["ours MOR"](tmp_path / "t")
    KINDS["ours: bulk-insert-over-logs"].do(storage)
    out, test = tmp_path / "incident.zip", tmp_path / "test_incident.py"
    assert run(["incident", str(tmp_path / "t"), "--out", str(out)]) == Exit.AGREES
    found = nbcc_of("incident", str(out), "--test", str(test))
    assert found.return_value == Exit.VIOLATED
    assert found.stdout.startswith("1. base-file-over-logs (BROKEN")
    assert "bulk-insert-unchecked: a run of" in found.stdout
    assert "The shortest run that leaves these instants:" in found.stdout
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(test)],
                          env=environment, cwd=tmp_path, check=False, capture_output=True)  # fmt: skip
    assert done.returncode == 0, done.stdout


def test_a_history_that_no_diagnostic_explains_is_no_health(monkeypatch: pytest.MonkeyPatch) -> None:
    mutant = mutants.load("covered-logs-read-again")
    with mutants.applied(mutant):
        audit = gather(engine_table(103, mutant))
    assert [each.name for each in suspects(audit, NOW)] == ["log-in-two-slices"]
    monkeypatch.setattr(incident, "diagnostics_of", lambda view, rules: [])
    [cause] = suspects(audit, NOW)
    assert cause.name == incident.OF_HISTORY
    assert "the plan 20240101000000008 is made" in cause.comes_about


GOALS: Final = {
    "default": [("core_small", 8), ("failed_writer", 8), ("log_compaction", 12), ("replaces", 10), ("loads", 10)],
    "commit-unchecked": [("failed_writer", 14)],
    "colliding-seconds": [("core_small", 8)],
}
"""Worlds whose runs are goals of searches, each with a number of steps."""


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("protocol", "world", "steps"), [(p, *each) for p, some in GOALS.items() for each in some])
def test_a_search_finds_a_run_for_the_timeline_that_a_run_left(
    protocol: str, world: str, steps: int, seed: int
) -> None:
    model, draw = Model(specs.world(world), specs.protocol(protocol)), random.Random(seed)
    state = model.initial
    for _ in range(steps):
        state = draw.choice(choices)[1] if (choices := [*model.successors(state)]) else state
        if len(shape := of_state(model, state)) > INSTANTS:
            break
        goal = shape
    found = searched(goal, protocol)
    assert found.run is not None, goal
    assert len(found.run.steps) <= steps, "it is not the shortest"
    assert judge_trace(found.run).possible


@pytest.mark.parametrize(("table", "protocol"), [("ours MOR", "default"), ("1.2.0 MOR", "hudi-1.2.0")])
def test_the_protocol_of_the_writers_leaves_the_newest_instants_of_a_healthy_table(
    table: str, protocol: str, tmp_path: Path
) -> None:
    TABLES[table](tmp_path / "t")
    out = tmp_path / "incident.zip"
    assert run(["incident", str(tmp_path / "t"), "--out", str(out)]) == Exit.AGREES
    found = nbcc_of("incident", str(out))
    assert found.return_value == Exit.AGREES
    assert found.stdout.startswith("no fault is seen in this timeline\n")
    assert f"{protocol}: a run of" in found.stdout


WRITTEN_AFTER_ITS_ROLLBACK: Final = (Mark(0, 3, "writer"), Mark(1, 2, "rollbacker", (0,)))


def test_only_a_protocol_with_the_weakness_leaves_the_timeline() -> None:
    refused, found = (searched(WRITTEN_AFTER_ITS_ROLLBACK, name) for name in ("default", "commit-unchecked"))
    assert refused.run is None
    assert refused.whole
    assert found.run is not None
    assert (found.run.promise, found.run.verdict) == ("REC", "VIOLATED")


def test_a_goal_is_not_a_timeline_of_another_order() -> None:
    goal = (Mark(0, 2, "writer"), Mark(1, 3, "writer"))
    assert is_goal(goal, goal)
    assert leads_to((Mark(0, None, "writer"), Mark(1, None, "writer")), goal)
    for other in ((Mark(0, 1, "writer"), Mark(2, 3, "writer")), (Mark(0, 3, "writer"), Mark(1, 2, "writer"))):
        assert not is_goal(other, goal)
        assert not leads_to(other, goal)
    assert not leads_to((Mark(0, None, "compactor"),), goal)


@pytest.mark.parametrize("content", [b"", b"PK", b"{}"])
def test_what_is_not_an_incident_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(content)
    assert run(["incident", str(tmp_path / "x.zip")]) == Exit.BAD_INPUT
    with zipfile.ZipFile(tmp_path / "y.zip", "w") as archive:
        archive.writestr("incident.json", '{"format": 1}')
    assert run(["incident", str(tmp_path / "y.zip")]) == Exit.BAD_INPUT


def in_no_time(encode: Callable[..., bytes]) -> Callable[..., bytes]:
    """Encode a completed clean or restore without its measured duration, which differs from run to run."""
    return lambda *arguments: encode(*arguments[:-1], 0)


def first_cause(number: str, folder: Path) -> Suspect | None:
    recorded = INCIDENTS[number]
    mutant = mutants.load(recorded["mutant"])
    cleans, restores = in_no_time(encode_clean), in_no_time(encode_restore)
    with (
        mutants.applied(mutant), patch.object(run_clean, "encode_clean", cleans),
        patch.object(run_restore, "encode_restore", restores),
    ):  # fmt: skip
        table = engine_table(recorded["seed"], mutant)
    digest = hashlib.sha256()
    for path, data in sorted(table.objects.items()):
        digest.update(path.encode() + b"\0" + hashlib.sha256(bytes(data)).digest())
    assert digest.hexdigest() == recorded["sha256"], "the engine writes another table now: make the incidents again"
    (folder / "incident.zip").write_bytes(packed(gather(table)))
    found = suspects(unpacked(folder / "incident.zip"), NOW)
    return found[0] if found else None


@pytest.mark.parametrize(("number", "protocol"), [("06", "default"), ("08", "commit-unchecked")])
def test_the_run_of_an_incident_is_one_of_the_protocol(number: str, protocol: str, tmp_path: Path) -> None:
    cause = first_cause(number, tmp_path)
    assert cause is not None
    assert cause.name in INCIDENTS[number]["truth"]
    assert cause.run is not None
    assert cause.run.protocol == specs.protocol(protocol)


@pytest.mark.nightly
def test_the_right_cause_is_first_in_most_incidents(tmp_path: Path) -> None:
    causes = {number: first_cause(number, tmp_path) for number in INCIDENTS}
    right = [n for n, cause in causes.items() if cause is not None and cause.name in INCIDENTS[n]["truth"]]
    assert len(right) >= RIGHT, right
