"""The metadata table agrees with the data table in every state, under crashes and repeated commits."""

from __future__ import annotations

from typing import Any

import pytest

from nbcc.model import Model, Protocol, World
from nbcc.model.kernel.table import Compaction, Write
from nbcc.model.mechanisms.cleaning.rules import CompletedClean
from nbcc.model.mechanisms.metadata_entries import EntryOptions, MetadataContent, MetadataEntry, listed, planned
from nbcc.model.mechanisms.metadata_table import MetadataTable, through
from nbcc.model.promises import PROMISES
from nbcc.simulator import specs
from nbcc.simulator.cli.main import run as cli
from nbcc.simulator.components import is_dead
from nbcc.simulator.lockstep.crosscheck.check import CheckOptions, run
from nbcc.simulator.lockstep.systems.registry import factory
from nbcc.simulator.search.explore import Verdict, explore
from tests.builders.reachable import reachable

from .pins import search, violated

WORLDS = {
    "writers": World(metadata_table=1, actors={"writer": 2}, crashes=1),
    "compactors": World(metadata_table=1, actors={"writer": 1, "compactor": 2}, crashes=1),
    "rollback": World(
        metadata_table=1, actors={"writer": 1, "rollbacker": 1}, writes_per_writer=2, crashes=1, stalls=1, rollbacks=1
    ),
}


@pytest.mark.parametrize("name", WORLDS)
def test_it_is_never_behind_and_ahead_by_what_is_about_to_complete_or_dead(name: str) -> None:
    model, ahead = Model(WORLDS[name]), 0
    for state in reachable(model):
        metadata, published = model.component(state, "metadata"), model.component(state, "published")
        assert {entry.requested for entry in published} <= metadata.listed
        early = len(metadata.listed) - len(published)
        owns = {who: model.component(state, who) for actors in model.actors.values() for who in actors}
        dead = sum(is_dead(own) for own in owns.values())
        assert early <= dead + (model.component(state, "lock") is not None)
        assert len(metadata.begun) <= 1
        ahead += bool(early)
    assert ahead, "an actor was between the two commits"


def test_a_write_that_is_rolled_back_is_taken_out_of_it() -> None:
    model, before = Model(WORLDS["rollback"]), set()
    for state in reachable(model):
        done = {entry.requested for entry in model.component(state, "published")}
        listed = model.component(state, "metadata").listed
        targets = {each.target for each in model.component(state, "rollbacks") if each.requested in done}
        assert not listed & targets
        before |= {each.target for each in model.component(state, "rollbacks")} & listed
    assert before, "it was listed before"


def test_applied_twice_it_is_there_once_and_nothing_else_changes() -> None:
    once = MetadataTable(frozenset({1})).begin(2).commit(2)
    assert once == MetadataTable(frozenset({1, 2}))
    assert once.begin(2).commit(2) == once
    assert once.begin(3).begin(4).commit(3).commit(4) == MetadataTable(frozenset({1, 2, 4})), "3 was rolled back"


def test_what_is_found_through_it() -> None:
    write, compaction, clean = Write(1, 2, "w1", 1, ((0, 1),)), Compaction(3, 4, "c1"), CompletedClean(5, 6, "clean1")
    published = (write, compaction, clean)
    assert through(published, None) == published
    assert through(published, frozenset({1, 3, 5})) == published
    assert through(published, frozenset()) == (write._replace(files=()), clean)


@pytest.mark.parametrize(
    ("setting", "broken"), [({}, {}), ({"metadata_again": "refused"}, {"PROGRESS": 22})], ids=["applied", "refused"]
)
def test_who_died_between_the_two_commits_is_carried_on_by_another(
    setting: dict[str, str], broken: dict[str, int]
) -> None:
    """HUDI-3624: a metadata table that refuses what it has already stops the service permanently."""
    result = explore(Model(WORLDS["compactors"], Protocol.from_mapping(setting)), [PROMISES["PROGRESS"]])
    assert violated(result) == broken


def test_a_listed_write_that_never_completes_is_shown_to_a_reader_that_does_not_check() -> None:
    """Without a second table that reader sees a file as soon as it is there; with one, once it is listed."""
    bare, listed = World(actors={"writer": 1}), World(metadata_table=1, actors={"writer": 1})
    found = [explore(Model(w, Protocol(visibility="any")), [PROMISES["ATOM"]]).promises["ATOM"] for w in (bare, listed)]
    assert [(each.verdict, each.steps) for each in found] == [(Verdict.VIOLATED, 3), (Verdict.VIOLATED, 7)]


def test_the_decision_log_writes_the_metadata_table_before_it_decides() -> None:
    world = World(metadata_table=1, actors={"writer": 2})
    assert search(Model(world, Protocol(decision="log"))).verdict is Verdict.HOLDS
    for field, value in (("metadata_commit", "after_data"), ("metadata_lock", "outside_lock")):
        with pytest.raises(ValueError, match="is modelled with a metadata table that is written under the lock"):
            Protocol.from_mapping({"decision": "log", field: value})


def test_the_engine_plays_in_no_such_world() -> None:
    with pytest.raises(ValueError, match=r"lists the files of a table that has a metadata table, and refuses"):
        run(CheckOptions(factory("engine"), world=specs.world("metadata_writers"), readers=()), examples=1)


def test_the_command_says_so_in_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli(["check", "metadata_writers"]) == 2
    assert capsys.readouterr().err.startswith("Error: the engine does not support metadata_table = 1: it lists")


def test_an_entry_that_is_put_early_and_completes_late_is_in_the_slice_of_its_completion() -> None:
    entries = frozenset({MetadataEntry(1, entered=2), MetadataEntry(3, entered=4)})
    published = (Write(3, 5, "w2", 1, ((0, 1),)),)
    for by_own_time, found in ((EntryOptions(), {1, 3}), (EntryOptions(entry_slice="entered"), {3})):
        base = planned(MetadataContent(entries), published, 6, by_own_time)._replace(completed=True)
        assert base.listed == {3}, "the entry of the pending instant is left to the next slice"
        assert listed(MetadataContent(entries, (base,)), published, by_own_time) == found


def test_a_dead_writer_holds_back_hudis_compactions_of_the_metadata_table_and_none_of_ours() -> None:
    entries, published = frozenset({MetadataEntry(1, 2), MetadataEntry(3, 4)}), (Write(3, 5, "w2", 1, ((0, 1),)),)
    held = EntryOptions(entry_slice="entered", entry_barrier="before_pending")
    assert planned(MetadataContent(entries), published, 6, held).listed == set()
    assert planned(MetadataContent(entries), published, 6, EntryOptions()).listed == {3}


@pytest.mark.parametrize(("setting", "why"), [
    ({"metadata_table": 1, "shared_metadata_table": 1}, "two models of one table"),
    ({"actors": {"metadata_compactor": 1}}, "needs .* shared_metadata_table = 1"),
    ({"shared_metadata_table": 1, "actors": {"metadata_compactor": 1, "cleaner": 1}, "commits_retained": 1}, "cleaner"),
])  # fmt: skip
def test_a_world_that_is_not_modelled_is_refused(setting: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        World(**setting)


@pytest.mark.parametrize("value", [2, True, -1])
def test_a_world_has_one_or_none(value: Any) -> None:
    with pytest.raises(ValueError, match="metadata_table"):
        World(metadata_table=value)
