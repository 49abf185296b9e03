"""The compact record of archived instants that no table service needs."""

from __future__ import annotations

from operator import itemgetter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbcc.engine.timeline import Timeline
from nbcc.engine.timeline.instant import Instant
from nbcc.engine.timeline.retired import RetiredInstants
from tests.builders.files import t

KINDS = (
    ("commit", "commit"), ("commit", "compaction"), ("deltacommit", "deltacommit"), ("deltacommit", "logcompaction"),
)  # fmt: skip


@given(st.lists(st.tuples(st.integers(1, 30), st.integers(31, 60), st.sampled_from(KINDS)), unique_by=itemgetter(0)))
def test_retired_instants_are_found_as_they_were(rows: list[tuple[int, int, tuple[str, str]]]) -> None:
    retired, there = RetiredInstants(), dict[str, Instant]()
    for begun, ended, (action, begun_as) in rows:
        instant = Instant(t(begun), action, "completed", t(ended))
        retired, added = retired.adding([(instant, begun_as)])
        assert added == {instant.key}
        assert retired.adding([(instant, begun_as)]) == (retired, set()), "it is there"
        there[t(begun)] = instant
    assert {t(n): retired.find(t(n)) for n in range(32)} == {t(n): there.get(t(n)) for n in range(32)}
    keys = {instant.key for instant in there.values()}
    asked = {(t(n), action) for n in range(32) for action in ("commit", "deltacommit")}
    assert {key for key in asked if key in retired} == keys
    assert list(retired.instants()) == sorted(there.values(), key=lambda instant: instant.requested)
    assert len(retired) == len(there)
    timeline = Timeline.of(retired.states())
    assert timeline.instants == tuple(retired.instants())
    assert timeline.begun_as == {(t(n), action): begun for n, _, (action, begun) in rows if action != begun}
    assert list(retired.states(after=t(15))) == [state for state in retired.states() if state.requested > t(15)]


@pytest.mark.parametrize(
    ("instant", "begun_as"),
    [
        (Instant("20260101000000", "commit", "completed", t(2)), "commit"),
        (Instant(t(1), "commit", "completed", "20260101000000"), "commit"),
        (Instant(t(1), "clean", "completed", t(2)), "clean"),
        (Instant(t(1), "commit", "completed", t(2)), "logcompaction"),
    ],
    ids=["requested with 14 digits", "completed with 14 digits", "clean", "unknown pending action"],
)
def test_unusual_instants_are_not_added(instant: Instant, begun_as: str) -> None:
    retired, added = RetiredInstants().adding([(instant, begun_as)])
    assert added == set()
    assert (len(retired), instant.key in retired, retired.find(instant.requested)) == (0, False, None)


def test_a_second_action_at_the_same_time_is_not_added() -> None:
    other = Instant(t(1), "deltacommit", "completed", t(3))
    both = [(Instant(t(1), "commit", "completed", t(2)), "commit"), (other, "deltacommit")]
    retired, added = RetiredInstants().adding(both)
    assert added == {(t(1), "commit")}
    assert other.key not in retired


@pytest.mark.parametrize("name", ["", "part-0.tmp", "2026", t(1) + "0", "٢٠٢٦٠١٠١٠٠٠٠٠١٠٠٠"])
def test_a_name_that_is_no_time_is_not_found(name: str) -> None:
    retired, _ = RetiredInstants().adding([(Instant(t(1), "commit", "completed", t(2)), "commit")])
    assert retired.find(name) is None
