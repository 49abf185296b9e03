"""The options of the model on which the core depends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ..logic import Term, both, no
from .state import lock_is_free, published


@dataclass(frozen=True)
class Options:
    """Options of the model, with the model's names and values, on which the core depends."""

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
    """The relations that depend on the options. Each kind of actor adds its actions."""

    def __init__(self, options: Options) -> None:
        self.options = options

    @property
    def outside(self) -> bool:
        """Whether a completion time is taken before the lock."""
        return self.options.completion_time == "outside_lock"

    def lock_is_free(self, s: Any) -> Term:
        """No actor has the lock. A mechanism with further actors extends the condition."""
        return lock_is_free(s)

    def can_write(self, s: Any, w: Term, phase: int) -> Term:
        """The write is in a phase, and its writer is alive and at work on it."""
        return both(s.phase(w) == phase, no(s.dead_writer(w)))

    def is_over(self, s: Any, w: Term) -> Term:
        """The writer of the write may begin the next one."""
        return published(s, w)

    def slice_time(self, s: Any, w: Term) -> Term:
        """The time that assigns the logs of a write to a slice."""
        return s.completed(w) if self.options.slicing == "completion" else s.requested(w)
