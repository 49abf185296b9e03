"""A disagreement: after a step, an observable value differs between model and system."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Difference(NamedTuple):
    """One observable (such as the timeline), with its value in the model and in the system."""

    what: str
    model: Any
    system: Any

    def in_words(self, says: Callable[[Any], str]) -> Difference:
        """Return the difference with its values formatted as text. If a value is a tuple, the function ``says`` formats
        each element.
        """
        return Difference(self.what, *(_worded(value, says) for value in (self.model, self.system)))

    def __str__(self) -> str:
        return f"{self.what}: the model says {_shown(self.model)}; the system says {_shown(self.system)}"


class Disagreement(Exception):
    """Raised if model and system differ; ``step`` is the number of the step after which they differ."""

    def __init__(self, step: int, difference: Difference) -> None:
        super().__init__(step, difference)
        self.step = step
        self.difference = difference

    def __str__(self) -> str:
        return f"after step {self.step}, {self.difference}"


def first_difference(what: str, model: Any, system: Any) -> Difference | None:
    """Return the difference of two observable values, or None if they are equal. The difference of two tuples omits the
    elements that both contain, unless only their order differs.
    """
    if model == system:
        return None
    if isinstance(model, tuple) and isinstance(system, tuple):
        only_model = tuple(element for element in model if element not in system)
        only_system = tuple(element for element in system if element not in model)
        # Both are empty if the order differs, or how often an element occurs: then both values are shown whole.
        if only_model or only_system:
            return Difference(what, only_model, only_system)
    return Difference(what, model, system)


def _worded(value: Any, says: Callable[[Any], str]) -> Any:
    return tuple(says(element) for element in value) if isinstance(value, tuple) else value


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return "; ".join(map(str, value)) if value else "nothing"
    return str(value)
