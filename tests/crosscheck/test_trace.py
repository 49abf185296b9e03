"""Traces: JSON and back, handles, and fixed-width text."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nbcc.model import Model, Protocol, Record, Step, World
from nbcc.simulator import trace as traces
from nbcc.simulator.lockstep.crosscheck.generators import draw_batches, draw_world
from nbcc.simulator.lockstep.crosscheck.history import PlayedHistory
from nbcc.simulator.lockstep.replay import replay
from nbcc.simulator.lockstep.shrink import realised, shortest_violation
from nbcc.simulator.lockstep.systems.model import ModelSystem
from nbcc.simulator.trace_text import cell, render

LATE = [
    *["writer_requests_instant", "writer_starts_writing", "writer_writes_log"],
    *["writer_takes_lock", "writer_takes_completion_time", "writer_publishes_instant"],
]


def steps_of(actor: str, actions: list[str]) -> list[Step]:
    group = (("group", 0), ("version", 1))
    return [Step(actor, action, group if action == "writer_writes_log" else ()) for action in actions]


@pytest.fixture
def trace() -> traces.Trace:
    world = World(actors={"writer": 2, "compactor": 1})
    steps = [*steps_of("w1", LATE[:3]), *steps_of("w2", LATE), *steps_of("w1", LATE[3:])]
    rows = {("w1", 1): {(0, 1): {"a0": Record(1, "w1.1")}}, ("w2", 1): {(0, 1): {"a0": Record(1, "w2.1", True)}}}
    return traces.Trace(world=world, protocol=Protocol(), steps=tuple(steps), batches=rows, title="a late completion")


def test_json_and_back(trace: traces.Trace, tmp_path: Path) -> None:
    path = traces.save(trace, tmp_path)
    assert path.name == f"{trace.handle}.json"
    assert traces.load(path) == replace(trace, observed=({},) * len(trace.steps))
    assert traces.load(trace.handle, [tmp_path]).handle == trace.handle
    assert json.loads(path.read_text())["format"] == 1


def test_a_reason_with_a_stack_is_saved_on_one_line(trace: traces.Trace, tmp_path: Path) -> None:
    """A trace that `check` writes can be loaded, also one of a system that fails."""
    failed = replace(trace, because="it failed: Py4JJavaError:\n\tat a.B.c(B.java:1)\r\n\x1b[31mat \ud800")
    loaded = traces.load(traces.save(failed, tmp_path))
    assert loaded.because == "it failed: Py4JJavaError: at a.B.c(B.java:1) \\x1b[31mat \\ud800"


def test_a_handle_depends_on_steps_rows_world_and_protocol_alone(trace: traces.Trace) -> None:
    same = replace(trace, title="another title", because="x", observed=({"timeline": ["x"]},) * len(trace.steps))
    assert same.handle == trace.handle
    others = [
        replace(trace, steps=trace.steps[:-1]),
        replace(trace, batches={}),
        replace(trace, world=World(actors={"writer": 3})),
        replace(trace, protocol=Protocol(listing="once")),
    ]
    assert len({trace.handle, *(other.handle for other in others)}) == 5


def test_an_unknown_handle_names_where_it_was_searched(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no trace with that handle in .*traces"):
        traces.load("abcdef", [tmp_path / "traces"])


def test_another_format_is_refused() -> None:
    with pytest.raises(ValueError, match="a trace of format 2; this version reads format 1"):
        traces.from_mapping({"format": 2})


def test_replay_on_the_model_says_that_it_fits_and_observes_the_same_twice(trace: traces.Trace) -> None:
    first = replay(trace, ["model"]).outcomes[0]
    assert (first.fits, first.verdict) == (True, "AGREED")
    assert first.trace.observed[-1]["snapshot"] == ["a0: 1 w1.1 r1"], "a tie goes to the later completion"
    again = replay(first.trace, ["model"]).outcomes[0]
    assert again.same
    assert render(again.trace) == render(first.trace)
    assert not replay(replace(first.trace, observed=({},) * 11 + ({"x": ["y"]},)), ["model"]).outcomes[0].same


@pytest.mark.parametrize("seed", range(5))
def test_any_history_goes_through_json_and_back_and_observes_the_same(seed: int, tmp_path: Path) -> None:
    choose = random.Random(seed).randrange
    world = draw_world(choose).replace(actors={"writer": 2, "compactor": 2, "reader": 1}, crashes=1)
    batches = draw_batches(choose, world)
    history = PlayedHistory(Model(world), ModelSystem(Model(world)), batches)
    while enabled := history.enabled():
        history.take(enabled[choose(len(enabled))])
    trace = traces.Trace(world=world, protocol=Protocol(), steps=tuple(history.steps), batches=batches,
                         observed=tuple(history.observed))  # fmt: skip
    again = traces.load(traces.save(trace, tmp_path))
    assert again == trace
    outcome = replay(again, ["model"]).outcomes[0]
    assert (outcome.fits, outcome.same, outcome.verdict) == (True, True, "AGREED")


def test_a_trace_that_does_not_fit_says_where_and_why(trace: traces.Trace) -> None:
    outcome = replay(replace(trace, steps=trace.steps[1:]), ["model"]).outcomes[0]
    assert not outcome.fits
    assert outcome.sentence == "model: no longer possible, step 1: w1 must be requested"


@pytest.mark.parametrize("seen", [[["r1"]], [5], ["9" * 5_000], ["x"]], ids=["nested", "number", "digits", "unknown"])
def test_an_argument_that_names_no_instant_ends_the_replay(trace: traces.Trace, seen: list[Any]) -> None:
    given = json.loads(traces.to_json(trace))
    given["steps"][0]["args"] = {"seen": seen}
    assert not replay(traces.from_mapping(given), ["model"]).outcomes[0].fits


def test_text_is_fixed_width_with_the_handle_and_the_command(trace: traces.Trace) -> None:
    text = render(replay(trace, ["model"]).outcomes[0].trace)
    table = [line for line in text.splitlines() if " | " in line]
    assert len(table) == 1 + len(trace.steps)
    assert len({tuple(i for i, letter in enumerate(line) if letter == "|")[:3] for line in table}) == 1
    assert text.endswith(f"nbcc replay {trace.handle}")
    assert "12 steps, 2 context switches, 2 actors" in text


def test_a_cell_leaves_out_whose_column_it_is() -> None:
    cells = [cell(Step("w1", action)) for action in ("writer_takes_lock", "actor_crashes", "lock_expires")]
    assert cells == ["takes lock", "crashes", "lock expires"]
    assert cell(Step("r1", "reader_ends_listing", (("seen", ("r1", "r2")),))) == "ends listing (seen r1 r2)"
    assert cell(Step("r1", "reader_ends_listing", (("seen", ()),))) == "ends listing (seen nothing)"


def test_the_search_finds_the_fewest_context_switches() -> None:
    """Requested-time slicing loses a late row; this interleaving changes actors needlessly often."""
    protocol = Protocol(slicing="requested")
    world = World(actors={"writer": 2, "compactor": 1})
    model = Model(world, protocol)
    compacts = ["compactor_schedules_plan", "compactor_starts_plan", "compactor_writes_base", "compactor_takes_lock"]
    compacts += ["compactor_takes_completion_time", "compactor_publishes_instant"]
    wordy = [
        *steps_of("w1", LATE[:1]), *steps_of("w2", LATE[:2]), *steps_of("w1", LATE[1:2]), *steps_of("w2", LATE[2:]),
        *steps_of("w1", LATE[2:3]), *[Step("c1", a, (("group", 0),) if "base" in a else ()) for a in compacts],
        *steps_of("w1", LATE[3:]),
    ]  # fmt: skip
    assert realised(model, wordy) is not None
    assert traces.context_switches(wordy) == 6
    short = shortest_violation(model, wordy, "SNAP")
    assert short is not None
    assert traces.context_switches(short) == 3


def test_a_wide_interleaving_has_a_narrow_form() -> None:
    wide = traces.load("12-one-listing", [Path(__file__).parents[2] / "specs" / "traces"])
    table = render(wide, width=80).split("\n\n")[1].splitlines()
    assert max(map(len, table)) <= 80
    assert table[6] == "   7 |    w1    | publishes instant               | deltacommit r1 completed c1;"
    assert table[7] == "     |          |                                 | snapshot: a0: 2 w1.1 r1"
    assert render(wide, width=300) == render(wide)
