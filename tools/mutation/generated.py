"""A generated mutant."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Generated:
    """One small change of the model.

    `name` identifies the place and the change by their text, so that other changes of the file do not change the name.
    `operator` is the kind of change. `applied()` returns a context in which the model is mutated.
    """

    name: str
    operator: str
    applied: Callable[[], AbstractContextManager[None]]
