"""Two-phase commit over a lossless channel: a small system of known size, to calibrate the search with.

The system is the one that TLA+ examples and other checkers publish sizes of: 3 resource managers have 288 states,
1,146 generated, depth 11. A state is one tuple of small ints: the transaction manager, what it was told (bits), what
was sent (bits), and each resource manager.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

WORKING, PREPARED, COMMITTED, ABORTED = range(4)
INIT, DONE_COMMITTED, DONE_ABORTED = range(3)
COMMIT_SENT, ABORT_SENT = 1, 2
TM, TOLD, SENT, FIRST = range(4)
State = tuple[int, ...]


class Step(NamedTuple):
    """One action; the actor is the transaction manager `tm` or a resource manager `rm1`, `rm2`, ..."""

    actor: str
    action: str
    args: tuple[tuple[str, object], ...] = ()


@dataclass(frozen=True, slots=True)
class TwoPhaseCommit:
    """The transaction manager `tm` and its resource managers; anybody may abort until all are prepared."""

    resource_managers: int

    @property
    def initial(self) -> State:
        """Everybody works, nobody has said anything."""
        return (INIT, 0, 0, *(WORKING,) * self.resource_managers)

    def successors(self, state: State) -> Iterator[tuple[Step, State]]:
        """Every step that can happen, also one that changes nothing (a message may be received again)."""
        tm, told, sent, *managers = state
        rest = state[FIRST:]
        if tm == INIT:
            if told == (1 << self.resource_managers) - 1:
                yield Step("tm", "manager_commits"), (DONE_COMMITTED, told, sent | COMMIT_SENT, *rest)
            yield Step("tm", "manager_aborts"), (DONE_ABORTED, told, sent | ABORT_SENT, *rest)
        for i, manager in enumerate(managers):
            me, bit = f"rm{i + 1}", 1 << i
            if tm == INIT and sent & (bit << 2):
                yield Step("tm", "manager_hears_prepared", (("from", me),)), (tm, told | bit, sent, *rest)
            if manager == WORKING:
                prepared = (tm, told, sent | (bit << 2), *rest[:i], PREPARED, *rest[i + 1 :])
                yield Step(me, "resource_manager_prepares"), prepared
                yield Step(me, "resource_manager_aborts"), (tm, told, sent, *rest[:i], ABORTED, *rest[i + 1 :])
            if sent & COMMIT_SENT:
                after = (tm, told, sent, *rest[:i], COMMITTED, *rest[i + 1 :])
                yield Step(me, "resource_manager_hears_commit"), after
            if sent & ABORT_SENT:
                after = (tm, told, sent, *rest[:i], ABORTED, *rest[i + 1 :])
                yield Step(me, "resource_manager_hears_abort"), after


class Consistency(NamedTuple):
    """The promise of two-phase commit."""

    name: str = "CONSISTENT"
    kind: str = "state"

    @staticmethod
    def holds(system: TwoPhaseCommit, before: State | None, step: Step | None, after: State) -> str | None:
        """No resource manager has aborted while another has committed."""
        managers = after[FIRST:]
        if COMMITTED not in managers or ABORTED not in managers:
            return None
        return f"rm{managers.index(COMMITTED) + 1} committed and rm{managers.index(ABORTED) + 1} aborted"

    @staticmethod
    def sometimes(system: TwoPhaseCommit, state: State) -> bool:
        """Everybody has committed."""
        return all(manager == COMMITTED for manager in state[FIRST:])


CONSISTENT = Consistency()
