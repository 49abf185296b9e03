"""Model and engine agree in combinations of kinds of actors that no named world has; runs that differed stay pinned."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nbcc.model import World
from nbcc.simulator import specs, trace
from nbcc.simulator.lockstep.crosscheck.check import CheckOptions, run
from nbcc.simulator.lockstep.crosscheck.history import PlayedHistory
from nbcc.simulator.lockstep.replay import play, replay
from nbcc.simulator.lockstep.systems.registry import factory
from tests.search.random_models import LIMITS

BY_DAY, AT_NIGHT = 2, 300  # histories of each combination
TRACES = sorted((Path(__file__).parent / "traces").glob("*.json"))

MORE: dict[str, dict[str, Any]] = {
    "checkpointer": {"state_checkpoints": 2}, "querier": {"queries": 2}, "stream": {"copied_checkpoints": 1},
    "locks lost": {"lock_losses": 1}, "crash": {"crashes": 1}, "skew": {"skew": 1}, "resend": {"resends": 1},
    "answer lost": {"lost_answers": 1}, "occ": {"settings": {"writer": {"concurrency": "occ"}}, "retries": 1},
}  # fmt: skip
"""Kind of actor or fault -> its limits, besides those of random worlds."""

COMBINATIONS = {
    "decision-log": (
        "2 log_compactor, archiver, compactor, locks lost, crash",
        "compactor, 2 cleaner, archiver, locks lost",
        "2 rollbacker, archiver, compactor, locks lost, crash",
        "overwriter, archiver, compactor, locks lost",
        "savepointer, 2 restorer, archiver, compactor, locks lost",
        "savepointer, restorer, compactor, skew, locks lost",
        "stream, compactor, locks lost",
        "consumer, compactor, cleaner, locks lost",
    ),
    "default": (
        "overwriter, archiver, compactor, checkpointer, reader",
        "savepointer, restorer, archiver, compactor, checkpointer",
        "2 bulk_inserter, archiver, compactor, cleaner, querier",
        "2 rollbacker, archiver, compactor, cleaner, crash",
        "archiver, compactor, answer lost",
        "archiver, compactor, resend",
        "2 log_compactor, compactor, cleaner, archiver, reader",
        "log_compactor, overwriter, compactor, cleaner, archiver",
        "savepointer, compactor, cleaner, archiver, querier",
        "consumer, compactor, cleaner, archiver",
        "2 reader, compactor, cleaner, archiver",
        "stream, compactor, rollbacker, archiver, crash",
        "checkpointer, compactor, log_compactor, rollbacker, archiver, crash",
        "compactor, cleaner, archiver, occ",
        "savepointer, restorer, compactor, cleaner, log_compactor",
        "schema_evolver, compactor",
        "2 compactor, savepointer, restorer",
    ),
}
"""Protocol -> the actors in addition to two writers, and faults."""

CASES = [(protocol, names) for protocol, some in COMBINATIONS.items() for names in some]


def world_of(names: str) -> World:
    actors, limits = {"writer": 2}, {"writes_per_writer": 2}
    for name in names.split(", "):
        number, _, kind = name.rpartition(" ") if name[0].isdigit() else ("1", "", name)
        if name not in MORE or kind in ("checkpointer", "querier", "stream"):
            actors[kind] = int(number)
        limits |= {limit: max(values) for limit, values in LIMITS.get(kind, {}).items()} | MORE.get(name, {})
    return World(**{"buckets": 1, "compactions": 0, **limits, "actors": actors})


@pytest.mark.parametrize(("protocol", "names"), CASES)
@pytest.mark.parametrize("histories", [BY_DAY, pytest.param(AT_NIGHT, marks=pytest.mark.nightly)])
def test_model_and_engine_agree(protocol: str, names: str, histories: int) -> None:
    options = CheckOptions(factory("engine"), specs.protocol(protocol), world=world_of(names), readers=())
    report = run(options, examples=histories)
    assert report.disagreement is None, report.text
    assert report.histories >= histories


@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.stem)
def test_a_run_that_differed_agrees_since(path: Path) -> None:
    [outcome] = replay(trace.load(path), ["engine"]).outcomes
    assert (outcome.verdict, outcome.stopped_at) == ("AGREED", 0), outcome


def test_a_runner_finds_that_a_restore_has_undone_its_plan_before_it_misses_its_files() -> None:
    """A rival completes the plan and deletes the runner's files. Then a restore undoes the plan."""
    run = trace.load(next(path for path in TRACES if path.stem == "b1ada5"))
    enabled: set[str] = set()

    def look(history: PlayedHistory) -> None:
        enabled.update(step.action for step in history.enabled() if step.actor == "c1")

    play(replace(run, steps=run.steps[:-1], observed=()), "model", factory("model"), look)
    assert enabled == {"compactor_is_refused"}
