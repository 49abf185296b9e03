"""One run that tells which mutants would be another: of single expressions, and held against searching every mutant."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest

from nbcc.model import Model
from nbcc.model.promises import PROMISES
from nbcc.model.promises.writers import CANARY
from nbcc.simulator.explore import explore
from tools.mutation import generated
from tools.mutation.cases import Case
from tools.mutation.operators import changes
from tools.mutation.probes import NAME, Probe, Probing, alike

HUNT: Any = import_module("tools.mutation.hunt")
ALL = {mutant.name: mutant for mutant in generated()}


def noted(source: str, **given: Any) -> tuple[Any, set[str]]:
    """The value of an expression under a probe, and its mutants that were noted, as their text."""
    tree = ast.parse(source, mode="eval")
    sites: dict[ast.AST, list[str]] = {}
    for _, node, instead in changes(tree):
        rest = instead.ifs if isinstance(instead, ast.comprehension) else [instead]
        sites.setdefault(node, []).append(", ".join(ast.unparse(each) for each in rest))  # type: ignore[arg-type]
    probe = Probe([name for names in sites.values() for name in names])
    wrapped = ast.fix_missing_locations(Probing(tree, sites).visit(tree))
    return eval(compile(wrapped, "<test>", "eval"), {NAME: probe, **given}), probe.differing


@pytest.mark.parametrize(
    ("source", "given", "value", "mutants"),
    [
        ("a < b", {"a": 1, "b": 2}, True, set()),
        ("a < b", {"a": 2, "b": 2}, False, {"a <= b"}),
        ("a == b", {"a": 2, "b": 2}, True, {"a != b"}),
        ("a < b <= c", {"a": 1, "b": 2, "c": 2}, True, {"a < b < c"}),
        ("a < b < c", {"a": 3, "b": 2, "c": None}, False, set()),
        ("a < b < c", {"a": 2, "b": 2, "c": None}, False, {"a <= b < c"}),
        ("a and b", {"a": True, "b": True}, True, set()),
        ("a and b", {"a": True, "b": False}, False, {"a"}),
        ("a and b", {"a": (), "b": 0}, (), {"b"}),
        ("1 if a and b else 2", {"a": (), "b": 0}, 2, set()),
        ("a or b or c", {"a": 0, "b": 0, "c": 3}, 3, {"a or b"}),
        ("a and b.c", {"a": False, "b": None}, False, {"b.c"}),
        ("not a", {"a": True}, False, {"a"}),
        ("a.requested", {"a": SimpleNamespace(requested=1, completed=1)}, 1, set()),
        ("a.requested", {"a": SimpleNamespace(requested=1, completed=True)}, 1, {"a.completed"}),
        ("a.requested", {"a": SimpleNamespace(requested=1)}, 1, {"a.completed"}),
        ("max(x for x in a)", {"a": (2, 2)}, 2, set()),
        ("max(x for x in a)", {"a": (1, 2)}, 2, {"min((x for x in a))"}),
        ("max(a, default=0)", {"a": ()}, 0, set()),
        ("[x for x in a if x]", {"a": (1, 2)}, [1, 2], set()),
        ("[x for x in a if x if x < b]", {"a": (1, 0), "b": 2}, [1], {"x < b"}),
        ("[x for x in a if x if x > b]", {"a": (3, 0), "b": 2}, [3], set()),
    ],
)
def test_who_gives_another_value_is_noted(source: str, given: dict[str, Any], value: Any, mutants: set[str]) -> None:
    assert noted(source, **given) == (value, mutants)


def test_what_an_effect_leaves_out_is_noted() -> None:
    own: Any = HUNT.Fate("SNAP", "", 1)
    found = noted("own._replace(by='SNAP', how=3)", own=own)
    assert found == (own._replace(how=3), {"own._replace(by='SNAP')"})


def test_values_are_alike_only_if_nobody_can_tell_them_apart() -> None:
    assert alike((1, ("a", None)), (1, ("a", None)))
    assert alike(frozenset({1}), frozenset({1}))
    assert not alike((1,), (True,))
    assert not alike(frozenset({1}), frozenset({True}))
    assert not alike([1], [1])
    assert not alike(HUNT.Fate(), tuple(HUNT.Fate()))


EVERY = 37
SOME = [Case(5), Case(10, "slicing", "requested")]
"""A small world, and a weaker choice that breaks promises in another."""


def wrong(case: Case) -> Iterator[str]:
    """Of a sample of all mutants those that, they say, never differ in a case, and whose search is another."""
    sample = sorted(ALL)[::EVERY]
    right, steps = HUNT.baseline_of(case, sample), steps_of(case.model())
    for name in sorted({*sample} - right.differing):
        with ALL[name].applied():
            if not same_search(case, right, steps):
                yield name


def steps_of(model: Model) -> list[Any]:
    """Every step with the states before and after it, in the order of a search; then the values of components."""
    steps: list[Any] = []
    queue, seen = [model.initial], {model.initial}
    for state in queue:
        for step, after in model.successors(state):
            steps.append((state, step, after))
            if after not in seen:
                seen.add(after)
                queue.append(after)
    return [*steps, model.coding.dump()]


def same_search(case: Case, right: Any, steps: Any) -> bool:
    try:
        model = case.model()
        result = explore(model, list(PROMISES.values()), canary=CANARY, max_states=3 * right.figures.sizes[0])
        return bool(HUNT._figures(result) == right.figures and steps_of(model) == steps)
    except Exception:
        return False


def alike_by_their_steps(case: Case) -> Iterator[tuple[bool, str]]:
    """Of a sample those that differ in finding steps alone and whose rows, they say, do the same; each with whether
    its search is the same."""
    right, steps = HUNT.baseline_of(case, ALL), steps_of(case.model())
    for name in sorted(right.differing - right.judging)[:: EVERY // 8]:
        with ALL[name].applied():
            if HUNT._moves_alike(case, right):
                yield same_search(case, right, steps), name


@pytest.mark.parametrize("case", SOME, ids=str)
def test_who_never_differs_is_the_same_search(case: Case) -> None:
    """And to be looked at changes nothing."""
    assert list(wrong(case)) == []
    right, model = HUNT.baseline_of(case, ALL), case.model()
    assert right.figures == HUNT._figures(explore(model, list(PROMISES.values()), canary=CANARY))
    assert right.values == HUNT.values_of(model)


def test_a_probe_that_does_not_look_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Probe, "note", lambda *_: None)
    assert next(wrong(SOME[0]), None)


def test_whose_rows_do_the_same_is_the_same_search() -> None:
    found = list(alike_by_their_steps(SOME[0]))
    assert found
    assert [name for same, name in found if not same] == []


def test_rows_that_are_not_looked_at_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HUNT, "same_steps", lambda model, right: True)
    assert any(not same for same, _ in alike_by_their_steps(SOME[0]))
