"""The relations of `nbcc prove` in their small worlds, for the tests that compare them with the model."""

from __future__ import annotations

from nbcc.simulator import specs
from nbcc.simulator.prove.bridge import compare
from nbcc.simulator.prove.lemmas import LEMMAS
from nbcc.simulator.prove.system import System
from nbcc.simulator.prove.worlds import MOST, elements_of, models

LEMMAS_OF = {lemmas.name: lemmas for lemmas in LEMMAS}
BY_NAME = {name: lemmas.system(any_plan=False) for name, lemmas in LEMMAS_OF.items()}
OF_FILE = {name: specs.protocol(lemmas.protocol) for name, lemmas in LEMMAS_OF.items()}
"""File of lemmas -> its relation, as restricted as the model; its protocol."""


def difference(name: str, system: System) -> str | None:
    """The first difference of a changed relation from the model in the small worlds of a file of lemmas, in a world in
    which the unchanged relation has none.
    """
    for model in models(name, OF_FILE[name]):
        elements = elements_of(model, system)
        if found := compare(model, system, MOST, elements).difference:
            assert compare(model, BY_NAME[name], MOST, elements).difference is None, "only the change may differ"
            return found
    return None
