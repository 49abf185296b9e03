"""Refusals of reads: each class, with the bound in the message; the model and a read of rows agree."""

from __future__ import annotations

from typing import Any

import pytest

from nbcc.model import Model, Query, World
from nbcc.model.answers import BadInput, Cleaned
from nbcc.model.mechanisms.restores.rules import Restore
from nbcc.model.refusals import ReadBounds, refusal_of

BOUNDS = ReadBounds(
    settled=20, first=2, horizon=6, restores=(Restore(14, 10, "res1", False, (), ()),), pinned=frozenset({4})
)
"""The first write completed at t2. The horizon is t6, and a savepoint pins t4. A restore of t14 went back to t10."""


@pytest.mark.parametrize(
    ("kind", "times", "error", "says"),
    [
        ("snapshot", (), None, ""),
        ("read_optimized", (), None, ""),
        ("as_of", (8,), None, ""),
        ("as_of", (8.5,), None, ""),
        ("as_of", (20,), None, ""),
        ("as_of", (4,), None, ""),
        ("as_of", (14,), None, ""),
        ("as_of", (10,), None, ""),
        ("as_of", (20.5,), BadInput, "a read of t20.5 is refused: the greatest settled time is t20"),
        ("as_of", (7,), BadInput, "a read as of t7 is refused: that is the requested time of an instant"),
        ("as_of", (1,), BadInput, "a read as of t1 is refused: no commit had completed by then"),
        ("as_of", (5,), Cleaned, "a read of t5 is refused: cleaning has published the horizon t6"),
        ("as_of", (12,), Cleaned, "a read of t12 is refused: the restore of t14 went back to t10"),
        ("incremental", (7, 9), None, ""),
        ("incremental", (6, 15), None, ""),
        ("incremental", (4, 9), Cleaned, "a read of t4 is refused: cleaning has published the horizon t6"),
        ("incremental", (8, 12), Cleaned, "a read of t12 is refused: the restore of t14 went back to t10"),
        ("changes", (8, 21), BadInput, "a read of t21 is refused: the greatest settled time is t20"),
    ],
)
def test_each_time_is_answered_or_refused_by_its_class(kind: Any, times: Any, error: Any, says: str) -> None:
    refusal = refusal_of(kind, times, BOUNDS, requests={7})
    assert (type(refusal), str(refusal or "")) == (error or type(None), says)


def test_before_the_first_write_no_time_is_answered() -> None:
    refusal = refusal_of("as_of", (3,), ReadBounds(settled=5, first=None), requests=())
    assert str(refusal) == "a read as of t3 is refused: no commit had completed by then"


def test_a_read_of_rows_raises_what_the_model_refuses() -> None:
    model = Model(World(actors={"writer": 1}, writes_per_writer=2))
    state = model.initial
    while steps := list(model.successors(state)):
        state = steps[0][1]
    refused = [time for time in range(7) if model.read_refusal(state, Query("as_of", until=time))]
    assert refused == [0, 1, 3, 5, 6]  # the writes were requested at t1 and t3, and completed at t2 and t4
    for time in refused:
        with pytest.raises(BadInput, match=f"as of t{time} is refused|of t{time} is refused"):
            model.rows(state, Query("as_of", until=time), {})
