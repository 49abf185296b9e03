"""Resizes while failed writes are rolled back, and while a cleaner deletes files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from ..logic import Term, Update, both, either, implies, no
from ..system import Formula, Move
from . import cleaning, heartbeats
from .giving_up import extended
from .resizes import ResizeLemmas, ResizeOptions
from .state import GROUP, LOG, PLAN

SERVED: Final = "no clean has planned to delete an input of a pending plan"
COMPLETE: Final = "only a complete base file is old"


@dataclass(frozen=True)
class RolledBackOptions(ResizeOptions, heartbeats.HeartbeatOptions):
    """The model options that affect resizes and rollbacks. A world with a resizer has those of resizes only."""

    failed_writes: Literal["lazy"] = "lazy"
    rollback_check: Literal["under_lock"] = "under_lock"
    commit_check: Literal["under_lock"] = "under_lock"


class RolledBackResizes(ResizeLemmas, heartbeats.HeartbeatLemmas):
    """Resizes, heartbeats and rollback actors in one transition relation."""

    options: RolledBackOptions

    def writers(self) -> tuple[Move, ...]:
        """Return the actions of writers. A writer finds its heartbeat expired before it finds a mapping."""
        looks = {"writer finds another mapping": (lambda s, w: no(heartbeats.is_given_up(s, w)), None)}
        return extended(super().writers(), looks if self.options.mapping_check == "under_lock" else {})


@dataclass(frozen=True)
class CleanedOptions(ResizeOptions, cleaning.CleaningOptions):
    """The model options that affect resizes and cleans. A world with a resizer has those of resizes only."""

    retention: Literal["completion"] = "completion"
    horizon: Literal["before_delete"] = "before_delete"


class CleanedResizes(ResizeLemmas, cleaning.CleaningLemmas):
    """Resizes and cleaners in one transition relation. A compaction that was planned before a resize may stay pending
    while a clean deletes older files, so that a clean keeps the inputs of all pending plans.
    """

    options: CleanedOptions

    def is_input(self, s: Any, p: Term, q: Term, g: Term) -> Term:
        """True if plan p takes the base file of plan q: the newest that was complete when p was planned."""
        return both(s.part(p, g), self.is_before(s, q, p, g), s.every(PLAN, lambda r: implies(
            self.is_before(s, r, p, g), s.barrier(r) <= s.barrier(q))))  # fmt: skip

    def is_before(self, s: Any, q: Term, p: Term, g: Term) -> Term:
        return both(s.part(q, g), s.done(q), s.compacted(q) < s.barrier(p))

    def is_taken(self, s: Any, p: Term, log: Term) -> Term:
        """True if plan p takes the log itself, and not in a base file."""
        return both(s.holds(p, log), s.every(PLAN, lambda q: implies(
            self.is_before(s, q, p, s.group_of(log)), s.barrier(q) <= s.completed(s.write_of(log)))))  # fmt: skip

    def input_is_deleted(self, s: Any, p: Term, g: Term) -> Term:
        """True if a clean has deleted an input of a compaction. A resizer does not check its inputs."""
        return both(no(s.resizes(p)), either(
            s.some(PLAN, lambda q: both(self.is_input(s, p, q, g), s.deleted_base(q, g))),
            s.some(LOG, lambda log: both(s.group_of(log) == g, self.is_taken(s, p, log), s.deleted_log(log))),
        ))  # fmt: skip

    def schedule_clean(self, s: Any, a: Term, o: Term, w: Term) -> Mapping[str, Update]:
        updates = super().schedule_clean(s, a, o, w)

        def base_stays(p: Term, g: Term) -> Term:
            return either(no(s.done(p)), s.some(PLAN, lambda q: both(no(s.done(q)), self.is_input(s, q, p, g))))

        def log_stays(log: Term) -> Term:
            return s.some(PLAN, lambda q: both(
                s.part(q, s.group_of(log)), no(s.done(q)), self.is_taken(s, q, log)))  # fmt: skip

        return {
            **updates,
            "old_base": lambda p, g: either(s.old_base(p, g), both(updates["old_base"](p, g), no(base_stays(p, g)))),
            "old_log": lambda log: either(s.old_log(log), both(updates["old_log"](log), no(log_stays(log)))),
        }

    def clauses(self) -> dict[str, Formula]:
        return super().clauses() | {
            SERVED: lambda s: self.inputs_stay(s, s.old_base, s.old_log),
            COMPLETE: lambda s: s.every(PLAN, GROUP, lambda p, g: implies(s.old_base(p, g), s.done(p))),
        }

    def plans_are_served(self, s: Any) -> Term:
        """True if no clean has deleted an input of a pending plan."""
        return self.inputs_stay(s, s.deleted_base, s.deleted_log)

    def inputs_stay(self, s: Any, base: Callable[[Term, Term], Term], log: Callable[[Term], Term]) -> Term:
        """True if the relations `base` and `log` contain no input of a pending plan."""
        return s.every(PLAN, lambda p: implies(both(s.planned(p), no(s.done(p))), both(
            s.every(PLAN, GROUP, lambda q, g: implies(self.is_input(s, p, q, g), no(base(q, g)))),
            s.every(LOG, lambda each: implies(
                both(s.part(p, s.group_of(each)), self.is_taken(s, p, each)), no(log(each)))),
        )))  # fmt: skip
