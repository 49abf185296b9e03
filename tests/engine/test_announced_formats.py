"""What announcements and entries with several items are on storage, and damaged ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbcc.engine.errors import Damaged, Unsupported
from nbcc.engine.storage import open_storage
from nbcc.engine.timeline.announcements import (
    FOLDER,
    Announced,
    Announcement,
    Footprint,
    announced_instants,
    load_announcement,
    put_announcement,
)
from nbcc.engine.timeline.decisions import FOLDER as DECISIONS
from nbcc.engine.timeline.decisions import PLANNED, Decision, LogEntry, last_entry, put_entry

NOW = "20260101000000001"


@pytest.mark.parametrize(
    "announcement",
    [
        Announcement(Announced(NOW, "deltacommit"), b"{}"),
        Announcement(Announced(NOW, "compaction", is_plan=True), b"\0\n", "0-1-2", planned_from=7),
        Announcement(
            Announced(NOW, "deltacommit", is_checked=True), b"{}", "t", "batch",
            Footprint((("a=1/b", 3), ("", None)), None, (NOW,), NOW), undoes=NOW,
        ),
    ],
)  # fmt: skip
def test_an_announcement_is_read_as_it_was_put(announcement: Announcement, tmp_path: Path) -> None:
    storage = open_storage(tmp_path)
    assert put_announcement(storage, announcement)
    assert announced_instants(storage) == [announcement.name]
    assert load_announcement(storage, announcement.name) == announcement
    assert put_announcement(storage, announcement), "the same attempt: its answer was lost"
    assert not put_announcement(storage, announcement._replace(token="another")), "another attempt"


def test_an_entry_is_read_as_it_was_put(tmp_path: Path) -> None:
    storage, later = open_storage(tmp_path), "20260101000000003"
    items = (
        Decision(4, "commit", NOW, "deltacommit", NOW, announced=Announced(NOW, "deltacommit")),
        Decision(4, "plan", later, "compaction", later, b"a\nplan"),
    )
    entry = LogEntry(4, items, "20260101000000005", planned=4)
    assert put_entry(storage, entry)
    assert last_entry(storage) == entry
    times = [entry.plan_time(action) for action in PLANNED]
    assert times == sorted({entry.reserved, *times}), "no two plans have the same time"
    assert entry.time == max(times)


@pytest.mark.parametrize(
    "head",
    [
        b"", b"{}", b"[]", b"nothing", b'{"format": 1}',
        b'{"format": 1, "token": 5, "batch_id": null, "planned_from": 0, "undoes": "", "footprint": null}',
        b'{"format": 1, "token": "", "batch_id": null, "planned_from": -1, "undoes": "", "footprint": null}',
        b'{"format": 1, "token": "", "batch_id": null, "planned_from": 0, "undoes": "1", "footprint": null}',
        b'{"format": 1, "token": "", "batch_id": null, "planned_from": 0, "undoes": "", "footprint": '
        b'{"buckets": [["../x", 1]], "partitions": [], "known": [], "as_of": ""}}',
    ],
)  # fmt: skip
def test_a_damaged_announcement_is_a_typed_error(head: bytes, tmp_path: Path) -> None:
    storage, name = open_storage(tmp_path), Announced(NOW, "deltacommit")
    storage.put(name.path, head + b"\n")
    with pytest.raises(Damaged, match=r"read .*announced"):
        load_announcement(storage, name)


@pytest.mark.parametrize(
    "items",
    [
        b'[{"kind": "commit", "requested": "%s", "action": "commit", "time": "%s", "bytes": 9}]',
        b'[{"kind": "commit", "requested": "%s", "action": "commit", "time": "%s", "announced": "../x"}]',
        b'[{"kind": "commit", "requested": "%s", "action": "commit", "time": "%s", "bytes": 0}]',
        b'[{"kind": "commit", "requested": "%s", "action": "commit", "time": "%s", "bytes": 1},'
        b' {"kind": "time", "requested": "20250101000000001", "action": "", "time": "20250101000000001", "bytes": 0}]',
        b"{}", b"7",
    ],
)  # fmt: skip
def test_a_damaged_entry_is_a_typed_error(items: bytes, tmp_path: Path) -> None:
    storage, shown = open_storage(tmp_path), items.replace(b"%s", NOW.encode())
    head = b'{"format": 2, "reserved": "", "planned": 0, "items": ' + shown + b"}\n"
    storage.put(f"{DECISIONS}/{1:020d}", head + b"x")
    with pytest.raises(Damaged, match="read the decision 1"):
        last_entry(storage)


def test_what_a_later_release_announced_is_refused_and_other_objects_are_ignored(tmp_path: Path) -> None:
    storage, name = open_storage(tmp_path), Announced(NOW, "deltacommit")
    storage.put(f"{FOLDER}/notes.txt", b"")
    assert announced_instants(storage) == []
    storage.put(name.path, b'{"format": 2}\n')
    with pytest.raises(Unsupported, match="it has format 2"):
        load_announcement(storage, name)
