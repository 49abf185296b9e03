"""How the rules of reading a table are composed, and what mechanisms add to its values."""

from __future__ import annotations

from math import inf

import pytest

from nbcc.model import Model, Protocol, World, mechanisms
from nbcc.model.assembly import rules_of
from nbcc.model.kernel.merge import Fold
from nbcc.model.kernel.table import CompletesAs, Write
from nbcc.model.machine.marks import mark, marks, with_mark
from nbcc.model.machine.mechanism import Mechanism
from nbcc.model.mechanisms.bulk_insert.rules import Loaded
from nbcc.model.mechanisms.insert_overwrite import Replaced
from nbcc.model.rules import Rules
from nbcc.simulator import specs
from tests.builders.slicing import DEMO, RFC


def test_equal_protocols_share_their_rules() -> None:
    assert rules_of(Protocol()) is rules_of(Protocol(slicing="completion"))
    assert rules_of(Protocol()).under(slicing="requested") is rules_of(Protocol(slicing="requested"))


def test_a_variant_replaces_only_its_rules() -> None:
    by_request, default = type(rules_of(Protocol(slicing="requested"))), type(RFC)
    assert default.slice_time is Rules.slice_time
    assert by_request.slice_time is not Rules.slice_time
    assert by_request.is_visible is default.is_visible is Rules.is_visible


def test_the_kernel_alone_reads_a_table_without_mechanisms() -> None:
    kernel, everything = Rules(Protocol().options, rules_of), rules_of(Protocol())
    model = Model(specs.world("demo"))
    left_out = {*type(everything).__mro__[1:]} - {*type(model.rules).__mro__}
    assert left_out == {part for each in mechanisms.every().values() if each.rules_need_use
                        for part in each.rules(Protocol())}  # fmt: skip
    states, seen = [model.initial], {model.initial}
    for state in states:
        table = model.table(state)
        for rules in (model.rules, everything):
            assert kernel.file_slices(table, 0) == rules.file_slices(table, 0)
            for time in (*range(9), inf):
                assert kernel.as_of(table, 0, time) == rules.as_of(table, 0, time)
                assert kernel.incremental(table, 0, 2, time) == rules.incremental(table, 0, 2, time)
        new = [after for _, after in model.successors(state) if after not in seen]
        seen.update(new)
        states += dict.fromkeys(new)
    assert len(states) == 415


class SeesNothing(Rules):
    def is_visible(self, requested: int, completed: int | None, time: float) -> bool:
        return False


def test_a_changed_rule_takes_effect_in_the_rules_that_call_it() -> None:
    assert SeesNothing(RFC.options, rules_of).as_of(DEMO, 0, inf) == Fold(None, ())


@pytest.mark.parametrize("name", specs.protocol_names())
def test_a_mechanism_changes_only_rules_of_the_kernel(name: str) -> None:
    protocol = specs.protocol(name)
    parts = [part for mechanism in mechanisms.every().values() for part in mechanism.rules(protocol)]
    own = {rule for part in parts for rule, value in vars(part).items() if callable(value)}
    assert own
    assert own <= {*dir(Rules)}


def test_a_mechanism_comes_after_those_that_it_names(monkeypatch: pytest.MonkeyPatch) -> None:
    after = {"a": ("c",), "b": (), "c": ("b",), "d": ("a",)}
    several = {name: Mechanism(after=names) for name, names in after.items()}
    monkeypatch.setattr(mechanisms, "of_package", lambda package: several if package == "mechanisms" else {})
    assert [name for name, _, _ in mechanisms.in_order()] == ["b", "c", "a", "d"]
    assert [each for _, each, _ in mechanisms.in_order()] == [several[name] for name in "bcad"]


def test_marks_with_their_defaults_are_left_out() -> None:
    assert marks(Loaded(), CompletesAs("deltacommit"), Replaced((0,))) == (Replaced((0,)),)
    write = Write(1, 2, "w1", 1, ((0, 1),), marks(Loaded((0,))))
    assert mark(write, Loaded).groups == (0,)
    assert mark(write, Replaced) == Replaced()
    assert with_mark(write.marks, Loaded()) == ()


def test_marks_of_two_types_are_never_equal() -> None:
    assert marks(Loaded((0,))) != marks(Replaced((0,)))


def test_how_records_merge_depends_on_the_world() -> None:
    event, commit = (World(merge_mode=mode) for mode in ("EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING"))
    assert RFC.merger(event).keeps_tombstones
    assert not RFC.merger(commit).keeps_tombstones
    assert not rules_of(Protocol(tombstones="drop")).merger(event).keeps_tombstones
    assert not RFC.merger(World(actors={"writer": 1}, table_type="COPY_ON_WRITE")).keeps_tombstones


def test_a_world_with_a_mechanism_is_read_by_its_rules() -> None:
    """Actors show that a mechanism is used, or limits alone: copy-on-write has no actors."""
    for world, name in (("resized", "resizes"), ("cleaning", "cleaning"), ("copy_on_write", "copy_on_write")):
        model = Model(specs.world(world))
        assert {*mechanisms.every()[name].rules(model.protocol)} <= {*type(model.rules).__mro__}
