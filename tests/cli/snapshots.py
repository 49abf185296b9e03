"""What a user reads, kept as text files here; NBCC_SNAPSHOTS=write writes them anew, and git shows the change."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent


def matches(name: str, text: str) -> None:
    """Fail if the text is not what the file of this name holds."""
    path = FOLDER / name
    if os.environ.get("NBCC_SNAPSHOTS") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    if not path.is_file():
        pytest.fail(f"no snapshot {name}; NBCC_SNAPSHOTS=write makes it")
    assert text == path.read_text("utf-8")
