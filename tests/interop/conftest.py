"""Tests of a peer in its own environment. Only `make interop` builds it and runs them."""

from __future__ import annotations

from pathlib import Path

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the table of a streak of histories, from whichever process played it."""
    for outcome in ("passed", "failed"):
        for report in terminalreporter.getreports(outcome):
            for name, text in report.user_properties:
                if name == "row":
                    terminalreporter.write_line(f"\n{text}")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark every test of this folder, and deselect them without ``-m interop``."""
    here = Path(__file__).parent
    ours = [item for item in items if item.path.is_relative_to(here)]
    for item in ours:
        item.add_marker(pytest.mark.interop)
    if ours and "interop" not in config.getoption("markexpr"):
        config.hook.pytest_deselected(items=ours)
        items[:] = [item for item in items if item not in ours]
