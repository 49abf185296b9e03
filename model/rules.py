"""The rules by which a table is read under one protocol: slicing, planning, visibility, merging and answers.

Each rule is a method of one of the classes that `Rules` inherits from; the default rules are those of RFC-66 alone. A
mechanism or variant (alternative rule) that changes rules defines a subclass of `Rules`, whose methods extend the
previous rule through `super()`. For each protocol, `assembly.rules_of` combines these classes into one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any, TypeVar

from .answers import AnswerRules
from .kernel.merge import MergeRules
from .kernel.planning import PlanningRules
from .machine.options import Options
from .slices import FileSliceRules

Part = TypeVar("Part", bound=Options)


class Rules(PlanningRules, FileSliceRules, AnswerRules, MergeRules):
    """The rules of RFC-66 alone, without any mechanism or variant. Two `Rules` are equal only if they are the same
    object.

    `options` contains the options of the protocol; for example, `rules[Slicing].slicing` is the value of one option.
    `under(**changes)` returns the rules for the protocol with some options changed.
    """

    compares_requested_times = False
    """False declares that no rule of this class compares the requested time of a write without marks with another time,
    except to order pending writes or equal times. Each class declares it for itself; `promises.shape` relies on it.
    """

    def __init_subclass__(cls) -> None:
        """Refuse a name that overrides nothing: a misspelled rule would change no verdict, without a word."""
        for name in vars(cls):
            if not name.startswith("_") and not hasattr(super(cls, cls), name):
                near = get_close_matches(name, dir(Rules), 1)
                hint = f"did you mean {near[0]}?" if near else "begin the name of a helper with _"
                raise ValueError(f"{cls.__name__}.{name} is not a rule; {hint}")

    def __init__(self, options: Mapping[type[Options], Options], under: Callable[..., Any]) -> None:
        self.options, self.under = options, under

    def __getitem__(self, part: type[Part]) -> Part:
        found = self.options[part]
        assert isinstance(found, part), "each part is stored under its own type"
        return found
