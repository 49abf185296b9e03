"""Each claim of a relation agrees with the promise of the model of that name, as specs/proofs.json says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from nbcc.simulator.search.mutants import applied
from nbcc.simulator.search.prove.evidence import compared
from nbcc.simulator.search.prove.lemmas import archiving, core, resizes
from nbcc.simulator.search.prove.lemmas.state import LOG, PLAN, any_time, complete
from nbcc.simulator.search.prove.logic import Term, both, either, iff, implies
from nbcc.simulator.search.prove.system import Claim
from tests.search.relations import LEMMAS_OF, model_mutant
from tools import proofs
from tools.proofs.claims import Judged, judge

SLOW = ("core", "ranks", "commit_time", "optimistic", "resizes")
"""These take more than 15 seconds each. By day, SNAP is judged in the core, and PART in `resizes`."""


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


class ReadsMayMiss(core.Core):
    """A read contains only completed logs, and may miss some."""

    def snap(self, s: Any) -> Term:
        t = any_time(s)
        return s.every(PLAN, LOG, lambda q, log: implies(
            both(self.readable(s, q, s.group_of(log), t), self.snapshot_on(s, q, log, t)),
            complete(s, s.write_of(log), t)))  # fmt: skip


class WindowsMayOverlap(core.Core):
    """A window may contain a log that the read at its start contains."""

    def adds_up(self, old: Term, inside: Term, new: Term) -> Term:
        return iff(either(old, inside), new)


class LogsNeedNotBeFound(archiving.ArchivingLemmas):
    """PART is about base files only."""

    def all_there(self, s: Any) -> Term:
        return True


class LogsMayBeAnywhere(resizes.ResizeLemmas):
    """PART is about base files only."""

    def all_there(self, s: Any) -> Term:
        return True


CLAIMS = {
    "no reader need open the file group of a log": ("resizes", LogsMayBeAnywhere, "PART", "mapping_check = at_open"),
    "a read may miss logs": ("core", ReadsMayMiss, "SNAP", "slicing = requested"),
    "no reader need find a log": ("archiving", LogsNeedNotBeFound, "PART", "archive_lookup = never"),
}
"""Change -> the file of lemmas, its relation with a claim that says less, the promise, and the option of a protocol
that breaks the promise.
"""


def judged(file: str, relation: type[core.Core], promise: str, option: str) -> Judged:
    return judge(replace(LEMMAS_OF[file], relation=only(relation, promise)), only=[option])[promise]


def only(relation: type[core.Core], promise: str) -> type[core.Core]:
    """The relation with the claims of one promise."""

    class One(relation):  # type: ignore[misc, valid-type]
        def claims(self) -> tuple[Claim, ...]:
            return tuple(claim for claim in super().claims() if claim.promise == promise)

    return One


@pytest.mark.parametrize("mutant", CLAIMS)
def test_a_claim_that_says_less_than_its_promise_is_seen(mutant: str) -> None:
    file, relation, *broken = CLAIMS[mutant]
    assert judged(file, relation, *broken).weaker
    assert judged(file, LEMMAS_OF[file].relation, *broken).weaker == {}


def test_a_claim_that_lets_windows_overlap_is_broken_less_often() -> None:
    """No protocol breaks INCR of the model by an overlap: it needs reads and windows on different axes, and the model
    judges these at completion times only. specs/proofs.json has the number of steps that break the claim alone.
    """
    broken = ("INCR", "as_of_axis = requested")
    assert judged("core", WindowsMayOverlap, *broken).stronger != judged("core", core.Core, *broken).stronger


def test_a_read_of_the_model_that_drops_newer_slices_breaks_the_promise_and_no_claim() -> None:
    drops = "lambda rules, table, group, time: (original(rules, table, group, time)[0], ())"
    with applied(model_mutant("drops newer slices", "kernel.reads:ReadRules.base_and_writes", drops)):
        assert "" in judged("core", core.Core, "SNAP", "").weaker
