"""The core of RFC-66 for any number of writers, logs, file groups, plans, compactors and readers.

Writers put several logs in several groups; compactors die, and other compactors run their plans; readers list twice,
and no listing is a snapshot. The relation describes the transitions of `model/kernel` and of crashes.
"""

from __future__ import annotations

from ...system import Action, System
from .compactors import Compactors
from .options import Options
from .promises import Promises
from .readers import Readers
from .vocabulary import RELATIONS, initially
from .writers import Writers

__all__ = ["Core", "Options"]


class Core(Writers, Compactors, Readers, Promises):
    """The relation under some options. Mechanisms extend it."""

    def actions(self) -> tuple[Action, ...]:
        return (*self.writers(), *self.dying_writers(), *self.planners(), *self.compactors(), *self.readers())

    def system(self) -> System:
        return System(
            "core", "writers, compactions, crashes and readers", RELATIONS, initially, self.actions(), self.clauses(),
            self.claims(),
        )  # fmt: skip
