"""The rules of a protocol: those of the kernel, refined by every variant and mechanism in their order."""

from __future__ import annotations

from functools import cache

from . import mechanisms
from .kernel.rules import Rules, of_kernel
from .protocol import Protocol


@cache
def rules_of(protocol: Protocol) -> Rules:
    """The composed rules; the same object for equal protocols."""

    def under(**changes: str) -> Rules:
        return rules_of(protocol.replace(**changes))

    rules = of_kernel(protocol.options, under)
    for _, mechanism, _ in mechanisms.in_order():
        if mechanism.rules:
            rules = mechanism.rules(rules, protocol)
    return rules

