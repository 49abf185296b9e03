"""Shows a failure of `nbcc.testing.machine` as its interleaving, in place of nbcc's and Hypothesis's internals.

pytest loads this module through an entry point of nbcc. It imports nothing of nbcc, so that other tests do not wait.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Replace the traceback of a failed history by its interleaving; `--tb=native` and `--tb=long` leave it."""
    report = yield
    error: Any = None if call.excinfo is None else call.excinfo.value
    style = item.config.getoption("tbstyle", "auto")
    if hasattr(error, "nbcc_interleaving") and style not in ("native", "long"):
        report.longrepr = error.nbcc_interleaving()
    return report
