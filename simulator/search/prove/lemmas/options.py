"""The options of the model that the core transition relation supports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from ..logic import Term, both, no
from .instants import PLANS, READY_WRITES, TIMED_COMPACTORS, WRITES, Completing, Kinds
from .state import lock_is_free, published


@dataclass(frozen=True)
class CoreOptions:
    """The model options that affect the core transition relation, with their supported values."""

    slicing: Literal["completion", "requested"] = "completion"
    completion_time: Literal["under_lock", "outside_lock"] = "under_lock"
    plan_takes: Literal["completed_before_barrier", "any_log"] = "completed_before_barrier"
    listing: Literal["twice", "once"] = "twice"
    read_time: Literal["settled", "clock"] = "settled"
    visibility: Literal["completed", "any"] = "completed"
    as_of_axis: Literal["completion", "requested"] = "completion"
    incremental_axis: Literal["completion", "requested"] = "completion"
    any_plan: bool = True
    """Whether a compactor may run any pending plan; otherwise only the oldest one, as in the model."""


class Relations:
    """The base class of transition relations, with the conditions that depend on the model options. Its subclasses add
    the actions of actors.
    """

    kinds: ClassVar[Kinds] = (WRITES, PLANS)
    """The kinds of instants that actors of the relation publish."""
    completing: ClassVar[tuple[Completing, ...]] = (READY_WRITES, TIMED_COMPACTORS)

    def __init__(self, options: CoreOptions) -> None:
        self.options = options

    @property
    def outside(self) -> bool:
        """True if actors choose their completion time before they acquire the lock."""
        return self.options.completion_time == "outside_lock"

    def lock_is_free(self, s: Any) -> Term:
        """True if no actor holds the lock."""
        return lock_is_free(s)

    def can_write(self, s: Any, w: Term, phase: int) -> Term:
        """True if the writer is alive, and its write is in the given phase."""
        return both(s.phase(w) == phase, no(s.dead_writer(w)))

    def is_over(self, s: Any, w: Term) -> Term:
        """True if the write has ended, so that its writer may begin the next write."""
        return published(s, w)

    def slice_time(self, s: Any, w: Term) -> Term:
        """Return the time that determines the file slice of a write's logs: the option `slicing` selects completion or
        requested time.
        """
        return s.completed(w) if self.options.slicing == "completion" else s.requested(w)
