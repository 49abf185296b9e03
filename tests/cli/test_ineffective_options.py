"""Options that would have no effect are refused."""

from __future__ import annotations

import pytest

from nbcc.simulator.cli.main import run
from nbcc.simulator.cli.outcome import Exit


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("check demo --on model --examples 1 --workers 2", "need --seeds K"),
        ("check demo --on model --examples 1 --across spark", "need --seeds K"),
        ("check demo --on model --examples 1 --share 0.5", "needs --tour"),
        ("check demo --on model --examples 1 --seeds 1 --summary s.txt", "leave out --seeds"),
    ],
)
def test_an_option_without_the_one_it_belongs_to(asked: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(asked.split()) is Exit.BAD_INPUT
    out, err = capsys.readouterr()
    assert (out, message in err) == ("", True), err


@pytest.mark.parametrize("asked", ["verdicts --on nonsense", "check demo --on model --seeds 1 --across nonsense"])
def test_a_master_that_is_none_is_refused_before_a_jvm_starts(asked: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(asked.split()) is Exit.BAD_INPUT
    assert "'nonsense' is not a Spark master" in capsys.readouterr().err
