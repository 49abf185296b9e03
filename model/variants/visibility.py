"""Readers that show more, or less, than completed instants."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from ..kernel.rules import Rules
from ..machine.mechanism import Mechanism
from ..machine.options import Options, choice

if TYPE_CHECKING:
    from ..protocol import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Visibility(Options):
    """Readers that show more, or less, than completed instants."""

    visibility: Literal["completed", "any", "all_earlier", "unless_pending"] = choice(
        "completed",
        "Which logs a reader shows: those of completed instants; any; all_earlier: those of completed instants before "
        "the oldest pending request; unless_pending: those whose instant is not pending on the active timeline.",
    )


def refined(rules: Rules, protocol: Protocol) -> Rules:
    """The rules under `visibility`."""
    return rules if protocol[Visibility].visibility == "completed" else with_pending(rules)


def with_pending(rules: Rules) -> Rules:
    """The rules under which a pending instant is visible from its requested time on."""
    inner = rules.is_visible

    def is_visible(requested: int, completed: int | None, time: float) -> bool:
        return requested <= time if completed is None else inner(requested, completed, time)

    return replace(rules, is_visible=is_visible)


MECHANISM = Mechanism(options=Visibility, rules=refined)
