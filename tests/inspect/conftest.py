"""What tests of the audit share: a good table, which each test damages."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbcc.engine.storage import Storage

from .golden import good_table


@pytest.fixture
def good(tmp_path: Path) -> Storage:
    return good_table(tmp_path / "t")
