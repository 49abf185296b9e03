"""The rules of a protocol: those of the kernel, refined by every variant and mechanism in their order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from . import mechanisms
from .kernel.rules import Rules, of_kernel
from .machine.mechanism import Mechanism
from .protocol import Protocol


@cache
def rules_of(protocol: Protocol) -> Rules:
    """The composed rules; the same object for equal protocols."""

    def under(**changes: str) -> Rules:
        return rules_of(protocol.replace(**changes))

    rules = of_kernel(protocol.options, under)
    for mechanism in in_order(mechanisms.every()):
        if mechanism.rules:
            rules = mechanism.rules(rules, protocol)
    return rules


def in_order(found: Mapping[str, Mechanism]) -> Iterator[Mechanism]:
    """Mechanisms in the order of their names, each after those that it names in `after`."""
    done: set[str] = set()

    def visit(name: str) -> Iterator[Mechanism]:
        if name not in done:
            done.add(name)
            for earlier in found[name].after:
                yield from visit(earlier)
            yield found[name]

    for name in found:
        yield from visit(name)
