"""Tables with log compactions and replaces are played: a good one is fine, what no order of events explains is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbcc.engine import Table
from nbcc.engine.storage import Storage
from nbcc.simulator.audit import Report, validate
from nbcc.simulator.audit.text import render

from .rewritten import IMPOSSIBLE, rewritten_table


@pytest.fixture
def good(tmp_path: Path) -> Storage:
    return rewritten_table(tmp_path / "t")


def quiet_and_part(found: Report) -> set[str]:
    return {found.promises[name].verdict for name in ("QUIET", "PART")}


def test_a_good_table_is_fine_and_all_of_it_is_played(good: Storage) -> None:
    found = validate(good, opened=True)
    assert found.fine, render(found)
    assert {line.verdict for line in found.promises.values()} == {"OK"}
    assert found.history is not None
    assert not found.history.left_out
    assert found.history.verdict == "OK"
    assert "requested-merge-order" in found.history.legal, "all was requested in the order in which it completed"
    assert "replaced-file-ids" in found.history.excluded, "its replace is a plan"
    assert "completion-outside-lock" in found.history.legal, "nothing was taken too late"


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_what_no_order_of_events_explains_is_broken(name: str, good: Storage) -> None:
    case = IMPOSSIBLE[name]
    case.do(good)
    found = validate(good)
    assert found.history is not None
    assert found.history.refusal is not None, render(found)
    assert found.history.refusal.event == case.event
    assert case.because in "; ".join(found.history.refusal.reasons)
    assert quiet_and_part(found) == {"BROKEN"}
    assert not found.history.left_out


def test_services_that_go_on_keep_it_fine(good: Storage, tmp_path: Path) -> None:
    """The pending ones are carried out, and all is archived that can be."""
    table = Table.open(None, tmp_path / "t")
    table.run_compaction()
    table.run_log_compaction()
    while table.compact():
        pass
    assert table.archive(retained=1)
    found = validate(good, opened=True)
    assert found.fine, render(found)
    assert found.history is not None
    assert found.history.verdict == "OK"
