"""Streams in histories: the engine's source and sink agree with the model's stream, with every checkpoint."""

from __future__ import annotations

from collections import Counter
from typing import Any, ClassVar

import pytest

from nbcc.model import Model, Protocol, Record, World
from nbcc.simulator import specs
from nbcc.simulator.lockstep.crosscheck.check import CheckOptions, run
from nbcc.simulator.lockstep.crosscheck.generators import keys_of
from nbcc.simulator.lockstep.crosscheck.history import PlayedHistory
from nbcc.simulator.lockstep.systems.engine import EngineSystem
from nbcc.simulator.lockstep.systems.registry import factory
from nbcc.simulator.users_factory import CannotPlay

HISTORIES = 20


class CountedSystem(EngineSystem):
    """Counts the steps of streams by what the engine returned."""

    outcomes: ClassVar[Counter[str]] = Counter()

    def stream_step(self, actor: str, action: str, own: Any) -> Any:
        observed = super().stream_step(actor, action, own)
        self.outcomes[f"{action} refused" if observed.get("refused") else action] += 1
        return observed


def test_streams_agree_in_every_step() -> None:
    """A restart sends a batch again, with its checkpoint, without it or with a copy."""
    CountedSystem.outcomes.clear()
    options = CheckOptions(lambda world, protocol, _: CountedSystem(world, protocol), world=specs.world("streams"))
    report = run(options, examples=HISTORIES, seed=1, shrinks=False)
    assert report.disagreement is None, report.text
    assert report.histories == HISTORIES
    assert CountedSystem.outcomes.keys() >= {f"stream_{action}" for action in (
        "chooses_offset", "logs_offset", "sends_batch", "commits_batch", "restarts", "loses_checkpoint",
        "copies_checkpoint", "restores_checkpoint")}  # fmt: skip


def test_other_writes_with_the_same_rows_are_the_same_batch() -> None:
    """The model compares writes and the sink compares rows: a write that loses all its keys adds no row."""
    assert outcome_of_second_write(ordering=1) == {"stream_is_refused": 1}
    assert outcome_of_second_write(ordering=3) == {"stream_is_refused refused": 1}


def outcome_of_second_write(ordering: int) -> dict[str, int]:
    """A stream sends the first write and restarts from a copy of its checkpoint, which was made before. Its first batch
    then has a second write of the same key as well.
    """
    world = specs.world("streams")
    key = keys_of(world, 0)[0]
    rows = {("w1", 1): Record(2, "w1.1"), ("w2", 1): Record(ordering, "w2.1")}
    system = CountedSystem(world, Protocol())
    history = PlayedHistory(Model(world), system, {write: {(0, 1): {key: record}} for write, record in rows.items()})
    take(history, "stream1", "copies_checkpoint")
    take(history, "w1")
    take(history, "stream1", "chooses_offset", "logs_offset", "sends_batch", "commits_batch")
    take(history, "w2")
    take(history, "stream1", "restores_checkpoint", "chooses_offset", "logs_offset")
    CountedSystem.outcomes.clear()
    take(history, "stream1", "is_refused")
    system.close()
    return dict(CountedSystem.outcomes)


def take(history: PlayedHistory, actor: str, *actions: str) -> None:
    """Take steps of a stream by their names; without names, all steps of the actor."""
    for action in actions:
        history.take(next(step for step in history.enabled() if step.action == f"stream_{action}"))
    while not actions and (steps := [step for step in history.enabled() if step.actor == actor]):
        history.take(steps[0])


def test_protocols_of_other_streams_are_not_the_engines() -> None:
    for option, value in (("batch_identity", "number"), ("empty_trigger", "moves_to_now")):
        with pytest.raises(CannotPlay, match=value):
            factory("engine")(World(), Protocol.from_mapping({option: value}), {})
