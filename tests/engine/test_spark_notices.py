"""A line for the user that a process of Spark writes reaches the driver's standard error."""

from __future__ import annotations

import io
import threading

import pytest

from nbcc.engine.spark.console import _follow


def test_lines_for_the_user_are_shown_and_no_others(capsys: pytest.CaptureFixture[str]) -> None:
    ended = threading.Event()
    ended.set()
    lines = "INFO a\nnbcc ignores x\noptions.py:1: UserWarning: nbcc ignores y\nWARN nbcc ignores b\nnbcc ignores half"
    _follow(io.StringIO(lines), ended)
    assert capsys.readouterr().err == "nbcc ignores x\nnbcc ignores y\n"
