"""The seams: a new action is one file in the model, one in the engine, one row of the mapping, and no other edit.

An indexer asks for an index: under the lock it takes a time and puts a requested instant, which stays pending.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("model", "engine", "simulator", "specs")

IN_THE_MODEL = '''
"""Indexers: they ask for an index under the lock."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ..kernel.lock import LOCK_IS_FREE
from ..kernel.timeline import PENDING
from ..machine.composition import Composition
from ..machine.mechanism import Kind, Mechanism
from ..machine.transition import Action, Changes, transition
from ..kernel.table import Instant


class Indexer(NamedTuple):
    step: str = "idle"
    requested: int = 0
    extra: tuple[Any, ...] = ()


def compose(composition: Composition) -> None:
    for me in composition.of("indexer"):
        composition.add(transition("indexer_requests_index", me, at="idle", guards=(LOCK_IS_FREE,),
                                   effect=request_index, changes=("own", "clock")))
    composition.map_view(PENDING, pending_indexes)


def request_index(clock: int) -> Changes:
    return {"own": Indexer("done", clock + 1), "clock": clock + 1}


def pending_indexes(pending_instants: Iterable[Instant], every_indexer: Mapping[str, Indexer]) -> Iterator[Instant]:
    yield from pending_instants
    for own in every_indexer.values():
        if own.requested:
            yield Instant(own.requested, "indexing", "requested", None)


MECHANISM = Mechanism(
    compose=compose,
    kinds=(Kind(name="indexer", prefix="i", first=Indexer(), rests=("idle", "done"), drawn=1),),
    actions=(Action("indexer_requests_index", "under the lock: asks for an index", "{actor} requests an index"),),
)
'''

IN_THE_ENGINE = '''
"""Ask for an index."""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..lock import held
from ..timeline import Instant, load, put_requested
from ..writes.writing import take_time


def run(context: Context, config: TableConfig) -> Instant:
    """Put the requested instant."""
    with held(context.lock):
        return put_requested(context.storage, take_time(context, load(context.storage)), "indexing")
'''

IN_THE_MAPPING = '    Row("indexer_requests_index", "request_index", starts=True),\n'


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the packages with the action added, and nothing else."""
    root = tmp_path_factory.mktemp("checkout")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, root / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "nbcc", root / "nbcc", symlinks=True)
    (root / "model" / "mechanisms" / "indexer.py").write_text(IN_THE_MODEL)
    (root / "engine" / "actions" / "request_index.py").write_text(IN_THE_ENGINE)
    mapping = root / "simulator" / "crosscheck" / "mapping.py"
    text = mapping.read_text()
    assert text.count("]\n# fmt: on\n") == 1
    mapping.write_text(text.replace("]\n# fmt: on\n", IN_THE_MAPPING + "]\n# fmt: on\n"))
    return root


def nbcc(checkout: Path, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    command = [sys.executable, "-c", "from nbcc.simulator.cli.main import main; main()", *arguments]
    done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_it_is_checked_and_agrees(checkout: Path) -> None:
    world = checkout / "indexed.toml"
    world.write_text('format = 1\nabout = "an indexer"\n[actors]\nwriter = 1\ncompactor = 1\nindexer = 1\n')
    report = json.loads(nbcc(checkout, "check", str(world), "--examples", "10", "--json"))["systems"]["engine"]
    assert report["verdict"] == "AGREED"
    assert report["steps"] >= 10 * 13, "twelve steps of writer and compactor, and the indexer's"
    report = json.loads(nbcc(checkout, "check", "--examples", "15", "--json"))["systems"]["engine"]
    assert report["verdict"] == "AGREED", "in worlds that are drawn, too"


def test_it_is_replayed(checkout: Path) -> None:
    trace = {
        "format": 1,
        "world": {"format": 1, "actors": {"indexer": 1}},
        "protocol": {},
        "steps": [{"actor": "i1", "action": "indexer_requests_index", "args": {}}],
    }
    path = checkout / "trace.json"
    path.write_text(json.dumps(trace))
    text = nbcc(checkout, "replay", str(path), "--on", "engine")
    assert "requests index" in text
    assert "indexing r1 requested" in text
    assert "engine: AGREED" in text


@pytest.mark.parametrize("command", [("check", "--help"), ("replay", "--help"), ("list", "actions")])
def test_it_is_in_the_help(checkout: Path, command: tuple[str, ...]) -> None:
    assert "indexer_requests_index" in nbcc(checkout, *command)
    assert "indexer_requests_index" not in nbcc(ROOT, *command)
