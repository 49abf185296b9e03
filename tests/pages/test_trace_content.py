"""The text of a page, without a browser: for each weak option its sentence, its rule, and the right answer."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from types import FrameType
from typing import Any

import pytest

from nbcc.model import Protocol, Record
from nbcc.model.mechanisms import kinds
from nbcc.simulator.trace import Trace
from nbcc.simulator.view.content import ContentRow, FileName, PageContent, WrongAnswer, value_at
from nbcc.simulator.view.drawing import svg
from nbcc.simulator.view.figure import figure
from nbcc.simulator.view.mechanisms import SERVICES
from nbcc.simulator.view.page import embedded, plain, render
from nbcc.simulator.view.rows import letter
from nbcc.simulator.view.style import SURFACES, css_variables, hues
from nbcc.simulator.view.trace_content import content_of

from . import traces
from .traces import trace_of

READER: dict[str, Any] = {"actors": {"writer": 2, "reader": 1}}
WRITERS: dict[str, Any] = {"actors": {"writer": 2}}
WRITERS_AND_COMPACTOR: dict[str, Any] = {"actors": {"writer": 2, "compactor": 1}}


def wrong_answer_of(content: PageContent) -> WrongAnswer:
    found = content.explanation_at(content.breaking)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("trace", "sentence", "rule", "right"),
    [
        (
            traces.lost_row(),
            "w1's update k1=B was acknowledged at step 13; every snapshot from step 18 on returns k1=A.",
            "Sliced by requested time, t1 < barrier t4: it counts as replaced by base t4, which never took it "
            "because it "
            "had not completed.",
            "Sliced by completion time, t5 > barrier t4: the log belongs to slice t4, and the reader returns k1=B.",
        ),
        (
            trace_of("w1*3 w2*6 c1 w1*3 c1*5", {"slicing": "base_instant"}, "SNAP"),
            "w1's update k1=B was acknowledged at step 13; every snapshot from step 18 on returns k1=A.",
            "Sliced by the base instant in its name, looked up before plan t4 was made: it counts as replaced by base "
            "t4, which never took it.",
            "Sliced by completion time, t5 > barrier t4: the log belongs to slice t4, and the reader returns k1=B.",
        ),
        (
            traces.resurrected_row(),
            "w2's delete of k1 was acknowledged at step 9; every snapshot from step 18 on returns k1=B, older by "
            "ordering (1 < 2).",
            "Compaction t4 took the delete and dropped it: base t4 holds nothing that outranks k1=B.",
            "Compaction keeps the delete with base t4, where it outranks k1=B, and the reader returns nothing for k1.",
        ),
        (
            traces.torn_snapshot(),
            "w1's update k1=A was acknowledged at step 10; r1's snapshot at step 15 missed it but saw w2's later k1=B.",
            "The reader's one listing saw k1=B, completed t4, but missed this one, completed t3: both "
            "completed while it "
            "ran.",
            "The reader lists again and takes all writes completed up to the latest one it saw, t4, and the "
            "reader returns "
            "k1=A.",
        ),
        (
            traces.unstable_as_of(),
            "The read as of t4 returned k1=B until w1 published k1=A at step 12; since then it returns k1=A.",
            "Its completion time t2 was taken before the lock, and later times were published first.",
            "Completion time and publication share one lock, so no earlier completion appears after a read, and the "
            "reader returns k1=B.",
        ),
        (
            trace_of("w1*3 w2*6 w1*3", {"merge_order": "requested"}, "SNAP", **WRITERS),
            "w1's update k1=B was acknowledged at step 12; every snapshot from step 12 on returns k1=A.",
            "Merged by requested time, t1 < t2 of k1=A, though it completed later.",
            "Merged by completion time, t4 comes last and wins, and the reader returns k1=B.",
        ),
        (
            trace_of("w1*3 w2*6 w1*3", {"as_of_axis": "requested"}, "SNAP", **WRITERS),
            "w1's update k1=B completed at t4; every read as of t3 from step 12 on returns it instead of k1=A.",
            "As of t3 is judged by requested time t1, not by completion time t4.",
            "An as-of read counts the writes that completed at or before its time, and the reader returns k1=A.",
        ),
        (
            trace_of("w1*3 w2*6 w1*3", {"incremental_axis": "requested"}, "INCR", **WRITERS),
            "w1's update k1=B completed at t4; every incremental read (t0, t3] from step 12 on returns it "
            "instead of k1=A.",
            "The window is cut by requested time t1, not by completion time t4.",
            "The window takes the writes that completed in it, and the reader returns k1=A.",
        ),
        (
            trace_of("w1*3", {"visibility": "any"}, "ATOM", **WRITERS),
            "w1's insert k1=A is not completed; every snapshot from step 3 on returns it all the same.",
            "The reader takes all files and does not check whether their write completed.",
            "A file counts only once a completed instant lists it, and the reader returns nothing for k1.",
        ),
    ],
)
def test_a_weak_choice_in_words(trace: Trace, sentence: str, rule: str, right: str) -> None:
    content = content_of(trace)
    explanation = wrong_answer_of(content)

    assert plain(content.sentence) == sentence
    assert plain(explanation.captions[2]) == rule
    assert plain(explanation.right) == right
    assert explanation.file in content.own.files
    assert explanation.stop in content.own.files


@pytest.mark.parametrize(
    ("trace", "wins", "source_file", "barrier"),
    [
        (traces.lost_row(), "It wins over k1=A, completed earlier (t3).", FileName("base", 0, 4), 4),
        (traces.resurrected_row(), "It wins over k1=B by ordering, 2 > 1.", FileName("log", 0, 1, 1), 0),
        (traces.torn_snapshot(), "It wins over k1=B by ordering, 2 > 1.", FileName("log", 0, 1, 1), 0),
    ],
)
def test_why_a_row_must_be_read_and_where_the_other_came_from(
    trace: Trace, wins: str, source_file: FileName, barrier: int
) -> None:
    content = content_of(trace)
    explanation = wrong_answer_of(content)
    assert plain(explanation.captions[0]).endswith(wins)
    assert (explanation.source_file, explanation.barrier) == (source_file, barrier)
    assert source_file in content.own.files


def test_a_row_that_could_be_read_before_the_delete_is_returned_again() -> None:
    put = {"w1": Record(1, None, True), "w2": Record(1, "A")}
    batches = {(actor, 1): {(0, 1): {"k1": record}} for actor, record in put.items()}
    content = content_of(replace(traces.lost_row(), batches=batches))
    assert plain(content.sentence) == (
        "w1's delete of k1 was acknowledged at step 13; every snapshot from step 18 on returns k1=A again."
    )


def test_what_became_of_a_compacted_row_and_of_a_skipped_one() -> None:
    reasons = []
    for trace in (traces.lost_row(), traces.resurrected_row()):
        files = content_of(trace).own.files
        for name in (FileName("log", 0, 1, 1), FileName("log", 0, 2, 1)):
            state = value_at(files[name], 18)
            assert state is not None
            reasons.append(state.reason)
    assert reasons == [
        "requested t1 < barrier t4: skipped",
        "in base t4",
        "",
        "compacted into t4, not kept",
    ]


def test_a_listing_is_an_interval_that_sees_and_misses() -> None:
    assert content_of(traces.torn_snapshot()).listings == [("r1", 9, 14, [1], [2])]


def test_small_text_has_contrast_enough() -> None:
    def light(colour: str) -> float:
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    def contrast(one: str, other: str) -> float:
        low, high = sorted((light(one), light(other)))
        return (high + 0.05) / (low + 0.05)

    for theme in (0, 1):
        for back in ("paper", "panel", "mark"):
            assert contrast(SURFACES["muted"][theme], SURFACES[back][theme]) >= 4.5
    for hue in set(hues(["writer"] * 5 + ["compactor", "reader"])):
        pairs = [(hue.light_text, hue.light), (hue.dark_text, hue.dark)]
        pairs += [(hue.ink, SURFACES[back][0]) for back in ("paper", "panel", "mark")]
        pairs += [(hue.dark, SURFACES[back][1]) for back in ("paper", "panel", "mark")]
        assert min(contrast(one, other) for one, other in pairs) >= 4.5


def test_the_same_steps_under_the_default_keep_every_promise_or_cannot_happen() -> None:
    for trace in (traces.lost_row(), traces.resurrected_row(), traces.torn_snapshot(), traces.unstable_as_of()):
        own, right = content_of(trace).views
        assert [promise.name for promise in own.promises if promise.step]
        assert not [promise.name for promise in right.promises if promise.step]
        last = right.answers[-1][1]
        assert right.stopped or (last is not None and last.explanation is None and last.must is not None)


def test_rows_that_come_with_the_trace_are_shown_as_they_are() -> None:
    content = content_of(traces.hostile_names())
    answer = value_at(content.own.answers, content.breaking)
    assert answer is not None
    key, image = "<script>alert(1)</script>", "</script><img src=x onerror=document.title='owned'>"
    assert (answer.must, answer.got) == ((ContentRow(key, image, 1, 1),), (ContentRow(key, "&amp;", 1, 2),))


def test_a_trace_that_breaks_nothing_has_no_thread() -> None:
    content = content_of(trace_of("w1*6 c1*6", {}))
    assert content.verdict == "HOLDS"
    assert plain(content.sentence) == "No promise is broken in this run."
    assert len(content.views) == 1
    assert "d0112b" not in svg(figure(content))


def test_a_step_that_does_not_fit_stops_the_run_there() -> None:
    trace = trace_of("w1*6", {})
    misfit = Trace(world=trace.world, protocol=trace.protocol, steps=(*trace.steps[:2], *trace.steps[3:]))
    own = content_of(misfit).own
    assert own.stopped == (3, ("w1 must be written",))


def test_a_system_carries_its_observations_from_the_step_that_showed_them() -> None:
    content = content_of(traces.three_systems())
    assert content.systems[2] == ("hudi", [(18, [("k1", "B")])])


def test_embedded_data_ends_no_script_and_is_the_same_json() -> None:
    value = {"a": "</script><!-- & \u2028"}
    text = embedded(value)
    assert not set("<&\u2028") & set(text)
    assert json.loads(text) == value


def test_the_figure_escapes_what_it_shows() -> None:
    picture = svg(figure(content_of(traces.hostile_names())))
    assert "<script" not in picture
    assert "&lt;script&gt;" in picture


def test_no_hue_is_the_threads_red_and_every_actor_has_one() -> None:
    kinds = ["writer"] * 6 + ["compactor", "reader"]
    assert len(hues(kinds)) == len(kinds)
    assert len({hue.light for hue in hues(kinds)}) == 7
    assert css_variables(kinds).count("--hue-7:") == 3


def test_letters_never_run_out() -> None:
    assert [letter(n) for n in (0, 25, 26, 52)] == ["A", "Z", "A1", "A2"]


def test_an_instant_is_called_what_its_actor_does_and_barriers_are_drawn_of_plans_alone() -> None:
    replaced = content_of(trace_of("w1*6 over1*4", {}, "", actors={"writer": 1, "overwriter": 1}))
    assert {actor: word for actor, (word, _) in replaced.services.items()} == {"over1": "replace"}
    picture = svg(figure(replaced))
    assert ">replace<" in picture
    assert "barrier t3" in picture
    assert "compaction" not in picture
    undone = content_of(trace_of("w1*6 save1*2 w1*6 rest1*3", {}, "",
                               actors={"writer": 1, "savepointer": 1, "restorer": 1},
                               writes_per_writer=2, savepoints=1, restores=1))  # fmt: skip
    assert ">restore<" in svg(figure(undone))
    assert "barrier t" not in svg(figure(undone))


def test_every_actor_with_instants_of_its_own_has_a_word_or_writes_rows() -> None:
    silent = {
        "archiver", "checkpointer", "consumer", "cutter", "flink_job", "metadata_compactor", "querier", "reader",
        "savepointer", "stream",
    }  # fmt: skip
    assert {kind for kind in kinds() if kind not in SERVICES} == {"writer", "bulk_inserter"} | silent


def test_a_base_file_of_a_copy_on_write_table_shows_what_its_write_made_of_the_one_before() -> None:
    table: dict[str, Any] = {"actors": {"writer": 1}, "writes_per_writer": 2, "table_type": "COPY_ON_WRITE"}
    content = content_of(trace_of("w1*12", {}, "", **table)).own.files
    last = [history[-1][1] for name, history in content.items() if name.kind == "base"]
    bases = [[row[1:] for row in state.rows] for state in last if state]
    assert bases != [[], []]
    assert len(bases) == 2
    assert all(bases), bases


def test_a_run_that_breaks_nothing_has_no_breaking_step() -> None:
    kept = replace(traces.lost_row(), protocol=Protocol(), verdict="AGREED")
    assert not content_of(kept).breaks
    assert content_of(traces.lost_row()).breaks


def test_the_log_of_a_log_compaction_is_read_in_place_of_its_inputs() -> None:
    actors = {"writer": 1, "log_compactor": 1}
    compacted = trace_of("w1*12 logc1*6", {}, "", actors=actors, writes_per_writer=2, log_compactions=1)
    log = content_of(compacted).own.files[FileName("log", 0, 5, 1)]
    state = value_at(log, len(compacted.steps))
    assert state is not None
    assert state[:2] == ("read", "in place of t1.log.1, t3.log.1")


def test_a_disagreement_speaks_the_times_of_the_page() -> None:
    """r3 and r2 of the reason are t4 and t3 of the picture, and a log has the name of its file."""
    because = (
        "after step 18, slices: the model says group 0 from -: base -, logs r1.1; group 0 from r3: base r3, logs r2.1; "
        "the system says group 0 from -: base -, logs r1.1 r2.1; group 0 from r3: base r3, logs -"
    )
    trace = replace(trace_of("w1*6 w2 c1*6 w2*5", {}, **WRITERS_AND_COMPACTOR), verdict="DISAGREED", because=because)
    content = content_of(trace)
    assert plain(content.sentence) == "After step 18 the model and the system differ: slices."
    assert [plain(value) for value in content.differing] == [
        "The model: before every barrier of group 0: t1.log.1; slice t4 of group 0: base t4 and t3.log.1.",
        "The system: before every barrier of group 0: t1.log.1 t3.log.1; slice t4 of group 0: base t4.",
    ]
    assert ["t3.log.1", 3] in content.differing[0]
    assert " promises: " not in render(content)
    assert content_of(replace(trace, because="the stack of a failed job")).differing == []


def test_a_page_is_drawn_in_few_modules() -> None:
    """A reader of `render` has at most eight modules to follow, all of the view."""
    content, entered = content_of(traces.lost_row()), set[str]()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            entered.add(frame.f_globals.get("__name__", ""))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        render(content)
    finally:
        sys.setprofile(before)
    ours = {name.removeprefix("nbcc.simulator.view.") for name in entered if name.startswith("nbcc.")}
    assert ours == {"content", "drawing", "figure", "page", "scene", "slices", "style", "timeline"}
