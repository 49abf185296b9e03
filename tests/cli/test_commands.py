"""`explore`, `replay`, `check` and `list` as a user meets them: answers, exit codes, JSON, traces that replay."""

from __future__ import annotations

import gc
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from nbcc.model.machine import Step
from nbcc.model.mechanisms import actions
from nbcc.model.promises import PROMISES
from nbcc.simulator.cli.check import Duration
from nbcc.simulator.cli.explore import steps_of_users_model
from nbcc.simulator.cli.main import run
from nbcc.simulator.cli.names import KINDS
from nbcc.simulator.search.explore import PromiseResult, Result, Verdict
from tests.pages.readme import programs

ROOT = Path(__file__).parents[2]
FAULTY = "requested-time-slicing"


class Ran(NamedTuple):
    code: int
    out: str
    err: str


Cli = Callable[[str], Ran]


@pytest.fixture
def nbcc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run a command line in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def command(line: str) -> Ran:
        code = run(line.split())
        return Ran(int(code), *capsys.readouterr())

    return command


def test_a_search_leaves_the_garbage_collector_as_it_was(nbcc: Cli) -> None:
    """A process may run further commands; without collections the memory of each search would stay."""
    gc.enable()
    try:
        assert nbcc("explore demo --promise SNAP").code == 0
        assert gc.isenabled()
    finally:
        gc.disable()  # as in every test (tests/conftest.py)


def test_explore_says_what_holds_and_how_far_it_looked(nbcc: Cli) -> None:
    ran = nbcc("explore demo")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    shown = [line.split(maxsplit=2) for line in lines[: len(PROMISES)]]
    unfit = {
        "FIRST": "every writer is non-blocking: none promises to abort",
        "ISO": "no writer is optimistic; other modes isolate reads only",
        "REC": "nothing is rolled back in this world",
        "CLEAN": "the world has no cleaner",
        "RETAIN": "the world has no cleaner",
        "ONCE": "no batch is sent again here",
        "ARCH": "the world has no archiver",
        "SAME": "the world has no checkpointer",
        "SAVED": "the world has no savepointer",
        "ACK": "every answer of the store arrives in this world",
        "BOUNDED": "no commit is announced without a lock here",
        "ERASED": "no optimistic writer deletes by a condition; other modes delete what matched when they read",
    }
    assert shown == [["NOT_APPLICABLE", name, unfit[name]] if name in unfit else ["HOLDS", name] for name in PROMISES]
    assert lines[len(PROMISES) :] == [
        "demo under default: 114 states that stand for 415, 128 generated, depth 14; "
        "every interleaving within the limits",
        "reduced: w1 and w2 are exchangeable; compactor_writes_base, writer_starts_writing, writer_writes_log happen "
        "with the next visible step",
        "covered: 12 of 12 actions were possible",
        "conditions that were never the only false one: the actor must hold the lock (in 4 actions), "
        "the actor must be idle (in 1 action)",
    ]
    assert not Path("traces").exists()


def test_explore_without_reductions_counts_every_state(nbcc: Cli) -> None:
    ran = nbcc("explore demo --no-reduction")
    assert "\ndemo under default: 415 states, 595 generated, depth 19; every interleaving" in ran.out
    assert "reduced" not in ran.out


def test_explore_calibrates(nbcc: Cli) -> None:
    assert "288 states, 1,146 generated, depth 11" in nbcc("explore examples.two_phase_commit:TwoPhaseCommit").out


def test_explore_prints_the_steps_that_break_a_promise_of_a_users_own_model(nbcc: Cli) -> None:
    Path("counter.py").write_text(programs(ROOT / "docs" / "write-your-own-model.md")[0], encoding="utf-8")
    try:
        ran = nbcc("explore counter:Counter")
    finally:
        sys.modules.pop("counter", None)
    assert ran.code == 1
    assert ran.out.endswith(
        "\n\nVIOLATED  NOLOSS\n    1  c1  client_reads\n    2  c2  client_reads\n"
        "    3  c1  client_writes\n    4  c2  client_writes\n"
    )


def test_the_cycle_of_a_promise_of_liveness_is_printed() -> None:
    steps = (Step("c1", "client_locks"), Step("c1", "client_waits", (("for", 2),)))
    promise = PromiseResult(name="FINISHES", verdict=Verdict.VIOLATED, trace=steps, cycle=1)
    assert [*steps_of_users_model(Result(distinct=2, generated=2, depth=2, seconds=0, promises={"FINISHES": promise}))][
        2:
    ] == [
        "    1  c1  client_locks",
        "  the following steps repeat permanently:",
        "    2  c1  client_waits for=2",
    ]


def test_a_violation_is_printed_with_a_handle_that_replays_to_the_same_text(nbcc: Cli) -> None:
    found = nbcc(f"explore demo --protocol {FAULTY} --promise SNAP")
    assert found.code == 1
    page = found.out.partition("\n\n")[2]
    (again,) = re.findall(r"see it again: nbcc (replay [0-9a-f]{6})\n", page)
    replayed = nbcc(again)
    assert replayed.code == 1
    assert replayed.out.startswith(page)
    assert replayed.out.removeprefix(page).startswith("model: VIOLATED, the same was observed; ")


def test_replay_expects(nbcc: Cli) -> None:
    nbcc(f"explore demo --protocol {FAULTY} --promise SNAP")
    (trace,) = Path("traces").glob("*.json")
    assert nbcc(f"replay {trace} --expect violated").code == 0
    assert nbcc(f"replay {trace} --expect agreed").code == 1
    assert nbcc(f"replay {trace} --protocol default --expect agreed").code == 0


