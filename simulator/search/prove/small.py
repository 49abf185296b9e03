"""Restricts a formula to a few elements of each sort, so that z3 decides it without quantifiers.

A solution of the restricted formula is a small counterexample, because it is also a solution of the original formula.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

from .logic import Sort, Term, constant, z3_sort


class Universe:
    """A finite universe with up to `most` elements of each sort."""

    def __init__(self, sorts: Iterable[Sort], most: int) -> None:
        self._elements = {
            z3_sort(sort): [constant(sort, f"{sort.name.lower()} {n}") for n in range(1, most + 1)] for sort in sorts
        }
        self._expanded: dict[int, Term] = {}
        self._kept: list[Term] = []  # z3 reuses the identity of a term that is not kept

    def given(self, terms: Iterable[Term]) -> list[Term]:
        """Return the terms with each quantifier replaced by its instances for the elements of the universe. Additional
        constraints keep the value of every subterm in the universe.
        """
        expanded = [self._expand(term) for term in terms]
        return [*expanded, *self._closure(expanded)]

    def _expand(self, term: Term) -> Term:
        import z3

        known = self._expanded.get(term.get_id())
        if known is not None:
            return known
        if z3.is_quantifier(term):
            join = z3.And if term.is_forall() else z3.Or
            sorts = [term.var_sort(place) for place in range(term.num_vars())]
            # z3 numbers the variables of a quantifier from the last to the first.
            instances = [z3.substitute_vars(term.body(), *reversed(elements)) for elements in self._tuples(sorts)]
            result = join(*(self._expand(instance) for instance in instances))
        elif term.num_args():
            result = term.decl()(*(self._expand(child) for child in term.children()))
        else:
            result = term
        self._expanded[term.get_id()] = result
        self._kept.append(term)
        return result

    def _tuples(self, sorts: list[Any]) -> Iterator[tuple[Term, ...]]:
        yield from product(*(self._elements[sort] for sort in sorts))

    def _closure(self, terms: list[Term]) -> Iterator[Term]:
        import z3

        seen: set[int] = set()
        todo = list(terms)
        while todo:
            term = todo.pop()
            if term.get_id() in seen:
                continue
            seen.add(term.get_id())
            todo.extend(term.children())
            if term.sort() in self._elements:
                yield z3.Or(*(term == element for element in self._elements[term.sort()]))
