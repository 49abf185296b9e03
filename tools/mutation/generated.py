"""A generated mutant."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Generated:
    """One small change of the model.

    `name` identifies the place and the change by text, so that other changes of the file do not rename it. `operator`
    is the kind of change. `applied()` is a context in which the model is the mutant.
    """

    name: str
    operator: str
    applied: Callable[[], AbstractContextManager[None]]
