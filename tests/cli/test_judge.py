"""`nbcc judge` as a user meets it; tests/search/test_comparison.py tests what counts as a change."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nbcc.model import extensions
from nbcc.simulator import specs
from nbcc.simulator.cli.main import run
from nbcc.simulator.search import comparison

MINE = 'format = 1\nabout = "Plans take any log."\nextends = "default"\nplan_takes = "any_log"\n'
OPTIONS = ["--world", "demo", "--promise", "PART", "--promise", "FREE", "--workers", "1"]


@pytest.fixture(autouse=True)
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(MINE)


def test_the_table_has_the_change_first_and_the_command_that_replays_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["judge", "mine.toml", "--promise", "FREE", *OPTIONS, "--html", "page.html"]) == 1
    out, err = capsys.readouterr()
    head, changed, same, *_ = out.splitlines()
    assert head.split() == ["promise", "default", "mine", "change", "replay"]
    handle = changed.split()[-1]
    assert changed.split() == ["PART", "holds", "7", "newly", "broken", "nbcc", "replay", handle]
    assert same.split() == ["FREE", "holds", "holds"]
    assert "takes the log of" in out
    assert "schedules plan" in out, "the run of the first change"
    assert "PART: 7 steps in demo" in err
    assert run(["replay", handle, "--expect", "violated"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "this run also breaks LAWS"
    page = Path("page.html").read_text("utf-8")
    assert "<td>newly broken</td>" in page
    assert "<svg" in page


def test_an_option_without_effect_changes_no_step(capsys: pytest.CaptureFixture[str]) -> None:
    Path("quiet.toml").write_text(MINE.replace('plan_takes = "any_log"', 'log_compaction_window = "included"'))
    assert run(["judge", "quiet.toml", *OPTIONS]) == 0
    assert "quiet changed no step in demo: the same states, steps and verdicts." in capsys.readouterr().out
    assert run(["judge", "mine.toml", *OPTIONS]) == 1
    assert "changed no step" not in capsys.readouterr().out


def test_markdown_and_json_have_the_same_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["judge", "mine.toml", *OPTIONS, "--markdown"]) == 1
    assert "| PART | holds | 7 | newly broken | nbcc replay" in capsys.readouterr().out
    assert run(["judge", "mine.toml", *OPTIONS, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["options"] == {"plan_takes": "any_log"}
    part = found["promises"]["PART"]
    assert (part["change"], part["steps"], part["against"]) == ("broken", 7, {"verdict": "HOLDS", "steps": None})


def test_a_promise_that_does_not_apply_to_a_chosen_world_has_a_legend(capsys: pytest.CaptureFixture[str]) -> None:
    legend = "– does not apply in these worlds, ? is undetermined. Without --world"
    assert run(["judge", "mine.toml", *OPTIONS]) == 1
    assert legend not in " ".join(capsys.readouterr().out.split())
    assert run(["judge", "mine.toml", *OPTIONS, "--promise", "ONCE"]) == 1
    assert legend in " ".join(capsys.readouterr().out.split())


def test_what_the_other_protocol_breaks_in_as_many_steps_is_no_change(capsys: pytest.CaptureFixture[str]) -> None:
    Path("both.toml").write_text(f'{MINE}merge_order = "requested"\n')
    assert run(["judge", "both.toml", "--against", "mine.toml", *OPTIONS]) == 0
    assert "newly" not in capsys.readouterr().out


def test_a_search_that_stopped_is_undetermined_with_its_reason(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["judge", "mine.toml", *OPTIONS, "--max-states", "30"]) == 0, "the base is undetermined, too"
    rows, _, summary = capsys.readouterr().out.partition("\n\n")
    assert {row.split()[-1] for row in rows.splitlines()[1:]} == {"undetermined"}
    summary = " ".join(summary.split())
    assert "PART, FREE: in 2 writers" in summary, "one line for one reason"
    assert "more than 30 distinct states" in summary
    assert "--max-states and --memory are its limits" in summary


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("judge nosuch.toml", "protocol file 'nosuch.toml' does not exist"),
        ("judge mine.toml --against defualt", "no protocol is called 'defualt'; did you mean 'default'?"),
        ("judge mine.toml --against mine.toml", "mine.toml and mine have the same options"),
        ("judge mine.toml --promise SNAPP", "no promise is called 'SNAPP'; did you mean 'SNAP'?"),
        ("judge mine.toml --world demoo", "no world is called 'demoo'; did you mean 'demo'?"),
        ("judge mine.toml --module nosuch.py", "extension 'nosuch.py' does not exist; name a Python file"),
        ("judge mine.toml --markdown --json", "--markdown and --json are two forms of one answer: leave one out"),
        ("judge mine.toml --html nosuch/page.html", "the folder 'nosuch' of 'page.html' does not exist"),
    ],
)
def test_a_mistake_is_one_sentence(line: str, sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(line.split()) == 2
    out, err = capsys.readouterr()
    assert not out
    assert sentence in " ".join(err.split())
    assert len(err.splitlines()) <= 4


def test_a_step_of_an_extension_that_fails_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(extensions, "_loaded", {})
    monkeypatch.setenv(extensions.VARIABLE, "")
    Path("failing.py").write_text(FAILING)
    line = ["demo", "--module", "failing.py", "--promise", "SNAP"]
    assert run(["judge", "mine.toml", "--workers", "1", "--world", *line]) == 4
    sentence = "ZeroDivisionError: division by zero in writer_requests_instant of w1"
    assert f"the search failed: {sentence} (failing.py, line 5)" in " ".join(capsys.readouterr().out.split())
    assert run(["explore", *line]) == 4
    assert f"a bug in nbcc or in the extension failing: {sentence}" in capsys.readouterr().err


FAILING = """from nbcc.model.machine.mechanism import Mechanism
from nbcc.model.machine.transition import Guard

