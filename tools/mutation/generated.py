"""The shape of a generated mutant."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Generated:
    """`name` says where and what, in words that survive other changes of the file; `operator` the kind of change.

    `applied()` is a context within which the model is the mutant.
    """

    name: str
    operator: str
    applied: Callable[[], AbstractContextManager[None]]
