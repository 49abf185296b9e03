"""A timeline that grows: what is kept of the history before."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from nbcc.engine.timeline import Timeline
from nbcc.engine.timeline.instant import parse_instant
from tests.builders.files import t
from tests.builders.timeline_states import STATES

MORE = [*STATES, *(f"{t(n)}_{t(end)}.commit" for n, end in ((4, 12), (5, 11), (7, 9), (8, 10), (8, 13)))]


@given(st.permutations(MORE), st.integers(0, len(MORE)))
def test_a_timeline_that_grows_is_ordered_like_a_new_one(names: list[str], first: int) -> None:
    states = [instant for name in names if (instant := parse_instant(name))]
    before = Timeline.of(states[:first])
    assert {*before.completed} <= {*states}  # kept, and then extended
    grown, listed = before.with_states(states[first:]), Timeline.of(states[first:])
    assert grown.instants == listed.with_archived(before).instants == Timeline.of(states).instants
    assert grown.completed == listed.with_archived(before).completed == Timeline.of(states).completed
    assert grown.at(t(1)) == tuple(instant for instant in grown.instants if instant.requested == t(1))
