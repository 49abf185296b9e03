"""Heartbeats and deaths of processes that a test controls."""

from __future__ import annotations

from dataclasses import dataclass, field


class Died(BaseException):
    """Of a process: nothing that it would do at the end is done."""


def dies(*_: object, **__: object) -> None:
    raise Died


@dataclass
class Heartbeats:
    """Heartbeats that stop when a test says so."""

    beating: set[str] = field(default_factory=set)

    def start(self, requested: str) -> None:
        self.beating.add(requested)

    def is_alive(self, requested: str) -> bool:
        return requested in self.beating

    def stop(self, requested: str) -> None:
        self.beating.discard(requested)

    def stop_renewing(self, requested: str) -> None:
        self.beating.discard(requested)
