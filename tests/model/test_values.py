"""Protocols, worlds, their files, and mechanisms that are found by looking."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from nbcc.model import Model, Protocol, Step, World, mechanisms
from nbcc.model.protocol import choices
from nbcc.simulator import specs
from nbcc.simulator.lockstep.explain import taken_by


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"slicin": "completion"}, "unknown field 'slicin'; did you mean 'slicing'?"),
        ({"slicing": "complete"}, "slicing = 'complete'; did you mean 'completion'?"),
        ({"tombstones": True}, "tombstones = True; known: drop, keep"),
    ],
)
def test_a_protocol_says_what_is_wrong_with_it(given: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        Protocol.from_mapping(given)


def test_a_protocol_survives_its_mapping_and_knows_what_it_changes() -> None:
    weaker = Protocol(tombstones="drop", listing="once")

    assert Protocol.from_mapping(weaker.to_mapping()) == weaker
    assert weaker.differences() == {"tombstones": "drop", "listing": "once"}
    assert [values[0] for values in choices().values()] == list(Protocol().to_mapping().values())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"tabel": {}}, "unknown field 'tabel'; did you mean 'table'?"),
        ({"limits": {"crash": 1}}, "world [limits]: unknown field 'crash'; did you mean 'crashes'?"),
        ({"actors": {"writters": 2}}, "unknown actor 'writters'; did you mean 'writer'?"),
        ({"actors": {"writer": -1}}, "actors.writer: a whole number from 0 to 12 is needed, found -1"),
        ({"table": {"buckets": 0}}, "buckets: a whole number from 1 to 10000 is needed, found 0"),
        ({"table": {"merge_mode": "EVENT"}}, "unknown merge_mode 'EVENT'; did you mean"),
        ({"table": {"type": "COPY_ON_READ"}}, "type 'COPY_ON_READ' is not known; did you mean"),
        (
            {"table": {"type": "COPY_ON_WRITE"}, "actors": {"writer": 1, "compactor": 1}},
            "no log files, so no compactor",
        ),
        ({"format": 2}, "format 2 is not known"),
        ({"granularity": "step"}, "unknown granularity 'step'; "),
        ({"writes": [{"writer": "w1", "number": 1}]}, "'versions' is missing"),
        ({"writes": [{"writer": "w1", "number": 1, "versions": [0]}]}, "at least one of them above 0, found (0,)"),
        ({"writes": [{"writer": "w1", "number": 1, "versions": [1, 1]}]}, "for each of 1 file groups"),
    ],
)
def test_a_world_says_what_is_wrong_with_it(given: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        World.from_mapping(given)


def test_what_a_write_reads_survives_where_its_files_are_the_usual_ones() -> None:
    world = World(partitions=2, log_versions=2, reads={("w1", 1): (0, 1)})
    again = World.from_mapping(world.to_mapping())
    assert (again.reads, again.files("w1", 1)) == (world.reads, world.files("w1", 1))
    assert again.to_mapping() == world.to_mapping()


def test_a_world_survives_its_mapping() -> None:
    world = World(
        actors={"writer": 3, "reader": 1}, buckets=2, partitions=2, crashes=1, log_versions=2, keys=3, name="x",
        about="y", writes={("w1", 1): (1, 0, 2, 0)},
    )  # fmt: skip
    again = World.from_mapping(world.to_mapping())

    assert (again, again.name, again.about) == (world, "x", "y")
    assert world.groups == 4
    assert world.files("w1", 1) == ((0, 1), (2, 1), (2, 2))
    assert world.files("w2", 1)[:3] == ((0, 1), (0, 2), (1, 1))


def test_every_named_world_and_protocol_can_be_built() -> None:
    for name in specs.world_names():
        assert specs.about("worlds", name).endswith(".")
        assert isinstance(specs.system(name), Model)
    for name in specs.protocol_names():
        file = specs.protocol_file(name)
        assert file.about.endswith(".")
        assert file.source
        assert (file.protocol == Protocol()) == (name == "default")
    assert specs.protocol_names()[0] == "default"


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: specs.world("dmo"), "no world is called 'dmo'; did you mean 'demo'?"),
        (lambda: specs.protocol("singel-listing"), "no protocol is called 'singel-listing'; did you mean 'single-"),
        (lambda: specs.world("nowhere/x.toml"), "world file 'nowhere/x.toml' does not exist"),
    ],
)
def test_a_name_that_does_not_exist(ask: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        ask()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('format = 1\nextends = "default"\nslicng = "requested"', "unknown field 'slicng'; did you mean 'slicing'?"),
        ('format = 1\nslicing = "x"', "mine.toml': protocol: slicing = 'x'"),
        ("format = 3", "format 3 is not known"),
        ("format == 1", "is not TOML"),
        ('format = 1\nextends = "{path}"', "extends itself"),
    ],
)
def test_a_protocol_file_says_what_is_wrong_with_it(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text.replace("{path}", str(path)))
    with pytest.raises(ValueError, match=re.escape(message)):
        specs.protocol(str(path))


def test_a_protocol_file_holds_only_what_differs_from_what_it_extends(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('format = 1\nextends = "hudi-rs-0.5.0"\nfold = "rank"\n[hudi_options]\n"hoodie.x" = "y"\n')
    file = specs.protocol_file(str(path))

    assert file.protocol == specs.protocol("hudi-rs-0.5.0").replace(fold="rank")
    assert (file.name, file.hudi_options) == ("mine", {"hoodie.x": "y"})


BEACON = '''
"""Beacons that count: what a new mechanism needs is one file."""

from typing import Any, NamedTuple

from nbcc.model.machine.mechanism import Kind, Mechanism
from nbcc.model.machine.transition import Action, Guard, transition


class Beacon(NamedTuple):
    step: str = "idle"
    blinks: int = 0
    records: tuple[Any, ...] = ()


def compose(composition):
    for me in composition.actors_of("beacon"):
        left = Guard("{me} must have a blink left", lambda own: own.blinks < 2)
        composition.add(transition("beacon_blinks", me, guards=(left,), effect=blink))


def blink(own):
    return {"own": own._replace(blinks=own.blinks + 1)}


MECHANISM = Mechanism(
    compose=compose,
    kinds=(Kind(name="beacon", prefix="z", first=Beacon(), in_random_worlds=(0, 1)),),
    actions=(Action("beacon_blinks", "counts to two", "{actor} blinks"),),
)
'''


def test_no_two_kinds_call_their_actors_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One would stand in the place of the other."""
    (tmp_path / "lamp.py").write_text(BEACON.replace('"beacon", prefix="z"', '"lamp", prefix="w"'))
    monkeypatch.setattr(mechanisms, "__path__", [*mechanisms.__path__, str(tmp_path)])
    with pytest.raises(ValueError, match="lamp and writer both call their first actor w1"):
        mechanisms.kinds()


def test_without_its_file_the_mechanism_is_unknown() -> None:
    with pytest.raises(ValueError, match="unknown actor 'beacon'"):
        World.from_mapping({"actors": {"beacon": 1}})


def test_every_action_is_named_actor_verb_object_and_can_be_described() -> None:
    for name, action in mechanisms.actions().items():
        if taken_by(name) == "any":
            assert name.startswith(("actor_", "lock_", "heartbeat_", "answer_", "late_"))
        assert action.about[0].islower()
        assert not action.about.endswith(".")
    model = Model(specs.world("crash_resume"))
    shown = {model.describe(Step(row.actor, row.action, (("group", 0), ("version", 1)))) for row in model.transitions}
    assert len(shown) == len(model.transitions)
