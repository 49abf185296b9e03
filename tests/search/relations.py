"""The relations of `nbcc prove` in their small worlds, for the tests that compare them with the model."""

from __future__ import annotations

from nbcc.simulator import specs
from nbcc.simulator.search.mutants import Mutant
from nbcc.simulator.search.prove.lemmas import LEMMAS
from nbcc.simulator.search.prove.system import ProvedSystem
from nbcc.simulator.search.prove.worlds import MOST, models
from tools.proofs.bridge import compare
from tools.proofs.worlds import elements_of

LEMMAS_OF = {lemmas.name: lemmas for lemmas in LEMMAS}
BY_NAME = {name: lemmas.system(any_plan=False) for name, lemmas in LEMMAS_OF.items()}
OF_FILE = {name: specs.protocol(lemmas.protocol) for name, lemmas in LEMMAS_OF.items()}
"""File of lemmas -> its relation, as restricted as the model; its protocol."""


def difference(name: str, system: ProvedSystem, place: int | None = None) -> str | None:
    """The first difference of a relation from the model in the small worlds of a file of lemmas, or in one of them."""
    worlds = [*models(name, OF_FILE[name])]
    seen = (compare(model, system, MOST, elements_of(model, system)).difference
            for model in (worlds if place is None else [worlds[place]]))  # fmt: skip
    return next((each for each in seen if each), None)


def model_mutant(name: str, place: str, expression: str) -> Mutant:
    return Mutant(name=name, about="", source="", breaks="", target="model", detector="search",
                  replace=f"nbcc.model.{place}", with_=expression)  # fmt: skip
