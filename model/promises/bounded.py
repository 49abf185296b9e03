"""Promise BOUNDED: a live actor whose announcement is in storage fails to create at most two entries of the decision
log before its announcement is decided.

The winner of the second entry learned the tail after the announcement, and listed the announcements after that. It has
therefore listed and decided the announcement, in every order of the steps of the other actors.
"""

from __future__ import annotations

from ..kernel.publication import Publication
from ..machine.state import State
from ..machine.transition import DEAD, Step, record_of
from ..mechanisms.announcements.author import Deciding
from ..mechanisms.decision_log import DecisionLog
from ..model import Model
from .promise import Promise

MOST_FAILED = 2
"""How often a live actor may fail to create an entry before its announcement is decided."""


def needs_no_bound(model: Model) -> str | None:
    """Return the reason why promise BOUNDED is not checked for a model; None if it is checked."""
    free = model.protocol[DecisionLog].decision == "free"
    return None if free else "no commit is announced without a lock here"


def bounded_holds(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """Check promise BOUNDED: no live actor has failed more than twice since its announcement."""
    for me in model.composition.facts(Publication):
        own = model.component(after, me)
        if own.step != DEAD and (failed := record_of(own, Deciding).failed) > MOST_FAILED:
            return f"{me} is alive, and failed {failed} times to create an entry after its announcement"
    return None


def has_failed(model: Model, state: State) -> bool:
    return any(record_of(model.component(state, me), Deciding).failed for me in model.composition.facts(Publication))


BOUNDED = Promise(
    name="BOUNDED",
    about="A live actor whose announcement is in storage fails to create at most two entries before its decision.",
    source="docs/contract.md, BOUNDED",
    kind="state",
    holds=bounded_holds,
    sometimes=has_failed,
    reads=lambda model: () if needs_no_bound(model) else tuple(model.composition.facts(Publication)),
    unfit=needs_no_bound,
)
