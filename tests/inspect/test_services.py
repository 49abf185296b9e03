"""`nbcc table TABLE compact|clean|rollback`: what they say, what they do, and that a dry run does nothing."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from nbcc.engine import Table
from nbcc.engine.actions import operations
from nbcc.engine.config.maintenance import PolicyName
from nbcc.engine.data.jobs import Jobs
from nbcc.engine.errors import Cleaned
from nbcc.engine.file_names import marker
from nbcc.engine.storage import NotFound, Storage, open_storage
from nbcc.engine.storage.recording import Recording
from nbcc.engine.timeline.heartbeats import FOLDER
from nbcc.engine.writes.commit_protocol import request
from nbcc.simulator.cli import table as on_table
from nbcc.simulator.cli.main import run
from nbcc.simulator.cli.outcome import Exit
from nbcc.simulator.cli.table.services import POLICIES
from tests.builders.commands import answer_of, nbcc_of
from tests.builders.commands import objects_of as objects
from tests.builders.files import hudi_table
from tests.builders.tables import batch, make_table, state, tick

from .golden import good_table


@pytest.fixture
def folder(tmp_path: Path) -> str:
    good_table(tmp_path / "t")
    return str(tmp_path / "t")


def says(*arguments: str) -> str:
    """What a command prints, with the digits of times of now and of names taken out."""
    result = nbcc_of("table", *arguments)
    assert result.exception is None, result.exception
    text = re.sub(r"_0-\d+-\d+", "_TOKEN", result.stdout)
    return re.sub(r"\b(?!20260101)20\d{15}\b", "NOW", text)


PRINTED = {
    ("compact", "--dry-run"): (
        "compaction 20260101000000009: would merge 1 log and 1 base file of 1 file group, 743 B\n"
        "dry run: nothing was changed\n"
    ),
    ("compact",): (
        "compaction 20260101000000009: merged 1 log and 1 base file of 1 file group, 743 B\n"
        "compaction NOW: merged 2 logs and 1 base file of 1 file group, 2.7 kB\n"
    ),
    ("compact", "--plan-only"): "compaction 20260101000000009: planned 1 log and 1 base file of 1 file group, 743 B\n",
    ("clean",): "nothing to clean: retaining 10 commits, every file is needed\n",
    ("clean", "--retain", "1", "--dry-run"): (
        "would delete part=p/.00000000-0000-0000-0000-000000000000-0_20260101000000001.log.1_TOKEN\n"
        "would delete part=p/.00000000-0000-0000-0000-000000000000-0_20260101000000003.log.1_TOKEN\n"
        "clean NOW: 2 files, 4.0 kB; reads as of a time before 20260101000000011 are refused from then on\n"
        "dry run: nothing was changed\n"
    ),
    ("rollback",): "nothing to roll back: no write has failed\n",
}


@pytest.mark.parametrize("command", PRINTED, ids=" ".join)
def test_what_a_service_says(command: tuple[str, ...], folder: str) -> None:
    before = objects(open_storage(folder))
    printed = re.sub(r"\d+(\.\d)? k?B\b", "SIZE", says(folder, *command))
    assert printed == re.sub(r"\d+(\.\d)? k?B\b", "SIZE", PRINTED[command])
    if "--dry-run" in command:
        assert objects(open_storage(folder)) == before, "a dry run changed something"


def test_a_compaction_that_ran_leaves_nothing_to_compact(folder: str) -> None:
    rows = state(Table.open(None, folder).snapshot())
    first = answer_of(nbcc_of("table", folder, "compact", "--json"))
    assert [i["action"] for i in first["instants"]] == ["commit", "commit"]
    assert [len(group["log_files"]) for plan in first["plans"] for group in plan["file_groups"]] == [1, 2]
    assert says(folder, "compact") == "nothing to compact: no file group has logs since its newest plan\n"
    assert state(Table.open(None, folder).snapshot()) == rows


def test_a_clean_deletes_what_its_dry_run_listed_and_moves_the_horizon(folder: str) -> None:
    would = answer_of(nbcc_of("table", folder, "clean", "--retain", "1", "--dry-run", "--json"))
    did = answer_of(nbcc_of("table", folder, "clean", "--retain", "1", "--json"))
    assert (would["dry_run"], did["dry_run"]) == (True, False)
    assert would["deleted"] == did["deleted"] != []
    assert not {*did["deleted"]} & {*objects(open_storage(folder))}
    with pytest.raises(Cleaned):
        Table.open(None, folder).as_of(tick(4))


def test_a_clean_that_was_left_is_finished_first(folder: str) -> None:
    table = Table.open(None, folder)
    planned = table.run("schedule_clean", policy="KEEP_LATEST_COMMITS", retained=1)
    assert f"clean {planned.requested}: 2 files" in nbcc_of("table", folder, "clean").stdout
    assert not [i for i in table.timeline() if i.action == "clean" and not i.completed]


def _half_written(folder: Path, beating: bool) -> str:
    """A pending write of this table with one marked file; its writer alive or not."""
    table = make_table(folder)
    table.upsert(batch(("k", 1, "a")))
    requested, _ = request(table.context, "deltacommit")
    table.context.heartbeats.stop_renewing(requested)
    if not beating:
        table.context.storage.delete(f"{FOLDER}/{requested}")
    name = f".{table.file_slices()[0].file_id}_{requested}.log.1_0-0-0"
    table.context.storage.put(f"part=p/{name}", b"")
    table.context.storage.put(marker(requested, "part=p", name), b"")
    return requested


def test_a_failed_write_is_undone(tmp_path: Path) -> None:
    dead = _half_written(tmp_path / "t", beating=False)
    folder = str(tmp_path / "t")
    before = objects(open_storage(folder))
    path = f"part=p/.00000000-0000-0000-0000-000000000000-0_{dead}.log.1_TOKEN"
    assert says(folder, "rollback", "--dry-run") == (
        f"would quarantine {path}\nrollback NOW: would undo the deltacommit {dead}\ndry run: nothing was changed\n"
    )
    assert objects(open_storage(folder)) == before
    assert says(folder, "rollback") == f"quarantined {path}\nrollback NOW: undid the deltacommit {dead}\n"
    assert dead not in {i.requested for i in Table.open(None, folder).timeline()}


def test_a_living_write_is_left_alone_and_reported(tmp_path: Path) -> None:
    alive = _half_written(tmp_path / "t", beating=True)
    folder = str(tmp_path / "t")
    assert says(folder, "rollback") == (
        f"nothing to roll back: no write has failed\nleft alone: the deltacommit {alive}, whose writer is alive\n"
    )
    assert run(["table", folder, "rollback", "--instant", alive]) == Exit.BAD_INPUT


@pytest.mark.parametrize("command", ["compact", "clean", "rollback"])
def test_a_table_of_hudi_is_not_served(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hudi_table("hudi120_04_mor_event_b1_avro", tmp_path)
    assert run(["table", str(tmp_path / "hudi120_04_mor_event_b1_avro"), command]) == Exit.BAD_INPUT
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("Error: Asked to ")
    assert run(["table", str(tmp_path), command]) == Exit.BAD_INPUT


def test_the_policies_are_those_of_the_engine() -> None:
    assert {*POLICIES.values()} == {*get_args(PolicyName)}


def test_any_operation_can_be_tried_on_a_storage_that_only_pretends(tmp_path: Path) -> None:
    """A whole history runs dry: what it would put can be read again, what it would delete is gone; for it alone."""
    good_table(tmp_path / "t")
    under = open_storage(tmp_path / "t")
    before = objects(under)
    dry = Recording(under, dry_run=True)
    table = Table.open(None, tmp_path / "t")
    context = type(table.context)(dry, table.context.lock, table.context.clock, table.context.names, _jobs(dry))
    pretended = Table(context, table.config)
    pretended.upsert(batch(("k9", 1, "z")))
    while pretended.compact():
        pass
    pretended.clean(retained=1)
    assert ("k9", 1, "z") in state(pretended.snapshot())
    gone = next(path for path in dry.deleted if path.startswith("part=p"))
    with pytest.raises(NotFound):
        dry.get(gone)
    assert gone not in {entry.path for entry in dry.list("part=p")}
    assert objects(under) == before
    assert not dry.put_if_absent("hoodie", b"") or dry.get("hoodie") == b""
    assert not dry.put_if_absent(next(path for path in before if path not in dry.deleted), b"other")


def _jobs(storage: Storage) -> Jobs:
    from nbcc.engine.data.jobs import InProcessJobs
    from nbcc.engine.names import RandomNames

    return InProcessJobs(storage, RandomNames())


SERVICES = sorted(
    {path.stem for path in Path(str(on_table.__file__)).parent.glob("*.py")} & {*operations()} - {"timeline"}
)


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_teaches_and_can_be_tried(name: str) -> None:
    """A command that is an operation of the engine and no read says by an example how to try it."""
    word = name.replace("_", "-")
    printed = nbcc_of("table", "t", word, "--help").stdout
    assert f"{word} --dry-run" in printed
    assert "--json" in printed


def test_archiving_does_what_its_dry_run_listed_and_no_read_notices(folder: str) -> None:
    nbcc_of("table", folder, "compact")
    rows = state(Table.open(None, folder).snapshot())
    before = len(Table.open(None, folder).timeline())
    would = answer_of(nbcc_of("table", folder, "archive", "--retain", "1", "--dry-run", "--json"))
    assert len(Table.open(None, folder).timeline()) == before
    did = answer_of(nbcc_of("table", folder, "archive", "--retain", "1", "--json"))
    assert did["instants"] == would["instants"] != []
    assert len(Table.open(None, folder).timeline()) == before - len(did["instants"])
    assert state(Table.open(None, folder).snapshot()) == rows
    stays = before - len(did["instants"])
    assert says(folder, "archive", "--retain", "1") == (
        f"nothing to archive: all {stays} instant{'s' if stays > 1 else ''} of the active timeline stay\n"
    )
