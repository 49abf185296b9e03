"""Tables for repairs."""

from __future__ import annotations

from pathlib import Path

from nbcc.engine import Table
from nbcc.engine.storage import Storage
from nbcc.engine.timeline import Instant
from tests.builders.tables import batch, tick
from tests.inspect.corpus.kind import TIMELINE
from tests.inspect.golden import instant, rename


def equal_completions(storage: Storage, folder: Path) -> None:
    done = Table.open(None, folder).upsert(batch(("k4", 1, "d")))
    name = Instant(tick(10), "deltacommit", "completed", done.completed).file_name
    rename(storage, instant(10, 11), f"{TIMELINE}/{name}")
