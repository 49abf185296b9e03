"""The conditions under which an actor goes on while a restore may have undone what it works on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...machine.transition import Guard, given
from ...timeline.publication import Check
from . import Restore, is_undone, loses_input


def is_not_undone(own: Any, restores: tuple[Restore, ...], field: str) -> bool:
    return not is_undone(restores, getattr(own, field))


def keeps_input(own: Any, restores: tuple[Restore, ...], group_of: Callable[[Any], int]) -> bool:
    return not loses_input(own.plan, group_of(own), restores)


PLAN_STANDS = Guard("no restore may have undone its plan", given(is_not_undone, field="plan"))
"""The condition under which a runner starts its plan."""


def input_stands(group_of: Callable[[Any], int]) -> Guard:
    """The condition under which a runner reads the files of the file group `group_of(own)`."""
    return Guard("no restore may have deleted what the plan takes", given(keeps_input, group_of=group_of))


def stands(field: str) -> Check:
    """The condition under which an actor publishes; `field` has the requested time."""
    return Check(Guard("no restore may have undone its instant", given(is_not_undone, field=field)))
