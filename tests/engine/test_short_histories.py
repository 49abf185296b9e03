"""Short random histories of one table: a new process reads what was written, through state checkpoints and archives."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbcc.simulator import mutants

from .short_histories import play

SEEN = (*range(6), 13, 36, 59)
"""By day: the first histories, and those that show the mutants whose files name them."""
KILLED_BY = "tests/engine/test_short_histories.py::"
MUTANTS = tuple(name for name in mutants.names() if mutants.load(name).test.startswith(KILLED_BY))
MOST = 200
"""Histories until a mutant must be seen, whatever the first seed."""


@pytest.mark.parametrize("seed", SEEN)
def test_a_new_process_reads_what_was_written(seed: int, tmp_path: Path) -> None:
    play(tmp_path, seed)


@pytest.mark.nightly
def test_many_more_histories_are_right(tmp_path: Path) -> None:
    for seed in range(1000, 2000):
        play(tmp_path, seed)


@pytest.mark.nightly
@pytest.mark.parametrize("first", [200, 400, 600])
@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_is_seen_in_every_sequence_of_histories(name: str, first: int, tmp_path: Path) -> None:
    def is_right(seed: int) -> bool:
        try:
            play(tmp_path, seed)
        except Exception:  # rows that differ, a file that is missing, an error of the engine
            return False
        return True

    with mutants.applied(mutants.load(name)):
        assert not all(is_right(seed) for seed in range(first, first + MOST)), name
