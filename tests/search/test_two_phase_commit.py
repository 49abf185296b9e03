"""The search is calibrated: two-phase commit has the sizes that TLC and other checkers publish."""

from __future__ import annotations

import pytest

from examples.two_phase_commit import TwoPhaseCommit
from nbcc.simulator.search.explore import Verdict, explore

SIZES = {3: (288, 1_146, 11), 5: (8_832, 58_146, 17), 7: (296_448, 2_744_706, 23)}


@pytest.mark.parametrize("managers", SIZES)
def test_two_phase_commit_has_its_published_size(managers: int) -> None:
    result = explore(TwoPhaseCommit(managers), TwoPhaseCommit.promises)

    assert (result.distinct, result.generated, result.depth) == SIZES[managers]
    assert result.verdict is Verdict.HOLDS
    assert result.deadlock is None
