"""The fingerprints of a transition relation and of the model, as far as the two were compared.

The comparison takes minutes, so that `nbcc prove` does not repeat it: specs/proofs.json records its result with these
fingerprints. That of a relation is computed from its formulas, that of the model from its steps in the small worlds and
from the promises that they break. Neither depends on how the code is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from hashlib import sha256
from typing import Any

from nbcc.model import Model, State
from nbcc.model.promises import PROMISES, Promise

from .lemmas import Lemmas
from .logic import Relation, Symbolic, Term, constant, symbol
from .obligations import step
from .system import ProvedSystem
from .worlds import MOST, models, most_judged, protocols, reachable


def of_relation(system: ProvedSystem) -> str:
    """Return the fingerprint of all formulas of a transition relation."""
    return _Digests().of(_formulas(system))


def of_model(lemmas: Lemmas) -> str:
    """Return the fingerprint of the model's steps in the small worlds of a file of lemmas, under its protocol and the
    weaker ones.
    """
    promises = [PROMISES[name] for name in dict.fromkeys(claim.promise for claim in lemmas.system().claims)]
    return _digest(
        line
        for option, protocol in protocols(lemmas)
        for model in models(lemmas.name, protocol)
        for line in _steps(
            model, [each for each in promises if each.unfit(model) is None], most_judged(lemmas.name),
            most_judged(lemmas.name) if option else MOST,
        )
    )  # fmt: skip


def _steps(model: Model, promises: list[Promise], judged: int, most: int) -> Iterator[str]:
    """Yield a line for each step. States are numbered as they are found, so that the content of a state is not part of
    a line; what it means for reads is, by the promises.
    """
    numbers: dict[State, int] = {model.initial: 0}
    for place, (state, after) in enumerate(reachable(model, most)):
        for taken, following in after:
            number = numbers.setdefault(following, len(numbers))
            broken = [each.name for each in promises if place < judged and each.holds(model, state, taken, following)]
            yield f"{numbers[state]} {taken} {number} {broken}"


def _formulas(system: ProvedSystem) -> Iterator[tuple[str, Term]]:
    now = Symbolic(system.relations)
    later = Symbolic((), {
        each.name: symbol(each if each.fixed else replace(each, name=f"{each.name} after a step"))
        for each in system.relations}, before=now)  # fmt: skip
    yield "initially", system.initially(now)
    yield from ((name, formula(now)) for name, formula in {**system.background, **system.clauses}.items())
    for action in system.actions:
        guard, after = step(system, now, action)
        yield action.name, guard
        yield from ((each.name, _value(after, each)) for each in system.relations)
    for claim in system.claims:
        if claim.holds is not None:
            yield claim.promise, claim.holds(now)
        if claim.step is not None:
            yield claim.promise, claim.step(now, later)


def _value(state: Symbolic, relation: Relation) -> Term:
    arguments = (constant(sort, f"{sort.name} {place}") for place, sort in enumerate(relation.arguments))
    return getattr(state, relation.name)(*arguments)


class _Digests:
    """Computes digests of z3's terms, each subterm once. The terms are kept, so that z3 does not reuse identities."""

    def __init__(self) -> None:
        self._known: dict[int, str] = {}
        self._kept: list[Term] = []

    def of(self, formulas: Iterable[tuple[str, Term]]) -> str:
        return _digest(f"{name}: {self._of(term)}" for name, term in formulas)

    def _of(self, term: Any) -> str:
        import z3

        if not isinstance(term, z3.AstRef):
            return repr(term)
        if term.get_id() not in self._known:
            self._kept.append(term)
            if z3.is_quantifier(term):
                sorts = [str(term.var_sort(place)) for place in range(term.num_vars())]
                head, parts = f"{'every' if term.is_forall() else 'some'} {sorts}", [term.body()]
            elif z3.is_app(term) and term.num_args():
                head, parts = term.decl().name(), term.children()
            else:
                head, parts = str(term), []
            self._known[term.get_id()] = _digest([head, *map(self._of, parts)])
        return self._known[term.get_id()]


def _digest(lines: Iterable[str]) -> str:
    found = sha256()
    for line in lines:
        found.update(f"{line}\n".encode())
    return found.hexdigest()[:16]
