"""Resizes that run concurrently with writers: each design keeps its promises, and each guard is needed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from nbcc.model import Model, Protocol, World
from nbcc.model.mechanisms import kind_of
from nbcc.model.mechanisms.resizes.mechanism import RESIZER
from nbcc.model.mechanisms.resizes.rules import ranges_in_bucket
from nbcc.model.promises import PROMISES
from nbcc.simulator import specs
from nbcc.simulator.search import mutants
from nbcc.simulator.search.explore import Verdict, explore
from nbcc.simulator.trace import load
from tools.gallery.files import FOLDER

from .pins import SIZES

PAGE = Path(__file__).parents[2] / "docs" / "resizes.md"

STEPS: dict[str, tuple[str, int]] = {
    "resize-last-round-unchecked": ("SNAP", 13),
    "resize-copies-of-newest-alone": ("SNAP", 16),
    "resize-old-logs-kept": ("INCR", 16),
    "resize-late-logs-left": ("SNAP", 13),
    "resize-early-logs-left": ("SNAP", 8),
    "resize-late-logs-left-by-compaction": ("PART", 21),
    "resize-replaced-group-shown": ("KEY", 20),
    "resize-late-base-wins": ("SNAP", 27),
    "resize-builds-on-pending-base": ("SNAP", 14),
    "resize-window-takes-every-log": ("INCR", 7),
    "resize-window-lists-open-groups": ("INCR", 20),
    "resize-newest-mapping-only": ("SNAP", 8),
    "resize-planned-twice": ("KEY", 13),
    "resize-cancelled-range-forgotten": ("QUIET", 9),
    "resize-beside-new-compactions": ("CLEAN", 32),
    "resize-input-cleaned": ("CLEAN", 23),
}
"""Each mutant of resizes, the promise that it breaks, and the length of a shortest run that shows it."""

LARGE = ("resized_cancelled", "resized_cleaned", "resized_merged", "two")
"""Worlds that are searched at night."""


def world_of(name: str) -> World:
    if name != "two":
        return specs.world(name)
    limits = {"resizes": 2, "writes_per_writer": 2}
    return World(actors={"writer": 1, "resizer": 2}, buckets=2, first_buckets=1, **limits)


def cases() -> list[Any]:
    """World, design and promise of each mutant, once."""
    loaded = map(mutants.load, STEPS)
    places = {(m.world or "two", m.protocol.get("resizing", "cut_over"), m.breaks) for m in loaded}
    return [pytest.param(*each, marks=pytest.mark.nightly if each[0] in LARGE else ()) for each in sorted(places)]


@pytest.mark.parametrize(("world", "design", "promise"), cases())
def test_a_resize_keeps_its_promises(world: str, design: str, promise: str) -> None:
    found = explore(Model(world_of(world), Protocol(resizing=design)), [PROMISES[promise]]).promises[promise]
    assert found.verdict is Verdict.HOLDS, found.because


@pytest.mark.nightly
@pytest.mark.parametrize("design", ["by_range", "dual_write"])
@pytest.mark.parametrize("world", ["resized", "resized_merged", "resized_compacted"])
def test_the_other_designs_keep_every_promise(world: str, design: str) -> None:
    found = explore(Model(world_of(world), Protocol(resizing=design)), list(PROMISES.values())).promises
    assert {each.verdict for each in found.values()} == {Verdict.HOLDS, Verdict.NOT_APPLICABLE}


@pytest.mark.nightly
def test_readers_by_range_are_right_after_a_resize_is_cancelled() -> None:
    names = ("SNAP", "PART", "KEY", "QUIET", "TRAVEL", "INCR")
    model = Model(specs.world("resized_cancelled"), Protocol(resizing="by_range"))
    found = explore(model, [PROMISES[name] for name in names]).promises
    assert {name: each.verdict for name, each in found.items()} == dict.fromkeys(names, Verdict.HOLDS)


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=pytest.mark.nightly if (mutants.load(name).world or "two") in LARGE else ())
    for name in STEPS
])  # fmt: skip
def test_a_mutant_breaks_its_promise_in_so_many_steps(name: str) -> None:
    mutant, (promise, steps) = mutants.load(name), STEPS[name]
    with mutants.applied(mutant):
        model = Model(world_of(mutant.world or "two"), Protocol.from_mapping(mutant.protocol))
        assert explore(model, [PROMISES[promise]], until_all_broken=True).promises[promise].steps == steps


def test_the_page_has_these_figures() -> None:
    text = PAGE.read_text("utf-8")
    steps = re.findall(r"\(`(resize-[a-z-]+)`\) \| ([A-Z]+) (\d+) \|", text)
    steps += re.findall(r"\(`(resize-[a-z-]+)`, ([A-Z]+) (\d+)\)", text)
    states = re.findall(r"^\| `(resized\w*)` \| .* \| ([\d,]+) \|$", text, re.MULTILINE)
    assert [(name, STEPS[name]) for name, _, _ in steps] == [(name, (kind, int(n))) for name, kind, n in steps]
    assert [(world, f"{SIZES['worlds'][world]['distinct']:,}") for world, _ in states] == states
    assert (len(steps), len(states)) == (8, 7)
    assert len(text.splitlines()) < 80
    run = load("76-resize-hides-a-write", [FOLDER]).steps
    resizing = [place for place, step in enumerate(run, start=1) if kind_of(step.actor) == RESIZER.name]
    assert f"in {len(run)} steps" in text
    assert f"In 1 to {resizing[0] - 1}\n" in text
    assert f"In {resizing[0]} to {resizing[-1]} the resizer" in text
    assert resizing == [*range(resizing[0], resizing[-1] + 1)]


def test_a_file_group_holds_adjacent_ranges() -> None:
    world = World(actors={"writer": 1}, buckets=4, partitions=2)
    assert ranges_in_bucket(6, 2, world) == (6, 7)
    assert ranges_in_bucket(6, 1, world) == (4, 5, 6, 7)
    assert ranges_in_bucket(3, 4, world) == (3,)
