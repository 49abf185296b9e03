"""In each visited state, reads and windows of a relation contain the logs and the row of the model's reads."""

from __future__ import annotations

from typing import Any

import pytest

from nbcc.model import Model, State
from nbcc.model.kernel.merge import Fold, Ranked, evaluate, logs_of
from nbcc.model.promises.view import view_of
from nbcc.simulator.search.mutants import applied, load
from nbcc.simulator.search.prove.lemmas import ranks
from nbcc.simulator.search.prove.lemmas.state import GROUP, LOG, PLAN, WRITE, published
from nbcc.simulator.search.prove.worlds import models, reachable
from tests.search.relations import BY_NAME, LEMMAS_OF, OF_FILE, model_mutant
from tools.proofs import covered
from tools.proofs.bridge import values_of
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
