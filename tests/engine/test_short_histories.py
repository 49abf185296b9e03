"""Short random histories of one table: a new process reads what was written, through state checkpoints and archives."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbcc.simulator.search import mutants

from .short_histories import MIXES, play

KILLED_BY = "tests/engine/test_short_histories.py::test_a_new_process_reads_what_was_written"
KILLERS = {
    name: mutants.load(name).test.removeprefix(KILLED_BY).strip("[]").rpartition("-")
    for name in mutants.names()
    if mutants.load(name).test.startswith(KILLED_BY)
}
"""Mutant -> the mix and the number of the history that its file names."""
BY_DAY = sorted({*((mix, 0) for mix in MIXES), *((mix, int(seed)) for mix, _, seed in KILLERS.values())})
MOST = 200
"""Histories until a mutant must be seen, with any first seed."""


@pytest.mark.parametrize(("mix", "seed"), BY_DAY)
def test_a_new_process_reads_what_was_written(mix: str, seed: int, tmp_path: Path) -> None:
    play(tmp_path, mix, seed)


@pytest.mark.nightly
@pytest.mark.parametrize("mix", MIXES)
def test_many_more_histories_are_right(mix: str, tmp_path: Path) -> None:
    for seed in range(1000, 1150):
        play(tmp_path, mix, seed)


@pytest.mark.nightly
@pytest.mark.parametrize("first", [200, 400, 600])
@pytest.mark.parametrize("name", KILLERS)
def test_a_mutant_is_seen_in_every_sequence_of_histories(name: str, first: int, tmp_path: Path) -> None:
    mix = KILLERS[name][0]

    def is_right(seed: int) -> bool:
        try:
            play(tmp_path, mix, seed)
        except Exception:  # rows that differ, a file that is missing, an error of the engine
            return False
        return True

    with mutants.applied(mutants.load(name)):
        assert not all(is_right(seed) for seed in range(first, first + MOST)), name
