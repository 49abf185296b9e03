"""What a user gives that is of another type: a sentence, and nothing is changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nbcc.engine import Table
from nbcc.engine.errors import BadInput
from tests.builders.tables import SCHEMA, batch, make_table

CALLS: dict[str, tuple[Callable[[Table], Any], str]] = {
    "columns": (lambda table: table.snapshot(columns=[5]), r"take the columns \[5\], but 5 is of type int: give a"),
    "no columns": (lambda table: table.snapshot(columns=5), "but 5 is of type int: give a list of names"),
    "sort_by": (lambda table: table.cluster(5), "but 5 is of type int"),
    "partitions": (lambda table: table.delete_partition(None), "delete the partitions None, but None is of type None"),
    "reads": (lambda table: table.upsert(batch(("k", 2, "x")), reads="part=p"), r"give a list of names: \['part=p'\]"),
    "comment": (lambda table: table.savepoint(comment=5), "comment=5, user='', but these are texts"),
}


@pytest.mark.parametrize("argument", CALLS)
def test_an_argument_of_another_type_is_refused(argument: str, tmp_path: Path) -> None:
    call, message = CALLS[argument]
    table = make_table(tmp_path / "t")
    table.upsert(batch(("k", 1, "x")))
    before = table.context.storage.list("")
    with pytest.raises(BadInput, match=message):
        call(table)
    assert table.context.storage.list("") == before


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"record_key": 5}, "record_key=5, but 5 is of type int"),
        ({"partition_by": ["part", 5]}, r"partition_by=\['part', 5\], but 5 is of type int"),
        ({"concurrency_mode": 5}, "concurrency_mode=5, but there is no such mode"),
    ],
)
def test_a_table_of_other_types_is_refused(given: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=message):
        Table.create(None, tmp_path / "t", SCHEMA, **{"record_key": "id", "ordering_fields": "ts", **given})


def test_a_place_that_cannot_be_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("x")
    for place in (tmp_path / "plain", tmp_path / "plain" / "t"):
        with pytest.raises(BadInput, match=r"write below .*plain.*: name a folder that can be made"):
            Table.create(None, place, SCHEMA, record_key="id", ordering_fields="ts")
    with pytest.raises(BadInput, match=r"open zzz://x/y, but the store answered: .*give a path, or a URL"):
        Table.open(None, "zzz://x/y")
