"""Claims and reads of a relation: each claim agrees with the promise of the model of that name, and in each visited
state reads and windows contain the logs and the row of the model's reads.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from nbcc.model import Model, State
from nbcc.model.kernel.merge import Fold, Ranked, evaluate, logs_of
from nbcc.model.promises.view import view_of
from nbcc.simulator.search.mutants import applied, load
from nbcc.simulator.search.prove.evidence import compared
from nbcc.simulator.search.prove.lemmas import archiving, core, ranks, resizes
from nbcc.simulator.search.prove.lemmas.state import GROUP, LOG, PLAN, WRITE, any_time, complete, published
from nbcc.simulator.search.prove.logic import Term, both, either, iff, implies
from nbcc.simulator.search.prove.system import Claim
from nbcc.simulator.search.prove.worlds import models, reachable
from tests.search.relations import BY_NAME, LEMMAS_OF, OF_FILE, model_mutant
from tools import proofs
from tools.proofs import covered
from tools.proofs.bridge import values_of
from tools.proofs.claims import Judged, judge
from tools.proofs.finite import Explorer, Instance
from tools.proofs.worlds import elements_of

MOST = 100


class Names:
    """The elements of a relation that stand for the logs of a model state."""

    def __init__(self, model: Model, state: State, view: Any, elements: Instance) -> None:
        self.by_time = {view.requested(w): w for w in elements.elements[WRITE] if published(view, w)}
        self.covers = covered.covers(model, state, self.by_time)

    def logs(self, shape: Fold, group: int) -> set[Any]:
        """The logs of writers that a read merges; a compacted log counts as the logs that it replaces."""
        found: set[Any] = set()
        for requested, version in logs_of(shape):
            if requested in self.by_time:
                found.add((*self.by_time[requested], group, version))
            else:  # a log compaction, or the base file of an insert overwrite
                found |= {log for log in self.covers.get(requested, ()) if log[2] == group}
        return found


def newest_base(relation: Any, view: Any, elements: Instance, group: int, time: int) -> Any:
    bases = [q for q in elements.elements[PLAN] if relation.readable(view, q, group, time)]
    return max(bases, key=view.barrier, default=None)


@pytest.mark.parametrize("name", BY_NAME)
def test_reads_and_windows_contain_the_logs_of_the_reads_of_the_model(name: str) -> None:
    relation: Any = LEMMAS_OF[name].relation(LEMMAS_OF[name].options(any_plan=False))
    has_windows = "INCR" in {claim.promise for claim in BY_NAME[name].claims}
    compared = 0
    for model in models(name, OF_FILE[name]):
        elements = elements_of(model, BY_NAME[name])
        explorer = Explorer(BY_NAME[name], elements)
        for state, _ in reachable(model, MOST):
            view, reads = explorer.view(values_of(explorer, model, state)), view_of(model, state)
            names = Names(model, state, view, elements)
            for group in elements.elements[GROUP]:
                logs = [log for log in elements.elements[LOG] if log[2] == group]
                for time in range(max(view.clock(), view.reserved()) + 1):
                    base = newest_base(relation, view, elements, group, time)
                    read = {log for log in logs if (
                        relation.visible(view, log, time) if base is None
                        else relation.snapshot_on(view, base, log, time))}  # fmt: skip
                    assert read == names.logs(reads.as_of(group, time), group), (group, time)
                    compared += 1
                    if isinstance(relation, ranks.Ranks) and base is not None:
                        rows = [log for log in logs if relation.row(view, base, log, time)]
                        assert rows == row(model, reads.as_of(group, time), names, elements, group), (group, time)
                for after, until in reads.windows if has_windows else ():
                    window = {log for log in logs if relation.delivered(view, log[:2], after, until)}
                    assert window == names.logs(reads.window(group, after, until), group), (group, after, until)
    assert compared > 100


def test_a_read_of_the_model_that_drops_newer_slices_is_seen() -> None:
    drops = model_mutant("drops newer slices", "kernel.reads:ReadRules.base_and_writes",
                         "lambda rules, table, group, time: (original(rules, table, group, time)[0], ())")  # fmt: skip
    with applied(drops), pytest.raises(AssertionError):
        test_reads_and_windows_contain_the_logs_of_the_reads_of_the_model("core")


def test_a_read_of_the_model_that_leaves_copies_out_is_seen() -> None:
    with applied(load("resize-copies-of-newest-alone")), pytest.raises(AssertionError):
        test_reads_and_windows_contain_the_logs_of_the_reads_of_the_model("resizes")


def row(model: Model, shape: Fold, names: Names, elements: Instance, group: int) -> list[Any]:
    """The log whose record, or delete, wins the model's merge."""
    facts = elements.fixed

    def record_of(log: tuple[int, int]) -> Ranked | None:
        element = (*names.by_time[log[0]], group, log[1])
        return (
            Ranked(facts["ordering", element], 0.0, facts["deleted", element], element)
            if facts["record", element] else None
        )  # fmt: skip

    winner = evaluate(shape, record_of, model.merger)
    return [] if winner is None else [winner.content]


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
