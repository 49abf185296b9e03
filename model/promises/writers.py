"""Promises about writers: FREE (writers are never refused publication), LAWS (algebraic laws of merging), and CANARY (a
promise violated on purpose, to test the search).
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product

from ..kernel.merge import Ranked, logs_of, merge
from ..kernel.table import Log, Write
from ..kernel.writer import WRITER
from ..machine.state import State
from ..machine.transition import Step
from ..mechanisms.decision_log import DecisionLog
from ..mechanisms.insert_overwrite import replaced
from ..mechanisms.lock_wait import WRITER_STOPS_WAITING, LockWait
from ..mechanisms.log_compaction.rules import inputs_by_compaction, with_inputs
from ..mechanisms.merge_function import ByFunction, law_broken
from ..mechanisms.occ.conflicts import Occ
from ..mechanisms.partial_updates import RankedPart, join, row_of, row_of_state, state_of
from ..model import Model
from .promise import Promise, components_in, protocol_of, value_in
from .sentences import write_named
from .services import no_service
from .shape import completions_of
from .view import View, on_table, view_of


def free_holds(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """Check promise FREE: a live writer is never refused publication."""
    if step is not None and step.action == WRITER_STOPS_WAITING:
        return f"{step.actor} is alive, and gave up its write because another actor held the lock for too long"
    if before is None or step is None or step.action != "writer_publishes_instant":
        return None
    if model.protocol[DecisionLog].decision == "log":
        return None  # A decided write counts as published: any actor may put its completed file.
    if model.component(before, "published") == model.component(after, "published"):
        return f"{step.actor} is alive, and its write was refused publication"
    return None


def _impatient(model: Model) -> tuple[str, ...]:
    return tuple(me for me in model.actors_of(WRITER) if protocol_of(model, me)[LockWait].lock_wait == "times_out")


def _may_abort(model: Model) -> str | None:
    looking = [me for me in model.actors_of(WRITER) if protocol_of(model, me)[Occ].concurrency != "nbcc"]
    return f"{looking[0]} does not write under non-blocking concurrency control" if looking else None


def _has_written(model: Model, state: State) -> bool:
    return any(isinstance(entry, Write) for entry in model.component(state, "published"))


@lru_cache(maxsize=2)
def algebra_broken(event_time: bool) -> str | None:
    """Return the first algebraic law that `merge` violates on a small set of records; None if it satisfies all laws."""
    records = [Ranked(o, p, d, (o, p, d)) for p, (o, d) in enumerate(product((1, 2), (False, True)))]
    records += [Ranked(1, 4.0, False, "late"), Ranked(2, 5.0, True, "latest")]
    for a, b, c in product([None, *records], repeat=3):
        if merge(a, a, event_time) != a:
            return f"merging {a} with itself is another record"
        if merge(a, b, event_time) != merge(b, a, event_time):
            return f"merging {a} and {b} depends on which comes first"
        left = merge(merge(a, b, event_time), c, event_time)
        if left != merge(a, merge(b, c, event_time), event_time):
            return f"merging {a}, {b} and {c} depends on which two are merged first"
    return None


@lru_cache(maxsize=1)
def partial_algebra_broken() -> str | None:
    """Return the first algebraic law that merging partial updates violates on a small set of records; None if it
    violates none.
    """
    columns: tuple[tuple[str, ...] | None, ...] = (None, ("a",), ("a", "b"), ("b",))
    records = [
        RankedPart((ordering, place), None if names is None else dict.fromkeys(names, place))
        for place, (ordering, names) in enumerate(product((1, 2), columns))
    ]
    for some in product(records, repeat=3):
        a, b, c = (state_of(part) for part in some)
        if join(a, a) != a:
            return f"joining {a} with itself is another state"
        if join(a, b) != join(b, a):
            return f"joining {a} and {b} depends on which comes first"
        if join(join(a, b), c) != join(a, join(b, c)):
            return f"joining {a}, {b} and {c} depends on which two are joined first"
        if row_of_state(join(join(a, b), c)) != row_of(some):
            return f"joining {a}, {b} and {c} is another row than that of the records"
    return None


def laws_hold(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """Check promise LAWS: merging is commutative, associative and idempotent, and each base file merges a contiguous
    sequence of writes in completion order.
    """
    if broken := algebra_broken(model.merger.event_time) or partial_algebra_broken():
        return broken
    by = model.merger.combination
    if isinstance(by, ByFunction) and _folds_two(model, after) and (broken := law_broken(by.laws)):
        return f"a service merges two rows by a function that {broken}"
    view = view_of(model, after)
    for group in view.groups:
        for barrier, fold in view.bases(group):
            held = set(logs_of(fold))
            where = f"the base of t{barrier} in group {group}"
            if unranked := sorted(log[0] for log in held if log[0] not in view.done):
                name = write_named(view.writes.get(unranked[0]), unranked[0])
                return f"{where} merges {name}, whose rank is not decided yet"
            order = view.every_log(group)
            replaces = {i for i, log in enumerate(order) if log in held and group in replaced(view.done[log[0]])}
            begin = max(replaces, default=0)
            if gap := next((log for log in order[begin : begin + len(held)] if log not in held), None):
                return f"{where} leaves out {write_named(view.done[gap[0]], gap[0])} and merges a later completion"
        for requested, taken in inputs_by_compaction(view.table, group).items():
            if gap := _left_out(view, group, taken):
                name = write_named(view.done[gap[0]], gap[0])
                what = f"the log compaction of t{requested} in group {group}"
                return f"{what} merges writes that completed before and after {name}"
    return None


def _left_out(view: View, group: int, taken: tuple[Log, ...]) -> Log | None:
    held, logs = set(with_inputs(view.table, group, taken)), view.logs(group)
    places = [place for place, log in enumerate(logs) if log in held]
    return next((log for log in logs[places[0] : places[-1]] if log not in held), None) if places else None


def _folds_two(model: Model, state: State) -> bool:
    logs = value_in(model, state, "log_plans")
    return any(len(part.logs) > 1 for plan in (*model.component(state, "plans"), *logs) for part in plan.groups)


FREE = Promise(
    name="FREE",
    about="A live upsert or delete under NBCC is never refused publication because of another actor.",
    source="RFC-66, abstract: streaming writers are neither blocked nor aborted",
    kind="step",
    holds=free_holds,
    sometimes=_has_written,
    reads=lambda model: ("published", "lock", *components_in(model, "fence"), *_impatient(model)),
    unfit=_may_abort,
)
LAWS = Promise(
    name="LAWS",
    about="Merging is commutative, associative, idempotent; a base file merges contiguous writes in completion order.",
    source="RFC-66, the compaction procedure; docs/contract.md, LAWS",
    kind="state",
    holds=laws_hold,
    sometimes=_folds_two,
    reads=on_table,
    unfit=no_service,
    shape=completions_of,
)
CANARY = Promise(
    name="CANARY",
    about="No instant is ever published. False in every world: a search that does not violate it checks nothing.",
    source="docs/contract.md, Verdicts",
    kind="state",
    holds=lambda model, before, step, after: (
        "an instant was published" if model.component(after, "published") else None
    ),
    sometimes=lambda model, state: True,
    reads=lambda model: ("published",),
)
