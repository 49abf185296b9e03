"""`nbcc explain`: every name there is, each with its sentence, its source and a run that replays."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nbcc.engine.config.hudi_options import NAMES, OF_TABLE
from nbcc.engine.config.maintenance import ALIASES
from nbcc.engine.data_source.options import CREATE, OF_WRITE, READ, SERVICES
from nbcc.model import Model
from nbcc.model.mechanisms import actions
from nbcc.model.promises import PROMISES
from nbcc.model.protocol import choices
from nbcc.simulator import glossary, specs
from nbcc.simulator.audit.explain import explain as explain_any
from nbcc.simulator.cli.main import run
from nbcc.simulator.lockstep import minimal_examples
from nbcc.simulator.lockstep.explain import VERDICTS, explain, names, pinned
from nbcc.simulator.lockstep.replay import replay
from nbcc.simulator.search.options import known_options
from tests.builders import by_day

ACTIONS = sorted(actions())


def test_every_name_is_known_once_per_kind() -> None:
    assert {*glossary.words()} >= {"NBCC", "OCC", "MOR", "COW", "file slice", "completion time"}
    assert {*glossary.words(), *PROMISES, *ACTIONS, *choices(), *VERDICTS} <= {*names()}
    assert {*specs.protocol_names(), *specs.world_names()} <= {*names()}
    for name in names():
        explanations = explain(name)
        assert len({each.kind for each in explanations}) == len(explanations), f"{name} is explained twice"
        for each in explanations:
            assert len(each.about.split()) > 3, f"{name} has no sentence"
            assert each.source, f"{name} has no source"


@pytest.mark.parametrize("protocol", by_day.one_of(3, sorted(pinned())))
def test_a_protocol_shows_its_pinned_counterexample(protocol: str) -> None:
    [explanation] = explain(protocol)
    trace = explanation.run()
    promise = pinned()[protocol]["promise"]
    assert trace is not None
    assert (trace.promise, trace.verdict) == (promise, "VIOLATED")
    assert len(trace.steps) == pinned()[protocol]["violated"][promise]
    assert trace.protocol == specs.protocol(protocol)
    again = replay(trace).outcomes[0]
    assert (again.fits, again.same, again.verdict) == (True, True, "VIOLATED")


@pytest.mark.parametrize("action", by_day.one_of(3, ACTIONS))
def test_an_action_shows_a_run_that_ends_with_it(action: str) -> None:
    trace = explain(action)[0].run()
    assert trace is not None
    assert trace.steps[-1].action == action
    assert action not in [step.action for step in trace.steps[:-1]]
    assert replay(trace).outcomes[0].verdict == "AGREED"


@pytest.mark.parametrize("name", sorted(PROMISES))
def test_a_promise_shows_its_shortest_breach_or_its_first_test(name: str) -> None:
    [explanation] = [each for each in explain(name) if each.kind == "promise"]
    trace = explanation.run()
    assert trace is not None
    breaches = [known["violated"][name] for known in pinned().values() if name in known["violated"]]
    if breaches:
        assert (trace.promise, trace.verdict, len(trace.steps)) == (name, "VIOLATED", min(breaches))
    else:
        model = Model(trace.world, trace.protocol)
        states = [model.initial]
        for step in trace.steps:
            able = [s for s in model.successors(states[-1]) if (s[0].actor, s[0].action) == (step.actor, step.action)]
            states.append(able[0][1])
        reached = [PROMISES[name].sometimes(model, state) for state in states]
        assert reached == [False] * len(trace.steps) + [True]


STRICTER = {"uniqueness", "unmarked"}
"""Values that break no promise: a requested time that must be put first, and to take another engine's base file for one
of ours."""


@pytest.mark.parametrize("field", by_day.one_of(3, sorted(choices())))
def test_a_setting_shows_what_its_weaker_value_breaks(field: str) -> None:
    [explanation] = [each for each in explain(field) if each.kind == "option"]
    trace = explanation.run()
    assert (trace is None) == (field in STRICTER)
    if trace is not None:  # what loses nothing shows a run in which all is kept
        kept = ("decision", "log_layout", "publication", "requests", "rollback_plans")
        assert trace.verdict == ("" if field in kept else "VIOLATED")
        assert field in trace.protocol.differences()


@pytest.mark.nightly
def test_worlds_show_a_run_of_all_their_actors() -> None:
    for name in specs.world_names():
        [explanation] = [each for each in explain(name) if each.kind == "world"]
        trace = explanation.run()
        assert trace is not None
        if name.startswith("endless"):  # its first writer never ends
            assert {step.actor for step in trace.steps} == {"w1"}
            continue
        writers = specs.world(name).actors.get("writer", 0)
        assert {step.actor for step in trace.steps} >= {f"w{number}" for number in range(1, writers + 1)}


def test_a_promise_that_holds_shows_no_breach() -> None:
    assert minimal_examples.breaking(specs.world("demo"), specs.protocol("default"), "SNAP") is None


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ("snap", "promise"),
        ("not_applicable", "verdict"),
        ("Slicing", "option"),
        ("Requested Time Slicing", "protocol"),
    ],
)
def test_spelling_does_not_matter(given: str, kind: str) -> None:
    assert [each.kind for each in explain(given)] == [kind]


def test_the_command_prints_saves_and_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["explain", "tombstones-dropped"]) == 0
    shown = capfd.readouterr().out
    assert shown.startswith("tombstones-dropped  (protocol)\n  A compaction drops deletes")
    assert "\nVIOLATED  SNAP\n" in shown
    assert "\\u000a" not in shown  # each line is printed on its own, because line breaks are escaped
    handle = shown.rsplit(" ", 1)[-1].strip()
    assert (tmp_path / "traces" / f"{handle}.json").is_file()
    assert run(["explain", "uniqueness"]) == 0
    assert capfd.readouterr().out.endswith("under uniqueness=test_and_set: none in the worlds searched.\n")
    assert run(["explain", "SNAP", "--json"]) == 0
    [explanation] = json.loads(capfd.readouterr().out)["explanations"]
    assert (explanation["name"], explanation["kind"], explanation["run"]["verdict"]) == ("SNAP", "promise", "VIOLATED")
    assert run(["explain", "tombstone-dropped"]) == 2
    assert "similar names: tombstones-dropped" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("hoodie.index.type", "rows are found by a bucket index"),
        ("hoodie.datasource.write.keygenerator.class", "it would format a time"),
        ("hoodie.compact.inline", "uses it, with true or false as its value"),
        ("hoodie.table.precombine.field", "the argument ordering_fields of Table.create"),
        ("hoodie.parquet.max.file.size", "all values: ignored, tuning"),
        ("hoodie.write.concurrency.early.conflict.detection.enable", "Apache Hudi has it; nbcc ignores it"),
        ("hoodie.of.another.release", "nbcc does not know it; nbcc ignores it"),
        ("as.of.instant", 'format("nbcc") uses it'),
        ("mergeschema", 'mergeSchema (option of a data source)'),
        ("timestampAsOf", "use as.of.instant with a completion time"),
        ("NBCC", "non-blocking concurrency control: no writer waits"),
        ("occ", "optimistic concurrency control: of two conflicting writes"),
        ("MOR", "a table type: writes append log files"),
        ("COW", "a table type: each write merges"),
        ("single_writer", "each writer assumes that it is the only one"),
    ],
)
def test_options_of_hudi_and_words_of_the_field_answer(
    name: str, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["explain", name]) == 0
    assert line.casefold() in " ".join(capsys.readouterr().out.split()).casefold()


OF_HUDI = sorted({
    *known_options(), *NAMES, *ALIASES, *(name for names in OF_TABLE.values() for name in names),
    *(name for name in (*READ, *OF_WRITE, *SERVICES, *CREATE) if name.startswith("hoodie.")),
})  # fmt: skip


def test_every_option_of_hudi_answers_and_its_misspelling_names_one() -> None:
    assert len(OF_HUDI) >= 120
    for name in OF_HUDI:
        [explanation] = explain_any(name)
        assert "does not know" not in explanation.about, name
        with pytest.raises(ValueError, match=r"did you mean hoodie\."):
            explain_any(name[:-1])


def test_a_misspelt_option_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "hoodie.compact.inlin"]) == 2
    assert "did you mean hoodie.compact.inline" in capsys.readouterr().err
