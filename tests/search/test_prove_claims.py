"""Each claim of a relation agrees with the promise of the model of that name, as specs/proofs.json says."""

from __future__ import annotations

import pytest

from nbcc.simulator.search.prove.evidence import compared
from tests.search.relations import LEMMAS_OF
from tools import proofs
from tools.proofs.claims import judge

SLOW = ("core", "ranks", "commit_time", "optimistic")
"""These take more than 15 seconds each. By day, test_prove_mutations.py judges SNAP in the core."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.nightly if name in SLOW else ()) for name in LEMMAS_OF]
)
def test_the_accepted_comparison_of_claims_is_the_present_one(name: str) -> None:
    assert proofs.compared(LEMMAS_OF[name]) == compared()[name], "python -m tools.regenerate proofs"


@pytest.mark.parametrize("name", LEMMAS_OF)
def test_no_visited_step_of_the_protocol_of_a_file_breaks_a_promise_or_a_claim(name: str) -> None:
    """Under the weaker protocols, steps may break both."""
    for promise, each in compared()[name].items():
        assert "" not in each["weaker"], promise
        assert "" not in each["stronger"], promise


def test_the_claim_about_snapshots_covers_what_a_reader_answers() -> None:
    """A reader that takes its time from the clock misses a write; a read as of that time shows the write later."""
    judged = judge(LEMMAS_OF["batches"], every=True, only={"read_time = clock"})["SNAP"]
    assert judged.broken
    assert judged.weaker == {}


@pytest.mark.nightly
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", LEMMAS_OF)
def test_more_states_and_options_show_no_other_gap_of_a_claim(name: str) -> None:
    for promise, each in judge(LEMMAS_OF[name], 10).items():
        known = compared()[name][promise]
        assert each.weaker.keys() <= known["weaker"].keys(), promise
