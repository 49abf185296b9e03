"""Searches of the matrix that are kept, that fail and that are interrupted."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from nbcc.model import Protocol, Step
from nbcc.model.promises import PROMISES
from nbcc.simulator import specs
from nbcc.simulator.cli.main import run
from nbcc.simulator.search import verdicts
from nbcc.simulator.search.explore import PromiseResult, Result, Verdict
from nbcc.simulator.search.explore.checkpoint import FOLDERS, code
from nbcc.simulator.search.jobs import ResultCache, SearchJob, cache, failed_search, run_jobs
from nbcc.simulator.search.verdicts import judge

DEMO = specs.world("demo")
STEPS = (Step("w1", "writes", (("group", 1), ("seen", ()))), Step("c1", "plans", (("instants", (1, 2)),)))
FOUND = Result(
    distinct=12, generated=20, depth=3, seconds=0.5, stopped="more than 12 distinct states", deadlock=STEPS, ends=2,
    ends_at_limit=1, canary=True, reductions=("symmetry",), stands_for=24, reads=(("an option",), ("a rule",)),
    promises={
        "SNAP": PromiseResult(name="SNAP", verdict=Verdict.VIOLATED, because="one row", trace=STEPS),
        "CDC": PromiseResult(name="CDC", verdict=Verdict.HOLDS),
    },
)  # fmt: skip
CELL = SearchJob(world=DEMO, protocol=Protocol(), reduce=True)


def search(file: Path, *jobs: SearchJob, result: Result = FOUND, **bounds: Any) -> tuple[list[Result], list[SearchJob]]:
    """What is found in the jobs, and which of them were searched: each search has the given result."""
    searched = []

    def run(job: SearchJob, **bounds: Any) -> Result:
        searched.append(job)
        return result

    with patch.object(SearchJob, "run", run):
        found = list(run_jobs(jobs, cache=ResultCache(file), **bounds))
    assert [job for job, _ in found] == list(jobs)
    return [each for _, each in found], searched


def test_what_was_kept_is_taken_up_as_it_was(tmp_path: Path) -> None:
    set_fields = {field.name for field in fields(Result) if getattr(FOUND, field.name) != field.default}
    seen = {field.name for field in fields(Result)} - {"coverage"}
    assert set_fields == seen, "a field that this test does not see"
    file = tmp_path / "kept"
    assert search(file, CELL, max_states=12) == ([FOUND], [CELL])
    assert search(file, CELL, max_states=12, memory=2, raises=False) == ([FOUND], [])


@pytest.mark.parametrize(
    "other",
    [
        replace(CELL, world=DEMO.replace(crashes=1)),
        replace(CELL, protocol=specs.protocol("tombstones-dropped")),
        replace(CELL, reduce=False),
        replace(CELL, promises=("SNAP",)),
        replace(CELL, records=True),
    ],
)
def test_another_search_is_made(tmp_path: Path, other: SearchJob) -> None:
    search(tmp_path / "kept", CELL)
    assert search(tmp_path / "kept", other, CELL)[1] == [other]
    assert search(tmp_path / "kept", CELL, max_states=9)[1] == [CELL]


def test_no_bound_is_no_bound(tmp_path: Path) -> None:
    search(tmp_path / "kept", CELL, max_states=None)
    assert search(tmp_path / "kept", CELL)[1] == []


def test_names_of_worlds_and_settings_are_what_they_stand_for(tmp_path: Path) -> None:
    search(tmp_path / "kept", CELL)
    assert search(tmp_path / "kept", SearchJob(world="demo", protocol="default", reduce=True))[1] == []


def test_a_search_of_a_mutant_is_not_kept(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="searches of mutants are not cached"):
        search(tmp_path / "kept", replace(CELL, mutant="search-drops-a-successor"))


def test_a_failure_is_not_kept(tmp_path: Path) -> None:
    search(tmp_path / "kept", CELL, result=failed_search("it died"))
    assert search(tmp_path / "kept", CELL)[1] == [CELL]


def test_who_dies_over_a_line_loses_that_search_alone(tmp_path: Path) -> None:
    file, other = tmp_path / "kept", replace(CELL, reduce=False)
    search(file, CELL, other)
    os.truncate(file, file.stat().st_size - 20)
    assert search(file, CELL, other)[1] == [other]
    assert search(file, CELL, other)[1] == []


def test_a_file_of_other_code_or_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "kept"
    search(file, CELL)
    monkeypatch.setattr(cache, "code", lambda *folders: "other")
    with pytest.raises(ValueError, match="holds searches by other code; name another file, or delete it"):
        ResultCache(file)
    for content in (b"", b"\x00\xff\n", b"[1]\n", b'{"format": 1}\n', json.dumps(cache.HEAD).encode()):
        file.write_bytes(content)
        with pytest.raises(ValueError, match="is not a cache of searches; name another file, or delete it"):
            ResultCache(file)
        assert run(["verdicts", "--checkpoint", str(file)]) == 2
        assert file.read_bytes() == content


def test_code_is_known_by_every_folder_that_decides() -> None:
    assert len({code(), *map(code, FOLDERS), code(*FOLDERS)}) == len(FOLDERS) + 2


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Two settings in the demo's world alone; the page, and the kills, would lie in an empty folder."""
    chosen = tuple(specs.protocol_file(name) for name in ("default", "tombstones-dropped"))
    monkeypatch.setattr(verdicts, "protocols", lambda: chosen)
    monkeypatch.setattr(verdicts, "data_path", lambda depth: tmp_path / "verdicts.json")
    monkeypatch.setattr(verdicts, "judge_locks", lambda depth, **bounds: ())
    monkeypatch.setattr(verdicts, "believable", lambda rows, known: rows)
    monkeypatch.setattr(judge, "protocols", lambda: chosen)
    monkeypatch.setattr(judge, "worlds_of", lambda name, depth: {DEMO: False})
    return tmp_path