def test_replay_says_where_a_trace_stopped_to_fit(nbcc: Cli) -> None:
    nbcc(f"explore demo --protocol {FAULTY} --promise SNAP")
    (path,) = Path("traces").glob("*.json")
    trace = json.loads(path.read_text("utf-8"))
    trace["steps"] = trace["steps"][1:]
    path.write_text(json.dumps(trace), "utf-8")
    ran = nbcc(f"replay {path}")
    assert ran.code == 1
    assert "model: no longer possible, step 1: " in ran.out


def test_what_was_played_otherwise_names_the_command_that_plays_it_again(nbcc: Cli) -> None:
    """A handle is printed as a command only where a trace of that handle is kept."""
    page = nbcc("replay 06-lost-row --protocol default").out
    (again,) = re.findall(r"see it again: nbcc (.*)\n", page)
    assert nbcc(again).out == page


def test_a_trace_that_does_not_fit_has_not_agreed(nbcc: Cli) -> None:
    nbcc(f"explore demo --protocol {FAULTY} --promise SNAP")
    (path,) = Path("traces").glob("*.json")
    trace = json.loads(path.read_text("utf-8"))
    trace["steps"][3]["action"] = "writer_does_nothing"
    path.rename("mine.json").write_text(json.dumps(trace), "utf-8")
    ran = nbcc("replay mine.json")
    assert ran.code == 1
    assert ran.out.startswith("TRACE  SNAP")
    assert "see it again: nbcc replay mine.json\n" in ran.out


def test_a_page_is_not_written_over_its_trace(nbcc: Cli) -> None:
    nbcc(f"explore demo --protocol {FAULTY} --promise SNAP")
    (path,) = Path("traces").glob("*.json")
    before = path.read_text("utf-8")
    assert nbcc(f"replay {path} --html traces/../{path}").code == 2
    assert path.read_text("utf-8") == before


def test_a_foreign_file_among_the_traces_hides_none(nbcc: Cli) -> None:
    Path("traces", "folder.json").mkdir(parents=True)
    Path("traces", "bytes.json").write_bytes(b"\xff\xfe")
    assert nbcc("replay 2c5c72 --expect violated").code == 0


def test_explore_stopped_early_is_undetermined(nbcc: Cli) -> None:
    ran = nbcc("explore demo --max-states 50")
    assert ran.code == 3
    assert {line.split()[0] for line in ran.out.splitlines()[: len(PROMISES)]} == {"UNDETERMINED", "NOT_APPLICABLE"}
    assert "stopped: more than 50 distinct states" in ran.out


def test_explore_as_json(nbcc: Cli) -> None:
    ran = nbcc(f"explore demo --protocol {FAULTY} --promise SNAP --promise MONO --json")
    report = json.loads(ran.out)
    assert ran.code == 1
    assert report.keys() >= {
        "format", "world", "protocol", "distinct", "generated", "depth", "seconds", "states_per_second", "promises",
    }  # fmt: skip
    assert report["promises"].keys() == {"SNAP", "MONO"}
    broken = report["promises"]["SNAP"]
    assert broken["verdict"] == "VIOLATED"
    assert broken["steps"] == len(broken["trace"])
    assert Path("traces", f"{broken['handle']}.json").is_file()
    assert report["promises"]["MONO"]["verdict"] == "HOLDS"


def test_check_agrees_and_says_that_it_is_no_proof(nbcc: Cli) -> None:
    ran = nbcc("check demo --on model --examples 10 --summary report.md")
    assert ran.code == 0
    assert ran.out.startswith("model: AGREED in ")
    assert "(random: no proof)" in ran.out
    assert "HOLDS" not in ran.out
    assert Path("report.md").read_text("utf-8") == ran.out


def test_check_as_json(nbcc: Cli) -> None:
    report = json.loads(nbcc("check demo --on model --examples 5 --seed 3 --json").out)
    assert report["format"] == 1
    assert report["systems"]["model"]["verdict"] == "AGREED"
    assert report["systems"]["model"]["seed"] == 3


def test_the_same_seed_plays_the_same(nbcc: Cli) -> None:
    one, two = (json.loads(nbcc("check --on model --examples 5 --seed 8 --json").out)["systems"]["model"] for _ in "12")
    assert one.pop("seconds")
    assert two.pop("seconds")
    assert one == two


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("5m", 300), ("2h", 7200), ("1.5m", 90), ("7", 7)])
def test_durations(text: str, seconds: float) -> None:
    assert Duration().convert(text, None, None) == seconds


@pytest.mark.parametrize("kind", KINDS)
def test_list_has_a_line_for_every_name(nbcc: Cli, kind: str) -> None:
    ran = nbcc(f"list {kind}")
    lines = [line for line in ran.out.splitlines() if not line.startswith(" ")]
    entries = json.loads(nbcc(f"list {kind} --json").out)[kind]
    assert ran.code == 0
    assert lines
    assert all(line.startswith(f"{entry['name']} ") for line, entry in zip(lines, entries, strict=True))
    assert all(entry["about"] for entry in entries)


def test_list_finds_what_the_model_finds(nbcc: Cli) -> None:
    listed = {line.split()[0] for line in nbcc("list actions").out.splitlines() if not line.startswith(" ")}
    assert listed == {*actions()}
