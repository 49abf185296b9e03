"""`nbcc validate` and `nbcc table`: exit codes, answers on standard output, and repairs that do what they print."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from nbcc.engine.storage import Entry, Storage
from nbcc.simulator import trace as traces
from nbcc.simulator.audit import validate
from nbcc.simulator.audit.trace import judge_trace
from nbcc.simulator.cli.main import nbcc, run
from nbcc.simulator.cli.outcome import Exit
from tests.builders.commands import answer_of, nbcc_of, objects_of
from tests.builders.tables import batch, make_table
from tools.detection.tables import engine_table

from .corpus.kind import TIMELINE
from .golden import BAD, log, set_properties

GALLERY = Path(__file__).parents[2] / "specs" / "traces"


@pytest.mark.parametrize(
    ("name", "code"),
    [(None, Exit.AGREES), ("log-gone", Exit.VIOLATED), ("forgotten-write", Exit.AGREES)],
)
def test_exit_codes(name: str | None, code: Exit, good: Storage, tmp_path: Path) -> None:
    if name:
        BAD[name].do(good)
    result = nbcc_of("validate", str(tmp_path / "t"))
    assert result.return_value == code
    assert ("OK" if code == Exit.AGREES else "BROKEN") in result.stdout
    answer = answer_of(nbcc_of("validate", str(tmp_path / "t"), "--json"))
    assert answer["format"] == 1
    assert answer["verdict"] == ("OK" if code == Exit.AGREES else "BROKEN")
    assert set(answer["promises"]["SNAP"]) == {"verdict", "because"}


def test_a_newer_table_is_undetermined_and_no_table_is_bad_input(good: Storage, tmp_path: Path) -> None:
    set_properties(good, hoodie__table__version="12")
    assert nbcc_of("validate", str(tmp_path / "t")).return_value == Exit.UNDETERMINED
    assert run(["validate", str(tmp_path / "nothing")]) == Exit.BAD_INPUT


def test_a_refused_history_names_the_moment_and_what_was_false(good: Storage, tmp_path: Path) -> None:
    BAD["plan-takes-a-later-log"].do(good)
    text = nbcc_of("validate", str(tmp_path / "t")).stdout
    assert "not possible under default: at 20260101000000009" in text
    assert "the log 1 of the write 20260101000000010 must not be taken" in text
    assert "possible until then: the first 4 instants" in text


def test_remedies_are_commands_that_can_be_typed(good: Storage, tmp_path: Path) -> None:
    """Each remedy that is a command repairs: the diagnostic is gone afterwards."""
    table = str(tmp_path / "t")
    for name in ("forgotten-write", "partition-not-marked", "input-of-a-plan-gone"):
        BAD[name].do(good)
    rules = {"orphan-file", "partition-metadata-missing", "plan-cannot-run"}
    before = [c for c in validate(good).diagnostics if c.rule in rules]
    assert {c.rule for c in before} == rules
    for diagnostic in before:
        words = diagnostic.remedy.partition("nbcc ")[2].format(table=table).split()
        objects = objects_of(good)
        dry = nbcc_of(*words, "--dry-run")
        assert dry.exception is None
        assert "would " in dry.stdout
        assert objects_of(good) == objects, "a dry run changed something"
        assert nbcc_of(*words).exception is None
        assert objects_of(good) != objects
    assert not {c.rule for c in validate(good).diagnostics} & rules


def test_an_orphan_that_a_lost_archive_may_know_is_kept(good: Storage, tmp_path: Path) -> None:
    path = log(10)(good).replace("20260101000000010", "20250101000000000")
    good.put(path, b"#HUDI#")
    found = answer_of(nbcc_of("table", str(tmp_path / "t"), "orphans", "--quarantine", "--json"))
    assert found["quarantined"] == []
    assert "does not reach back" in found["orphans"][0]["kept"]
    assert good.get(path)


def test_a_plan_that_completed_is_not_given_up(good: Storage, tmp_path: Path) -> None:
    table = str(tmp_path / "t")
    assert answer_of(nbcc_of("table", table, "plans", "--json"))["plans"][0]["barrier"] == "20260101000000009"
    assert run(["table", table, "plans", "--drop", "20260101000000005"]) == Exit.BAD_INPUT


def test_timeline_and_stats(good: Storage, tmp_path: Path) -> None:
    table = str(tmp_path / "t")
    assert len(answer_of(nbcc_of("table", table, "timeline", "--json"))["instants"]) == 6
    assert [i["action"] for i in answer_of(nbcc_of("table", table, "timeline", "--json", "--pending"))["instants"]] == [
        "compaction"
    ]
    (newest,) = answer_of(nbcc_of("table", table, "timeline", "--json", "--last", "1"))["instants"]
    assert newest["requested"][-2:] == "10"
    stats = answer_of(nbcc_of("table", table, "stats", "--json"))
    assert (stats["groups"], stats["base_files"], stats["log_files"], stats["orphans"]) == (1, 1, 4, 0)
    assert stats["write_amplification"] > 1


def test_every_sub_command_is_found() -> None:
    listed = CliRunner().invoke(nbcc, ["table", "--help"]).output
    for name in ("orphans", "partitions", "plans", "stats", "timeline"):
        assert f"\n  {name} " in listed
    assert "given" not in listed.partition("Commands:")[2]


@pytest.mark.parametrize("path", sorted(GALLERY.glob("0*.json")), ids=lambda path: path.stem)
def test_every_trace_of_the_gallery_is_possible(path: Path) -> None:
    assert judge_trace(traces.load(path)).possible


def test_a_trace_that_is_not_possible_says_where_and_why(tmp_path: Path) -> None:
    trace = json.loads((GALLERY / "02-two-writers.json").read_text())
    trace["steps"] = [step for step in trace["steps"] if not step["action"].endswith("takes_lock")]
    path = tmp_path / "odd.json"
    path.write_text(json.dumps(trace))
    result = nbcc_of("validate", str(path))
    assert result.return_value == Exit.VIOLATED
    assert "is not possible: " in result.stdout
    assert "must be" in result.stdout
    assert "possible instead:" in result.stdout
    answer = answer_of(nbcc_of("validate", str(path), "--json"))
    assert 0 < answer["legal_prefix"] < answer["steps"]


def test_a_commit_that_comes_between_the_listings_is_seen_whole() -> None:
    """The first listing is of before the last write; everything after sees the table as it is."""
    whole = engine_table(5)
    last = max(p for p in whole.objects if p.startswith(f"{TIMELINE}/") and "_" in p.rpartition("/")[2])
    requested = last.rpartition("/")[2].partition("_")[0]

    class Growing(type(whole)):  # type: ignore[misc]
        first = True

        def list(self, prefix: str) -> list[Entry]:
            found: list[Entry] = super().list(prefix)
            late, self.first = self.first, False
            return [entry for entry in found if not (late and requested in entry.path)]

    growing = Growing()
    growing.objects = whole.objects
    assert not [c for c in validate(growing).diagnostics if c.gravity == "BROKEN"]


def test_write_amplification_counts_what_was_archived_and_cleaned(tmp_path: Path) -> None:
    table = make_table(tmp_path / "t")
    for number in range(4):
        table.upsert(batch((f"k{number}", number, "a")))
        table.compact()
    before = answer_of(nbcc_of("table", str(tmp_path / "t"), "stats", "--json"))
    assert before["write_amplification"] > 1.5
    assert table.clean(retained=1)
    assert table.archive(1)
    after = answer_of(nbcc_of("table", str(tmp_path / "t"), "stats", "--json"))
    assert after["bytes"] < before["bytes"]
    for name in ("write_amplification", "written_bytes"):
        assert after[name] == before[name]
    text = nbcc_of("table", str(tmp_path / "t"), "stats").stdout
    assert f"write amplification: {before['write_amplification']} (all commits wrote " in text
    assert "\n1 partition, 1 file group\n" in text


def test_one_diagnostic_is_singular(good: Storage, tmp_path: Path) -> None:
    BAD["log-gone"].do(good)
    count = [d.gravity for d in validate(good).diagnostics].count("BROKEN")
    text = nbcc_of("validate", str(tmp_path / "t")).stdout
    assert f"BROKEN: {count} diagnostic{'s' if count > 1 else ''}" in text
