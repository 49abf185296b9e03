"""The gallery: the searches find what is committed, and every run is the same on the model and on the engine."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from pathlib import Path

import pytest

from nbcc.model import Protocol, Query
from nbcc.model.mechanisms.metadata_entries import EntryLimits
from nbcc.model.mechanisms.metadata_table import HasMetadataTable
from nbcc.model.mechanisms.occ.conflicts import Occ
from nbcc.model.mechanisms.record_index.rules import InsertLimits
from nbcc.model.mechanisms.resizes.rules import ResizeLimits
from nbcc.simulator.lockstep.crosscheck.history import PlayedHistory
from nbcc.simulator.lockstep.replay import play, replay
from nbcc.simulator.lockstep.systems.engine import EngineSystem
from nbcc.simulator.lockstep.systems.registry import factory
from nbcc.simulator.trace import Trace, load
from nbcc.simulator.trace_text import render
from nbcc.simulator.view.drawing import Text
from nbcc.simulator.view.figure import scenes_of_trace
from nbcc.simulator.view.timeline import timeline
from tests.builders.by_day import NIGHTLY
from tools.gallery import Found, NotFound, catalogue, files_of, found, pages_of
from tools.gallery.files import FOLDER, stale_files
from tools.gallery.pages import command, played_by
from tools.gallery.picture import picture

ENTRIES = catalogue()
NAMES = [entry.name for entry in ENTRIES]
MODEL_ONLY = {
    "94-flink-commit-fails",
    "95-flink-write-error",
    "96-flink-own-conflict",
    "97-flink-no-checkpoint-id",
    "98-flink-rolled-back-by-another",
    "99-flink-scan-skips-compactions",
    "87-a-number-is-no-batch",
    "07-old-file-names",
    "14-hudi-rs",
    "35-other-buckets",
    "36-equal-times",
    "22-checked-too-early",
    "23-comes-back",
    "26-late-file",
    "43-key-in-two-groups",
    "44-exposed-in-order",
    "62-partial-updates",
    "64-replaced-for-good",
    "66-clustering-hides-a-write",
    "67-clustering-aborts-a-writer",
    "54-archiving",
    "91-two-compactors-one-plan",
    "92-state-checkpoint",
    "71-between-two-commits", "100-entry-by-its-own-time",
    "72-two-tell-the-metadata-table",
    "73-metadata-read-first",
    "69-behind-the-horizon",
    "85-a-column-is-lost",
    "70-rfc-66-as-written",
    "74-rollback-block",
    "76-resize-hides-a-write",
    "112-rfc-66-example-by-four-rules",
    "105-key-inserted-twice",
    "106-newest-location",
    "115-newest-listed-instant",
    "116-key-by-its-sort-value",
}
# A lock that is lost breaks a promise under every protocol but the decision log, which keeps it.
BROKEN_BY_DEFAULT = {"31-lost-lock", "33-commit-and-rollback"}
KEPT_UNDER_ANOTHER = {"32-decision-log", "101-committed-by-another", "110-rfc-22-conflicts"}
# The protocol that keeps the promise of a run, where that is not the default.
REMEDIES = dict.fromkeys((*BROKEN_BY_DEFAULT, "36-equal-times"), Protocol(decision="log")) | {
    entry.name: Protocol(concurrency="occ")
    for entry in ENTRIES
    if entry.protocol[Occ].concurrency == "occ" or entry.name == "45-copy-on-write-loses"
}
CANNOT_HAPPEN = {
    "115-newest-listed-instant", "116-key-by-its-sort-value",
    "95-flink-write-error",
    "96-flink-own-conflict",
    "98-flink-rolled-back-by-another",
    "91-two-compactors-one-plan",
    "36-equal-times",
    "10-outside-the-lock",
    "12-one-listing",
    "22-checked-too-early",
    "25-sent-again",
    "31-lost-lock",
    "33-commit-and-rollback",
    "34-lock-wait",
    "41-occ-looks-too-early",
    "42-occ-by-start-time",
    "43-key-in-two-groups",
    "45-copy-on-write-loses",
    "46-write-skew",
    "59-restore-by-request",
    "50-bulk-insert-that-does-not-ask",
    "53-clean-behind-a-plan",
    "54-archiving",
    "56-archive-past-pending",
    "72-two-tell-the-metadata-table",
    "73-metadata-read-first",
    "74-rollback-block",
    "67-clustering-aborts-a-writer",
    "76-resize-hides-a-write",
}


IN_ONE_WORKER = pytest.mark.xdist_group("searches of the gallery")
CHOSEN = {name for entry in ENTRIES[::4] for name in (entry.name, entry.steps_of)}  # all searches take a minute
SEARCHED = ENTRIES if NIGHTLY else tuple(entry for entry in ENTRIES if entry.name in CHOSEN)


@pytest.fixture(scope="module")
def runs() -> list[Found]:
    return found(SEARCHED)


def shipped(name: str) -> Trace:
    return load(name, [FOLDER])


@IN_ONE_WORKER
def test_the_searches_find_what_is_committed(runs: list[Found]) -> None:
    searched = {run.entry.name for run in runs}
    stale = stale_files(files_of(runs))
    if not NIGHTLY:  # the indexes list all runs
        stale = [name for name in stale if name.rpartition(".")[0] in searched]
    assert stale == [], "python -m tools.regenerate gallery; then read the difference"


def test_each_run_has_its_files_and_no_others() -> None:
    generated = {path.stem for path in FOLDER.glob("[0-9]*")}
    assert generated == set(NAMES)


def test_a_changed_missing_or_left_over_file_is_seen(tmp_path: Path) -> None:
    for name, text in {"a.txt": "same", "b.svg": "other", "c.json": "of no run"}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert stale_files({"a.txt": "same", "b.svg": "b", "d.txt": "d"}, tmp_path) == ["b.svg", "c.json", "d.txt"]


def test_it_is_a_numbered_course() -> None:
    numbers = [int(name.partition("-")[0]) for name in NAMES]
    assert numbers == sorted(set(numbers)), "each mechanism has numbers of its own, with gaps between"
    assert len(NAMES) >= 12
    parts = [(part, [entry.keeps for entry in entries]) for part, entries in groupby(ENTRIES, lambda each: each.part)]
    assert len(dict(parts)) == len(parts), "each part stands in one place"
    for part, keeps in parts:
        assert keeps == sorted(keeps, reverse=True), f"{part}: what holds comes first"
    assert {entry.promise for entry in ENTRIES} >= {"SNAP", "QUIET", "TRAVEL", "INCR", "ATOM"}


@pytest.mark.parametrize("name", NAMES)
def test_a_run_is_the_same_on_the_model_and_on_the_engine(name: str) -> None:
    trace = shipped(name)
    outcomes = replay(trace, ("model",) if name in MODEL_ONLY else ("model", "engine")).outcomes
    for outcome in outcomes:
        assert (outcome.fits, outcome.same) == (True, True), outcome.sentence
        assert (outcome.verdict, outcome.because) == (trace.verdict, trace.because), outcome.sentence
        assert render(outcome.trace) + "\n" == (FOLDER / f"{name}.txt").read_text("utf-8")
    keeps = (trace.protocol == Protocol() or name in KEPT_UNDER_ANOTHER) and name not in BROKEN_BY_DEFAULT
    assert trace.verdict == ("AGREED" if keeps else "VIOLATED")


@pytest.mark.parametrize("name", sorted(MODEL_ONLY))
def test_what_the_engine_cannot_be_put_under_it_refuses(name: str) -> None:
    with pytest.raises(ValueError, match="run it on the model instead"):
        replay(shipped(name), ("engine",))


@pytest.mark.parametrize("name", [entry.name for entry in ENTRIES if not entry.keeps])
def test_under_the_remedy_the_same_steps_keep_the_promise_or_cannot_happen(name: str) -> None:
    """The remedy is the default protocol, if no other is named."""
    asked = replace(shipped(name), protocol=REMEDIES.get(name, Protocol()), observed=())
    tables = (asked.world[HasMetadataTable].metadata_table, asked.world[EntryLimits].shared_metadata_table)
    limits = (*tables, asked.world[InsertLimits].new_keys, asked.world[ResizeLimits].sort_order)
    in_model = any(limits) or "flink_job" in asked.world.actors
    systems = ("model",) if in_model else ("model", "engine")
    for outcome in replay(asked, systems).outcomes:
        assert outcome.fits == (name not in CANNOT_HAPPEN), outcome.sentence
        if outcome.fits:
            assert outcome.verdict == "AGREED", outcome.sentence
        else:
            assert outcome.reasons


def test_hudi_rs_reads_the_row_that_its_run_says() -> None:
    hudi_rs = pytest.importorskip("nbcc.simulator.lockstep.systems.hudi_rs")
    ours, theirs = shipped("02-two-writers"), shipped("14-hudi-rs")
    assert (ours.steps, ours.batches) == (theirs.steps, theirs.batches)
    read: list[str] = []

    def look(history: PlayedHistory) -> None:
        assert isinstance(history.system, EngineSystem)
        with history.system.folder() as folder:
            read.extend(history.symbols.rows(hudi_rs.HudiRs(folder).rows(Query("snapshot"))))

    assert play(ours, "engine", factory("engine"), look).verdict == "AGREED"
    assert read == list(theirs.observed[-1]["snapshot"])
    assert read != list(ours.observed[-1]["snapshot"])


def test_a_promise_that_is_not_broken_is_not_shown_broken() -> None:
    broken = next(entry for entry in ENTRIES if entry.name == "06-lost-row")
    with pytest.raises(NotFound, match="no interleaving breaks SNAP"):
        found([replace(broken, protocol=Protocol())])


def test_a_promise_that_is_broken_is_not_shown_kept() -> None:
    kept = next(entry for entry in ENTRIES if entry.name == "03-compaction-beside-writers")
    weaker = replace(kept, promise="SNAP", protocol=Protocol(slicing="requested"))
    with pytest.raises(NotFound, match="VIOLATED"):
        found([weaker])


@IN_ONE_WORKER
def test_the_commands_name_the_systems_that_can_play_them(runs: list[Found]) -> None:
    for run in runs:
        assert (played_by(run) == ("model",)) is (run.entry.name in MODEL_ONLY)
        assert ("--on engine" in command(run)) is (run.entry.name not in MODEL_ONLY)


@IN_ONE_WORKER
def test_pictures_need_nothing_else_and_say_what_is_wrong(runs: list[Found]) -> None:
    for run in runs:
        drawn = picture(run)
        assert "href" not in drawn
        assert "<script" not in drawn
        assert ("VIOLATED" in drawn, "KEPT" in drawn) == (not run.entry.keeps, run.entry.keeps)
        assert len(drawn) < 24_000


def test_a_picture_of_a_flink_job_names_what_no_instant_shows() -> None:
    times, _ = scenes_of_trace(load(FOLDER / "96-flink-own-conflict.json"), None)
    shown = [(6, "completes checkpoint"), (13, "completes checkpoint"), (15, "restarts"), (18, "aborts")]
    assert times.lanes[0].dots == tuple(shown)
    texts = sorted((each.x, each.words) for each in timeline(times, 400.0).marks if isinstance(each, Text))
    assert {words for _, words in shown} <= {words for _, words in texts}
    assert [words for _, words in texts if words[:1] == "t"] == ["t1", "t2", "t3"]


@IN_ONE_WORKER
def test_a_page_for_every_run_and_an_index_that_links_them(runs: list[Found]) -> None:
    pages = pages_of(runs[:1])
    assert set(pages) == {"index.html", "01-one-write.html", "01-one-write.svg"}
    assert '<a href="01-one-write.html"' in pages["index.html"]
    assert '<a href="01-one-write.html"' not in files_of(runs[:1])["index.html"]
