"""Two-phase commit over a lossless channel: a small system of known size, to calibrate the search with.

The system is the one that TLA+ examples and other checkers publish sizes of: 3 resource managers have 288 states,
1,146 generated, depth 11. What was sent stays sent: a message may be received again, which changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from nbcc.model.machine.transition import Args

from .rows import Guard, Row, RowSystem

Names = frozenset[str]
COMMIT, ABORT = "commit", "abort"


class TwoPhaseCommit(RowSystem):
    """The transaction manager `tm` and its resource managers; anybody may abort until all are prepared.

    `told` is whom the transaction manager knows to be prepared; `sent` is who has said so, and what it has decided.
    """

    def __init__(self, resource_managers: int) -> None:
        self.managers = tuple(f"rm{i + 1}" for i in range(resource_managers))
        first = {"tm": "init", "told": frozenset(), "sent": frozenset(), **dict.fromkeys(self.managers, "working")}
        super().__init__(first, self._rows(), {})

    def _rows(self) -> Iterator[Row]:
        everything, undecided = ("tm", "told", "sent"), (_at("tm", "init"),)
        all_told = Guard("all must be known to be prepared", lambda tm, told, sent: told == frozenset(self.managers))
        yield Row("manager_commits", "tm", everything, ("tm", "sent"), undecided,
                  lambda tm, told, sent: ("committed", sent | {COMMIT}), (all_told,))  # fmt: skip
        yield Row("manager_aborts", "tm", ("tm", "sent"), ("tm", "sent"), undecided,
                  lambda tm, sent: ("aborted", sent | {ABORT}))  # fmt: skip
        yield Row("manager_hears_prepared", "tm", everything, ("told",), undecided,
                  lambda tm, told, sent, **said: (told | {said["from"]},), choices=self._prepared)  # fmt: skip
        for me in self.managers:
            working = (_at(me, "working"),)
            yield Row("resource_manager_prepares", me, (me, "sent"), (me, "sent"), working,
                      lambda own, sent, me=me: ("prepared", sent | {me}))  # fmt: skip
            yield Row("resource_manager_aborts", me, (me,), (me,), working, lambda own: ("aborted",))
            for word, becomes in ((COMMIT, "committed"), (ABORT, "aborted")):
                heard = Guard(f"{word} must have been sent", lambda own, sent, word=word: word in sent)
                yield Row(f"resource_manager_hears_{word}", me, (me, "sent"), (me,), (),
                          lambda own, sent, becomes=becomes: (becomes,), (heard,))  # fmt: skip

    def _prepared(self, tm: str, told: Names, sent: Names) -> Iterator[Args]:
        return ((("from", me),) for me in self.managers if me in sent)


def _at(who: str, step: str) -> Guard:
    return Guard(f"{who} must be {step}", lambda own: own == step)


class Consistency(NamedTuple):
    """The promise of two-phase commit."""

    name: str = "CONSISTENT"
    kind: str = "state"

    @staticmethod
    def holds(system: TwoPhaseCommit, before: Any, step: Any, after: int) -> str | None:
        """No resource manager has aborted while another has committed."""
        ended = {system.component(after, me): me for me in system.managers}
        if "committed" not in ended or "aborted" not in ended:
            return None
        return f"{ended['committed']} committed and {ended['aborted']} aborted"

    @staticmethod
    def sometimes(system: TwoPhaseCommit, state: int) -> bool:
        """Everybody has committed."""
        return all(system.component(state, me) == "committed" for me in system.managers)

    @staticmethod
    def reads(system: TwoPhaseCommit) -> tuple[str, ...]:
        """What every resource manager has done."""
        return system.managers


CONSISTENT = Consistency()
