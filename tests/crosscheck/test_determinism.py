"""A trace makes the same files, byte for byte, and the same observations under every hash seed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from nbcc.model import Model, Protocol, World
from nbcc.simulator.lockstep.crosscheck.generators import draw_batches
from nbcc.simulator.lockstep.crosscheck.history import PlayedHistory
from nbcc.simulator.lockstep.schedule import Random
from nbcc.simulator.lockstep.systems.engine import EngineSystem

ROOT = Path(__file__).parents[2]
WORLD = World(
    actors={"writer": 2, "compactor": 2, "reader": 1}, buckets=2, partitions=2, writes_per_writer=2, crashes=1,
    writes={("w1", 1): (2, 0, 1, 0)},
)  # fmt: skip

PRINT_HASHES = """
import hashlib, random
from tests.crosscheck.test_determinism import played
for seed in range(3):
    history = played(random.Random(seed).randrange)
    files = sorted(history.system.harness.storage.objects.items())
    print(len(files), hashlib.sha256(repr(files).encode()).hexdigest())
    print(hashlib.sha256(repr((history.steps, history.observed)).encode()).hexdigest())
"""


def played(choose: object) -> PlayedHistory:
    """A random history with compactions, a crash, deletes and a reader."""
    batches = draw_batches(choose, WORLD)  # type: ignore[arg-type]
    history = PlayedHistory(Model(WORLD), EngineSystem(WORLD, Protocol()), batches)
    schedule = Random()
    while enabled := history.enabled():
        step = schedule.next(choose, enabled)  # type: ignore[arg-type]
        assert step is not None
        history.take(step)
    history.finish()
    history.system.close()  # type: ignore[attr-defined]
    return history


def output(hash_seed: str) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", PRINT_HASHES], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_same_files_and_observations_under_another_hash_seed() -> None:
    first = output("1")
    assert first == output("2")
    assert len(set(first.split())) >= 6, "three different histories"