def fails(clock):
    return clock / 0

def compose(composition):
    composition.find("writer_requests_instant").require(Guard("never", fails))

MECHANISM = Mechanism(compose=compose)
"""


def test_an_action_of_an_extension_that_no_search_takes_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def loads_nothing() -> None:
        monkeypatch.setattr(extensions, "_loaded", {})
        monkeypatch.setenv(extensions.VARIABLE, "")

    Path("late.py").write_text(LATE)
    Path("late.toml").write_text(MINE.replace('plan_takes = "any_log"', 'lateness = "late"'))
    loads_nothing()
    module = ["--module", "late.py"]
    one_promise = ["--promise", "MONO", "--workers", "1", "--checkpoint", "kept"]
    for _ in range(2):  # the second time from the cache
        assert run(["judge", "late.toml", *module, "--world", "demo", *one_promise]) == 1
        out = capsys.readouterr().out
        assert "writer_sleeps was never taken in any world." in out
        assert "writer_takes_early_time was never" not in out
    handle = out.split("nbcc replay ")[1].split()[0]
    assert run(["replay", handle, *module, "--on", "engine"]) == 2
    refused = "the engine does not support lateness = late: its extension late defines no LOCKSTEP"
    assert refused in " ".join(capsys.readouterr().err.split())
    loads_nothing()
    assert run(["replay", handle]) == 2
    sentence = "this trace was found with --module late.py; load that file, too"
    assert sentence in " ".join(capsys.readouterr().err.split())


LATE = """from typing import Literal
from nbcc.model.machine.mechanism import Mechanism
from nbcc.model.machine.options import Options, option
from nbcc.model.machine.transition import Action, Guard, transition

class Lateness(Options):
    lateness: Literal["never", "late"] = option("never", "whether the lock is taken late")

def take(own, clock, completion_time):
    completed, clock = completion_time(clock, after=own.requested)
    return {"own": own._replace(completed=completed), "clock": clock}

def kept(own, completion_time):
    return (lambda clock, after: (own.completed, clock)) if own.completed else completion_time

def takes_time(me):
    return transition("writer_takes_early_time", me, effect=take, changes=("own", "clock"))

def compose(composition):
    for me in composition.actors_of("writer") if composition.protocol[Lateness].lateness == "late" else ():
        composition.select("writer_takes_lock", actors=[me]).insert_before("timed", takes_time)
        composition.map_view("completion_time", kept, actors=[me])
        never = Guard("never", lambda own: own.completed is None)
        composition.add(transition("writer_sleeps", me, guards=[never], effect=lambda: {}, changes=()))

MECHANISM = Mechanism(compose=compose, options=Lateness, actions=(
    Action("writer_takes_early_time", "takes a time", "{actor} takes a time"),
    Action("writer_sleeps", "sleeps", "{actor} sleeps"),
))
"""


def test_a_world_that_reads_nothing_of_the_change_is_not_searched(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(comparison.Comparison, "worlds", {specs.world("demo"): False})
    monkeypatch.setattr(comparison, "believed", lambda name, cell, kills, protocol: cell)
    assert run(["judge", "archive-past-pending", "--promise", "PART", "--workers", "1"]) == 0
    out, err = capsys.readouterr()
    assert "worlds to search: 0, smallest first; 1 more read nothing that changes" in err
    assert out.splitlines()[1].split() == ["PART", "holds", "holds", "not", "touched"]
    assert "1 world not searched" in out
