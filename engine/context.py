"""All that an operation is given: nothing else in the engine reaches outside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .rules import NBCC, Rules

if TYPE_CHECKING:
    from .clock import Clock
    from .jobs import Jobs
    from .lock import Lock
    from .names import Names
    from .storage import Storage


@dataclass(frozen=True, slots=True)
class Context:
    """The seams of one table and the rules by which it is handled."""

    storage: Storage
    lock: Lock
    clock: Clock
    names: Names
    jobs: Jobs
    rules: Rules = NBCC