def nbcc(*line: str) -> int:
    return int(run(["verdicts", "--workers", "1", *line]))


def test_the_command_goes_on_from_its_file(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(small / "kept")
    assert nbcc("--accept", "--checkpoint", file) == 0
    first, last_line = capsys.readouterr().out.rstrip().rsplit("\n\n", 1)
    assert last_line == f"0 searches taken from {file}, 2 made"
    assert nbcc("--checkpoint", file) == 0
    assert capsys.readouterr().out == f"{first}\n\n2 searches taken from {file}, 0 made\n"
    assert nbcc("--checkpoint", file, "--json") == 0
    assert json.loads(capsys.readouterr().out)["searches"] == {"cached": 2, "untouched": 0, "made": 0}
    assert nbcc("--json") == 0
    assert json.loads(capsys.readouterr().out)["searches"] == {"cached": 0, "untouched": 0, "made": 2}


def test_a_failed_search_is_reported_and_nothing_is_accepted(
    small: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sound = PROMISES["SNAP"].holds

    def failing(system: Any, *states: Any) -> str | None:
        if system.protocol.differences():
            raise LookupError("no such row")
        return sound(system, *states)

    monkeypatch.setitem(PROMISES, "SNAP", replace(PROMISES["SNAP"], holds=failing))
    file = small / "kept"
    assert nbcc("--accept", "--json", "--checkpoint", str(file)) == 4
    out, err = capsys.readouterr()
    jobs = json.loads(out)["protocols"]
    assert jobs["default"]["SNAP"]["verdict"] == "HOLDS"
    assert {job["verdict"] for job in jobs["tombstones-dropped"].values()} == {"UNDETERMINED"}
    where = "2 writers × 1 write, 1 compactor × 1 compaction, 1 group"
    why = "the search failed: LookupError: no such row (test_result_cache.py, line "
    assert jobs["tombstones-dropped"]["CDC"]["because"].startswith(f"in {where}: {why}")
    assert f"Error: not judged: tombstones-dropped in {where}: {why}" in err
    assert "Error: nothing was accepted, because some searches failed\n" in err
    assert os.listdir(small) == ["kept"]

    monkeypatch.setitem(PROMISES, "SNAP", replace(PROMISES["SNAP"], holds=sound))
    assert nbcc("--accept", "--checkpoint", str(file)) == 0
    assert f"1 searches taken from {file}, 1 made" in capsys.readouterr().out
    assert sorted(os.listdir(small)) == ["kept", "verdicts.json"]


def test_what_had_no_room_is_not_accepted(
    small: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    no_room = replace(FOUND, stopped="more than 8 GiB of memory")
    monkeypatch.setattr(judge, "run_jobs", lambda jobs, **bounds: [(job, no_room) for job in jobs])
    assert nbcc("--accept") == 3
    reason = "in 2 writers × 1 write, 1 compactor × 1 compaction, 1 group, and 1 more: more than 8 GiB of memory\n"
    assert f"not judged: default {reason}" in capsys.readouterr().err
    assert os.listdir(small) == []


INTERRUPTED = """
import signal
import sys
from dataclasses import replace
from nbcc.model import World
from nbcc.simulator import specs
from nbcc.simulator.cli.start import main
from nbcc.simulator.search.verdicts import judge
if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored, if tests were started in the background
    large = World(actors={"writer": 3, "compactor": 2}, buckets=2, compactions=2, crashes=2)
    small = {specs.world("demo"): False}
    judge.worlds_of = lambda name, depth: {**small, large: False}
    main(["verdicts", "--workers", "2", "--checkpoint", sys.argv[1]])
"""


def test_ctrl_c_ends_every_process_and_says_how_to_go_on(tmp_path: Path) -> None:
    script, file = tmp_path / "script.py", tmp_path / "kept"
    script.write_text(INTERRUPTED, encoding="utf-8")
    line, here = [sys.executable, str(script), str(file)], {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        line, env=here, start_new_session=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as started:
        try:
            while started.poll() is None and (not file.exists() or file.read_bytes().count(b"\n") < 2):
                time.sleep(0.05)
            os.killpg(started.pid, signal.SIGINT)  # as a terminal does: to all of them
            out, err = started.communicate()  # which waits for every process that can write there: none is left
        finally:
            with suppress(ProcessLookupError):
                os.killpg(started.pid, signal.SIGKILL)
    assert (started.returncode, out) == (130, "")
    assert "Traceback" not in err
    # Between a line in the file and its count the signal may come, too.
    kept_there = re.escape(f"searches: they are saved in {file}; the same command continues from there")
    assert re.fullmatch(rf"interrupted after [01] of \d+ {kept_there}", err.strip())
    assert search(file, SearchJob(world=DEMO, records=True))[1] == []
