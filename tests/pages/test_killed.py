"""What docs/locks.md and docs/streams.md say about kills is what recorded runs have shown."""

from __future__ import annotations

from tools.killed import recorded
from tools.processes import MODES
from tools.regenerate import killed, stale


def test_the_recorded_kills_are_of_every_mode() -> None:
    runs = [run for run in recorded("processes") if run["store"] and run["apart_ms"] == 150]
    assert sorted(map(str, MODES)) == sorted({str(run["options"]) for run in runs})
    assert sum(sum(run["kills"].values()) for run in runs) >= 420
    assert not any(run["failures"] or any(run["breaches"].values()) for run in recorded("processes"))
    assert not any(run["broken"] for run in recorded("streams"))
    assert stale(killed()) == [], "python -m tools.regenerate killed"
