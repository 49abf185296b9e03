"""Conditions that rows of several actors share.

An actor's component is a NamedTuple with `step`, `dead` (once it crashed) and `busy` (in the midst of an operation)."""

from __future__ import annotations

from .step import Guard


def at(me: str, step: str) -> Guard:
    """The actor is alive and at this step."""
    return Guard(f"{me} must be {step}", lambda own: own.step == step and not own.dead)


def lock_is_free(position: int = 1) -> Guard:
    """Nobody holds the lock; `position` is the lock's place among what the row reads."""
    return Guard("the lock must be free", lambda *values: values[position] is None, rests_on=("lock",))


def holds_lock(me: str, position: int = 1) -> Guard:
    """The actor itself holds the lock."""
    return Guard(f"{me} must hold the lock", lambda *values: values[position] == me)
