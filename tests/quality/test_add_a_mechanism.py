"""A mechanism is one module in the model, one operation in the engine, and one module in lockstep.

`indexer/` is a mechanism of realistic size: an actor with a plan, a limit, and an option under which writers wait. It
is added to a copy of the packages, and no other file of the copy is edited.
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
INDEXER = Path(__file__).parent / "indexer"
PACKAGES = ("model", "engine", "simulator", "specs")
ADDED = {
    "model.py": "model/mechanisms/indexer.py",
    "engine.py": "engine/actions/build_index.py",
    "lockstep.py": "simulator/lockstep/mechanisms/indexer.py",
}
WORLD = 'format = 1\nabout = "two writers and an indexer"\n[actors]\nwriter = 2\nindexer = 1\n[limits]\nindexes = 1\n'
STEPS = ("schedules_index", "starts_index", "takes_lock", "takes_completion_time", "publishes_instant")
WRITES = [f"writer_{step}" for step in ("requests_instant", "starts_writing", "writes_log", *STEPS[2:])]
LOG = {"group": 0, "version": 1}
ROW = {"actor": "w1", "write": 1, **LOG, "key": "a0", "ordering": 1, "value": "w1.1", "deleted": False}
ACTIONS = [f"indexer_{step}" for step in STEPS]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the packages with the mechanism added, and nothing else."""
    root = tmp_path_factory.mktemp("checkout")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, root / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "nbcc", root / "nbcc", symlinks=True)
    for source, place in ADDED.items():
        shutil.copy(INDEXER / source, root / place)
    (root / "indexed.toml").write_text(WORLD)
    steps = [{"actor": "w1", "action": each, "args": LOG if "log" in each else {}} for each in WRITES]
    steps += [{"actor": "i1", "action": each, "args": {}} for each in ACTIONS]
    trace = {
        "format": 1,
        "world": {"format": 1, "actors": {"writer": 1, "indexer": 1}},
        "protocol": {},
        "rows": [ROW],
        "steps": steps,
    }
    (root / "trace.json").write_text(json.dumps(trace))
    return root


def nbcc(checkout: Path, *arguments: str, exit_code: int = 0) -> str:
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    command = [sys.executable, "-c", "from nbcc.simulator.cli.main import main; main()", *arguments]
    done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == exit_code, done.stdout + done.stderr
    return done.stdout


def test_two_files_are_all_that_know_it(checkout: Path) -> None:
    """A reader of the mechanism opens these. The operation of the engine knows no actor."""
    named = [
        str(path.relative_to(checkout)) for package in PACKAGES for path in sorted((checkout / package).rglob("*.py"))
        if "indexer" in path.read_text("utf-8")
    ]  # fmt: skip
    assert sorted(named) == sorted([ADDED["model.py"], ADDED["lockstep.py"]])


def test_it_is_explored_and_its_option_refines_the_writers(checkout: Path) -> None:
    (checkout / "waits.toml").write_text('format = 1\nabout = "writers wait"\nindex_writers = "wait"\n')
    free = json.loads(nbcc(checkout, "explore", "indexed.toml", "--json"))
    waiting = json.loads(nbcc(checkout, "explore", "indexed.toml", "--protocol", "waits.toml", "--json"))
    assert free["distinct"] > waiting["distinct"] > 0


def test_it_is_checked_on_the_engine_and_agrees(checkout: Path) -> None:
    report = json.loads(nbcc(checkout, "check", "indexed.toml", "--examples", "10", "--json"))["systems"]["engine"]
    assert report["verdict"] == "AGREED"
    assert report["steps"] >= 10 * 12, "the steps of two writers and of the indexer"


def test_it_is_in_worlds_that_are_drawn(checkout: Path) -> None:
    drawn = (
        "from random import Random; from nbcc.simulator.lockstep.crosscheck.generators import draw_world; "
        "print(max(draw_world(Random(seed).randrange).actors['indexer'] for seed in range(50)))"
    )
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    done = subprocess.run(
        [sys.executable, "-c", drawn], cwd=checkout, env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "1", done.stderr


def test_an_engine_without_a_step_of_it_is_caught(checkout: Path) -> None:
    place = checkout / ADDED["engine.py"]
    whole = place.read_text()
    place.write_text(whole.replace("    put_inflight(context.storage, requested, ACTION)\n", ""))
    try:
        assert "DISAGREED" in nbcc(checkout, "check", "indexed.toml", "--examples", "10", exit_code=1)
    finally:
        place.write_text(whole)


def test_it_is_replayed_and_drawn(checkout: Path) -> None:
    text = nbcc(checkout, "replay", "trace.json", "--on", "engine", "--html", "trace.html")
    assert "indexing r2 completed" in text
    assert "engine: AGREED" in text
    assert "schedules an index" in (checkout / "trace.html").read_text()


@pytest.mark.parametrize(
    "command", [("check", "--help"), ("replay", "--help"), ("list", "actions"), ("explain", "indexer_schedules_index")]
)
def test_it_is_named(checkout: Path, command: tuple[str, ...]) -> None:
    assert "indexer_schedules_index" in nbcc(checkout, *command)


def test_its_option_is_explained(checkout: Path) -> None:
    assert "no write begins meanwhile" in nbcc(checkout, "explain", "index_writers")


def test_its_feature_is_found(checkout: Path) -> None:
    listed = nbcc(checkout, "list", "mechanisms")
    assert "An index is planned, built and published while writers write." in " ".join(listed.split())
