"""Which blocks of a log that many append to its rollback blocks undo."""

from __future__ import annotations

import pytest

from nbcc.model.mechanisms.shared_logs import LogBlock, undone

OWN, ITS_SECOND, OTHERS, ROLLBACK = LogBlock(1, 1), LogBlock(1, 2), LogBlock(2, 1), LogBlock(9, 0, target=1)


@pytest.mark.parametrize(
    ("blocks", "anywhere", "earlier", "in_front"),
    [
        ((OWN,), set(), set(), set()),
        ((OWN, ROLLBACK), {1}, {1}, {1}),
        ((OWN, ITS_SECOND, ROLLBACK), {1, 2}, {1, 2}, {1, 2}),  # a task was tried again
        ((OWN, ROLLBACK, ROLLBACK), {1}, {1}, {1}),  # by two who did not know of each other
        ((OWN, OTHERS, ROLLBACK), {1}, {1}, set()),
        ((OWN, ROLLBACK, ITS_SECOND), {1, 2}, {1}, {1}),  # a task of a dead writer goes on
        ((OTHERS, ROLLBACK, OWN), {1}, set(), set()),
    ],
)
def test_a_rollback_block_undoes(
    blocks: tuple[LogBlock, ...], anywhere: set[int], earlier: set[int], in_front: set[int]
) -> None:
    for rule, versions in (("anywhere", anywhere), ("earlier", earlier), ("in_front", in_front)):
        assert undone(blocks, rule) == {(1, version) for version in versions}, rule
