"""Queries as interleaved actors, refusals by class, early ends, themes of random worlds, repeated keys."""

from __future__ import annotations

import random
from typing import Any

import pytest

from nbcc.model import Model, Protocol, Query, Record, Step, World
from nbcc.model.answers import Several
from nbcc.simulator import trace as traces
from nbcc.simulator.lockstep.crosscheck.check import Check, CheckOptions
from nbcc.simulator.lockstep.crosscheck.generators import draw_batches, draw_world
from nbcc.simulator.lockstep.crosscheck.history import PlayedHistory
from nbcc.simulator.lockstep.crosscheck.themes import THEMES, archiving, checkpointing, optimistic, restoring, skewed
from nbcc.simulator.lockstep.schedule import Limited, Random, Replay
from nbcc.simulator.lockstep.systems.engine import EngineSystem
from nbcc.simulator.lockstep.systems.registry import factory
from nbcc.simulator.observables import as_written, other_queries

WORLD = World(actors={"writer": 2, "querier": 1}, queries=1)
WRITE = (
    "writer_requests_instant", "writer_starts_writing", "writer_writes_log", "writer_takes_lock",
    "writer_takes_completion_time", "writer_publishes_instant",
)  # fmt: skip


def played(*actions: tuple[str, str] | Step, world: World = WORLD) -> PlayedHistory:
    """A history on the engine that takes these steps."""
    batches = draw_batches(random.Random(0).randrange, world)
    history = PlayedHistory(Model(world), EngineSystem(world, Protocol()), batches)
    for each in actions:
        fits = each if isinstance(each, Step) else None
        [step] = [s for s in history.enabled() if (s == fits if fits else (s.actor, s.action) == each)]
        history.take(step)
    return history


def of(actor: str, *actions: str) -> list[tuple[str, str]]:
    return [(actor, action) for action in actions]


ASKS_UNSETTLED = Step("q1", "querier_asks_as_of", (("at", (4,)),))
"""The second writer has taken the completion time 4, and has not published."""


def test_a_query_of_an_unsettled_time_waits_for_the_lock_and_then_reads_the_write() -> None:
    history = played(*of("w1", *WRITE), *of("w2", *WRITE[:5]), ASKS_UNSETTLED)
    assert {step.actor for step in history.enabled()} == {"w2"}
    history.take(Step("w2", WRITE[5]))
    for action in ("querier_settles", "querier_lists_again", "querier_reads"):
        history.take(Step("q1", action))
    assert any("w2.1" in row for row in history.answered[-1]["read"])
    history.finish()


@pytest.mark.parametrize(
    ("at", "refusal"), [(1, "BadInput"), (2, ""), (3, "BadInput"), (1003, "BadInput")], ids=str
)  # before the first write; a completion; the request of a pending write; the future
def test_a_refusal_has_a_class(at: int, refusal: str) -> None:
    history = played(*of("w1", *WRITE), *of("w2", *WRITE[:1]))
    settled = at <= 2
    actions = [] if settled else ["querier_settles"]
    actions += ["querier_reads"] if at > 1000 else ["querier_lists_again", "querier_reads"]
    asks = next(s for s in history.enabled() if s.action == "querier_asks_as_of" and _time(s) >= at)
    for step in (asks, *(Step("q1", action) for action in actions)):
        history.take(step)
    assert history.model.component(history.state, "q1").refusal == refusal
    history.finish()


def _time(step: Step) -> int:
    times: Any
    [(_, times)] = step.args
    [time] = times
    return int(time)


def test_an_open_window_delivers_what_completed_before_a_restore_that_is_planned_between_its_listings() -> None:
    world = World(
        actors={"writer": 2, "consumer": 1, "savepointer": 1, "restorer": 1},
        writes_per_writer=2, windows=1, savepoints=1, restores=1,
    )  # fmt: skip
    history = played(
        *of("w1", *WRITE), ("cons1", "consumer_takes_window"), *of("w2", *WRITE),
        *of("save1", "savepointer_pins_instant", "savepointer_publishes_savepoint"), ("w1", WRITE[0]),
        ("rest1", "restorer_plans_restore"), *of("cons1", "consumer_lists_window", "consumer_reads_window"),
        world=world,
    )  # fmt: skip
    assert any("w2.1" in row for row in history.answered[-1]["read"])


def test_reads_at_other_times_include_a_request_and_the_future() -> None:
    timeline = (("deltacommit", "completed", 1, 3), ("deltacommit", "requested", 2, None))
    queries = list(other_queries(timeline, settled=3))
    assert Query("as_of", until=1) in queries
    assert Query("as_of", until=1003) in queries
    assert all(query.until not in (3, None) for query in queries)


def test_a_history_that_ends_early_is_compared_with_actors_in_the_middle() -> None:
    check = Check(CheckOptions(factory("engine"), readers=()))
    busy = []
    check.options.readers = (lambda history, tally: busy.append(history.model.busy(history.state)),)
    batches = draw_batches(random.Random(1).randrange, WORLD)
    check.walk(Model(WORLD), batches, Limited(Random(), 3), random.Random(1).randrange)
    assert check.tally.lengths == [3]
    assert busy[0]


def test_every_theme_makes_worlds_that_the_model_composes() -> None:
    for seed, theme in enumerate(THEMES):
        choose = random.Random(seed).randrange
        Model(theme(choose, draw_world(choose)))
    world = draw_world(random.Random(0).randrange)
    choose = random.Random(0).randrange
    assert archiving(choose, world).actors["archiver"]
    assert checkpointing(choose, world).actors["checkpointer"]
    assert restoring(choose, world).actors.keys() >= {"savepointer", "restorer"}
    assert optimistic(choose, world).settings
    assert skewed(choose, world).flat()["skew"]


FIRST, SECOND = Record(2, "w1.1"), Record(1, "w1.1b")


def test_of_several_records_of_a_key_the_greatest_ordering_value_is_written() -> None:
    assert as_written({(0, 1): {"a0": Several((FIRST, SECOND))}}) == {(0, 1): {"a0": FIRST}}


def test_a_trace_keeps_every_record_of_a_key() -> None:
    batches: Any = {("w1", 1): {(0, 1): {"a0": Several((FIRST, SECOND)), "a1": FIRST}}}
    trace = traces.Trace(world=WORLD, protocol=Protocol(), steps=(), batches=batches)
    given = {"format": 1, **trace.to_mapping()}
    assert traces.from_mapping(given).batches == batches


def test_a_recorded_query_is_replayed_with_its_times() -> None:
    history = played(*of("w1", *WRITE), Step("q1", "querier_asks_as_of", (("at", (2,)),)))
    assert history.steps[-1].args == (("at", ("c1",)),)
    batches = draw_batches(random.Random(0).randrange, WORLD)
    again = PlayedHistory(Model(WORLD), EngineSystem(WORLD, Protocol()), batches)
    schedule = Replay(history.steps, again.resolved)
    while step := schedule.next(lambda n: 0, again.enabled()):
        again.take(step)
    assert schedule.complete
