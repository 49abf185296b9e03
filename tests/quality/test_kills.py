"""Mutants of the model: each is killed where specs/kills.json records it. A promise without kills is not believed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import defaultdict
from dataclasses import replace
from typing import Any

import pytest

from nbcc.model import Protocol, World
from nbcc.model.promises import PROMISES
from nbcc.simulator.search import mutants
from nbcc.simulator.search.explore import Verdict
from nbcc.simulator.search.jobs import SearchJob
from nbcc.simulator.search.verdicts import accepted, bound_of
from nbcc.simulator.search.verdicts.judge import Cell
from nbcc.simulator.search.verdicts.kills import ENOUGH, Kill, believed, small_worlds
from tools import kills, kills_page
from tools.kills import Subject, kill_all, mutants_of, subjects
from tools.known_bugs import bugs, from_mapping

KILLS = mutants_of(accepted())
SUBJECTS = {subject.name: subject for subject in subjects()}
WORLDS = {repr(sorted(bound_of(world).items())): world for world in small_worlds()}


def world_of(kill: Kill) -> World:
    own = SUBJECTS[kill.mutant].world
    return WORLDS.get(repr(sorted(kill.bound.items()))) or own or World()


def test_every_mutant_is_killed_by_its_own_promise() -> None:
    """A choice of the protocol may break nothing, a mutant may not."""
    for subject in SUBJECTS.values():
        assert not subject.breaks or subject.breaks in {kill.promise for kill in KILLS[subject.name]}, subject.name


@pytest.mark.parametrize("name", sorted(KILLS))
def test_it_is_killed_where_it_was(name: str) -> None:
    """By its own promise; a weaker choice by the first one that it breaks."""
    subject, mine = SUBJECTS[name], KILLS[name]
    kill = next(each for each in mine if not subject.breaks or each.promise == subject.breaks)
    job = replace(subject.job, world=world_of(kill), promises=(kill.promise,))
    found = job.run(until_all_broken=True).promises[kill.promise]
    assert (found.verdict, found.steps) == (Verdict.VIOLATED, kill.steps)


@pytest.mark.parametrize("world", small_worlds(), ids=lambda world: str(bound_of(world)))
def test_nothing_is_broken_there_without_a_mutant(world: World) -> None:
    found = SearchJob(world=world).run().promises
    assert not [name for name, each in found.items() if each.verdict is Verdict.VIOLATED]


def test_every_promise_has_enough_killed_mutants_or_says_so() -> None:
    killers = defaultdict(set)
    for kill in accepted():
        killers[kill.promise].add(kill.mutant)
    cell = Cell(verdict=Verdict.HOLDS, bounds=({"writer": 9},))
    for name in PROMISES:
        doubt = believed(name, cell, accepted()).because or ""
        assert (len(killers[name]) < ENOUGH) == ("mutants were killed" in doubt), name


def test_every_report_has_a_mutant_that_is_killed_or_says_why_not() -> None:
    of_engine = {name for name in mutants.names() if mutants.load(name).detector in ("check", "test")}
    for bug in bugs():
        assert not bug.mutant or bug.mutant in KILLS or bug.mutant in of_engine, bug
    assert sum(bug.of_users for bug in bugs()) == 20
    with pytest.raises(ValueError, match="needs one of mutant, protocol, run, reason, and no more"):
        from_mapping({"title": "x", "url": "u", "promises": [], "mutant": "a", "reason": "b"})


def test_the_page_says_what_the_kills_say() -> None:
    """NBCC_SNAPSHOTS=write writes it again."""
    for path, text in kills_page.pages(accepted()).items():
        if os.environ.get("NBCC_SNAPSHOTS") == "write":
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text("utf-8"), path
        assert len(text.splitlines()) < 240


def test_the_page_names_every_kill() -> None:
    """A mutant has a line with all promises that it breaks; a weaker option is listed once."""
    text = kills_page.page(accepted())
    for name, mine in KILLS.items():
        [line] = [line for line in text.splitlines() if f"`{name}`" in line]
        if SUBJECTS[name].breaks:
            assert all(each.promise in line and str(each.steps) in line for each in mine), name


@pytest.mark.nightly
def test_a_repeated_hunt_finds_the_same_kills() -> None:
    assert [replace(kill, seconds=0) for kill in sorted(kill_all(), key=lambda k: (k.mutant, k.promise))] == [
        replace(kill, seconds=0) for kill in accepted()
    ]


def test_known_kills_are_kept_while_promises_and_bounds_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    assert kills.still_good() == accepted()
    with monkeypatch.context() as other:
        other.setattr(kills, "subjects", lambda: (SUBJECTS["listing=once"],))
        other.setattr(kills, "kills", None)  # the worlds are not searched again
        assert kill_all(known=accepted()) == KILLS["listing=once"]
    monkeypatch.setattr(kills, "PROMISES", {"SNAP": PROMISES["SNAP"]})
    assert kills.still_good() == ()


def test_a_mutant_that_lives_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    job = SearchJob(world="")
    idle = Subject(name="idle", breaks="SNAP", job=job, sound=job, protocol=Protocol())
    monkeypatch.setattr(kills, "subjects", lambda: (idle,))
    monkeypatch.setattr(kills, "small_worlds", lambda: small_worlds()[:2])
    with pytest.raises(ValueError, match=r"kills idle \(it should break SNAP\)"):
        kill_all()


DEMO = {"writer": 2, "compactor": 1}


def kill(mutant: str, **bound: int) -> Kill:
    return Kill(mutant=mutant, promise="SNAP", bound=bound or DEMO, steps=1, states=1, seconds=0)


def test_holds_is_believed_only_beyond_every_kill() -> None:
    three = [kill("a"), kill("b"), kill("c", writer=1, reader=1)]
    two_worlds = ({"writer": 2, "compactor": 2}, {"writer": 2, "reader": 1})
    cell = Cell(verdict=Verdict.HOLDS, bounds=two_worlds)

    assert believed("SNAP", cell, three) is cell
    assert "2 of its mutants were killed" in (believed("SNAP", cell, three[1:]).because or "")
    assert "0 of its mutants were killed" in (believed("PART", cell, three).because or "")
    same = believed("SNAP", replace(cell, bounds=(DEMO, two_worlds[1])), three)
    assert same.verdict is Verdict.UNDETERMINED
    where = "2 writers × 1 write, 1 compactor × 1 compaction"
    assert same.because == f"no world that was searched is beyond {where}, which kills a"
    assert believed("SNAP", replace(cell, bounds=two_worlds[:1]), three).verdict is Verdict.UNDETERMINED


def test_no_larger_world_is_needed_than_the_protocol_has() -> None:
    archived = kill("a", writer=2, compactor=1, archiver=1, groups=1, writes_per_writer=1, compactions=1,
                    log_versions=1, archives=1, instants_retained=1)  # fmt: skip
    cell = Cell(verdict=Verdict.HOLDS, bounds=({"writer": 3},))
    known = [archived, replace(archived, mutant="b"), replace(archived, mutant="c")]
    assert believed("SNAP", cell, known).verdict is Verdict.UNDETERMINED
    assert believed("SNAP", cell, known, Protocol(decision="free")) is cell


@pytest.mark.parametrize("verdict", [Verdict.VIOLATED, Verdict.NOT_APPLICABLE, Verdict.UNDETERMINED])
def test_only_holds_is_doubted(verdict: Verdict) -> None:
    cell = Cell(verdict=verdict)
    assert believed("SNAP", cell, []) is cell


# The files of mutants.

GOOD: dict[str, Any] = {
    "about": "a", "source": "s", "breaks": "SNAP", "target": "model", "replace": "nbcc.model.kernel.merge:rank",
    "with": "original",
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"wiht": ""}, "unknown field 'wiht'; did you mean 'with'"),
        ({"target": "modle"}, "target = 'modle'; did you mean 'model'"),
        ({"detector": "luck"}, "detector = 'luck'"),
        ({"replace": "nbcc.model.nothing:rank"}, "there is no nbcc.model.nothing"),
        ({"replace": "nbcc.model.kernel.merge:rnk"}, "nbcc.model.kernel.merge has no 'rnk'; did you mean 'rank'"),
        ({"with": "lambda x:"}, "the expression after 'with' is wrong"),
        ({"with": "orignal"}, "the expression after 'with' is wrong: name 'orignal' is not defined"),
    ],
)
def test_a_file_that_is_wrong_says_why(change: dict[str, Any], message: str) -> None:
    def use() -> None:
        with mutants.applied(mutants.from_mapping("m", {**GOOD, **change})):
            pass

    with pytest.raises(ValueError, match=message):
        use()
    for field in ("about", "source", "breaks", "target"):
        with pytest.raises(ValueError, match=f"'{field}' is missing"):
            mutants.from_mapping("m", {key: value for key, value in GOOD.items() if key != field})


def test_what_was_remembered_under_a_mutant_is_forgotten() -> None:
    """A law that a mutant breaks is kept again once it is gone."""
    compacted = next(world for world in small_worlds() if world.actors.get("compactor"))
    cell = SearchJob(world=compacted, promises=("LAWS",))
    before = cell.run().promises["LAWS"].verdict
    under = replace(cell, mutant="merge-takes-the-other-side").run().promises["LAWS"].verdict
    assert (before, under, cell.run().promises["LAWS"].verdict) == ("HOLDS", "VIOLATED", "HOLDS")


OUTLIVES = """
import sys
from nbcc.simulator.search import mutants

with mutants.applied(mutants.load("as-of-under-columns-of-now")):
    from nbcc.engine.actions import operations
    operations()
    wrong = sys.modules["nbcc.engine.config.schemas"].config_at
print([name for name, module in list(sys.modules.items())
       if name.startswith("nbcc.") and wrong in [value for value in vars(module).values() if callable(value)]])
"""


def test_what_is_imported_under_a_mutant_does_not_keep_it() -> None:
    """Seen in a process of its own, in which no operation has been asked for before."""
    ran = subprocess.run([sys.executable, "-c", OUTLIVES], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_a_kill_that_is_not_as_it_was_is_hunted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a setting that breaks nothing any more would keep what it was known for."""
    [right] = (kill for kill in KILLS["merge-takes-the-other-side"] if kill.promise == "LAWS")
    monkeypatch.setattr(kills, "subjects", lambda: (SUBJECTS[right.mutant],))
    monkeypatch.setattr(kills, "kills", lambda subject: (right,))
    assert kill_all(known=[replace(right, steps=right.steps + 1)]) == (right,)
    monkeypatch.setattr(kills, "kills", lambda subject: ())
    assert kill_all(known=[right]) == (right,)
