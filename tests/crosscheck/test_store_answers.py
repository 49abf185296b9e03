"""Histories of the engine on the S3 server, whose requests fail; and tours in which every put loses its answer."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import obstore
import pytest
from obstore.exceptions import AlreadyExistsError, PreconditionError

from nbcc.engine.errors import StorageError
from nbcc.engine.storage.object_storage import ObjectStorage
from nbcc.model import Protocol, World
from nbcc.simulator import specs
from nbcc.simulator.lockstep.crosscheck.check import CheckOptions, run
from nbcc.simulator.lockstep.crosscheck.tour import tour
from nbcc.simulator.lockstep.mapping import MAPPING
from nbcc.simulator.lockstep.systems.s3 import FAULTS, S3System, every_answer


def options(system: Any, world: str | None = None, protocol: str = "default") -> CheckOptions:
    return CheckOptions(
        factory=system,
        world=specs.world(world) if world else None,
        protocol=specs.protocol(protocol),
        readers=(),
        system="s3",
    )


def failing(world: World, protocol: Protocol, batches: object) -> S3System:
    return S3System(world, protocol)


@pytest.mark.parametrize("histories", [6, pytest.param(200, marks=pytest.mark.nightly)])
def test_writers_that_lose_the_lock_agree_although_requests_fail(histories: int) -> None:
    """An object that exists may be another writer's: two of them claim one time or one number of the decision log."""
    report = run(options(failing, "lost_lock", "decision-log"), examples=histories, seed=0)
    assert report.agreed, report.sentence


def test_the_engine_agrees_with_the_model_although_requests_fail() -> None:
    report = run(options(failing, "demo"), examples=12, seed=1)
    assert report.agreed, report.sentence
    assert {what.split()[0] for what in report.faults} == set(FAULTS)
    assert report.to_mapping()["faults"] == dict(report.faults)
    assert "  failed requests: DELETE" in report.text


def test_an_engine_that_takes_its_own_object_for_another_disagrees() -> None:
    def put_if_absent(storage: ObjectStorage, path: str, data: bytes) -> bool:
        try:
            storage._ask("create", path, lambda store: obstore.put(store, path, data, mode="create"))
        except (StorageError, AlreadyExistsError, PreconditionError):
            return False
        return True

    with patch.object(ObjectStorage, "put_if_absent", put_if_absent):
        report = run(options(failing, "demo"), examples=6, seed=1, shrinks=False)
    assert not report.agreed


WORLDS = [
    "demo", "loads", "clustered", "log_compaction", "log_compaction_crash", "replaces", "archiving", "cleaning",
    "cleaning_crash", "columns_added", "restores", "restores_crash", "savepoints", "copy_on_write", "failed_writer",
    "occ_failed", "crash_resume", "answer_lost",
]  # fmt: skip
LOGGED = [
    "answer_lost", "lost_lock", "lost_lock_replaces", "lost_lock_loads", "lost_lock_cleaning",
    "lost_lock_log_compaction", "lost_lock_restores", "lost_lock_rollback", "restores_crash",
]  # fmt: skip
"""Worlds under the protocol `decision-log`."""

SHARE = 0.002
LARGER = {"loads": 0.02, "lost_lock_cleaning": 0.0025, "answer_lost": 0.005}
"""The first run of a tour in which some row of the mapping is taken can be a late one."""


@pytest.mark.nightly
@pytest.mark.timeout(3000)
def test_every_row_of_the_mapping_that_puts_survives_a_lost_answer() -> None:
    systems: list[S3System] = []

    def losing(world: World, protocol: Protocol, batches: object) -> S3System:
        systems.append(S3System(world, protocol, every_answer))
        return systems[-1]

    played = [(world, "default") for world in WORLDS] + [(world, "decision-log") for world in LOGGED]
    for world, protocol in played:
        report = tour(options(losing, world, protocol), share=LARGER.get(world, SHARE))
        print(f"{world} under {protocol}: {report.runs} of {report.all_runs} runs, {report.steps} steps")
        assert report.disagreement is None, report.text
    lost = {action for system in systems for action, _ in system.store.faults}
    ends = {row.action: (row.ends_after,) if isinstance(row.ends_after, str) else row.ends_after for row in MAPPING}
    puts = {action for action, texts in ends.items() if any(text.startswith("put ") for text in texts)}
    assert puts - lost == set()
