"""Two-phase commit over a lossless channel: a small system of known size.

TLA+ examples and other model checkers publish its sizes: 3 resource managers have 288 states, 1,146 generated, depth
11. A message stays in the channel: an actor may receive it again, which changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from nbcc.simulator.explore import Guard, Transition, TransitionSystem

Names = frozenset[str]
COMMIT, ABORT = "commit", "abort"


class Consistency(NamedTuple):
    """The promise of two-phase commit."""

    name: str = "CONSISTENT"
    kind: str = "state"

    @staticmethod
    def holds(system: TwoPhaseCommit, before: Any, step: Any, after: int) -> str | None:
        """Return None unless a resource manager has aborted while another has committed."""
        ended = {system.component(after, me): me for me in system.managers}
        if "committed" not in ended or "aborted" not in ended:
            return None
        return f"{ended['committed']} committed and {ended['aborted']} aborted"

    @staticmethod
    def sometimes(system: TwoPhaseCommit, state: int) -> bool:
        """Return whether every resource manager has committed."""
        return all(system.component(state, me) == "committed" for me in system.managers)

    @staticmethod
    def reads(system: TwoPhaseCommit) -> tuple[str, ...]:
        """Return the components of the resource managers."""
        return system.managers


class TwoPhaseCommit(TransitionSystem):
    """The transaction manager `tm` and its resource managers. Each manager may abort until all are prepared.

    `prepared`: the resource managers whose message the transaction manager has received; `sent`: all messages.
    """

    promises = (Consistency(),)

    def __init__(self, resource_managers: int = 3) -> None:
        self.managers = tuple(f"rm{i + 1}" for i in range(resource_managers))
        first = {"tm": "init", "prepared": frozenset(), "sent": frozenset(), **dict.fromkeys(self.managers, "working")}
        super().__init__(first, self._transitions(), {})

    def _transitions(self) -> Iterator[Transition]:
        everything, undecided = ("tm", "prepared", "sent"), (_at("tm", "init"),)
        all_prepared = Guard(
            "all must be known to be prepared", lambda tm, prepared, sent: prepared == frozenset(self.managers)
        )
        yield Transition("manager_commits", "tm", everything, ("tm", "sent"), undecided,
                         lambda tm, prepared, sent: ("committed", sent | {COMMIT}), (all_prepared,))  # fmt: skip
        yield Transition("manager_aborts", "tm", ("tm", "sent"), ("tm", "sent"), undecided,
                         lambda tm, sent: ("aborted", sent | {ABORT}))  # fmt: skip
        yield Transition("manager_hears_prepared", "tm", everything, ("prepared",), undecided,
                         lambda tm, prepared, sent, **args: (prepared | {args["from"]},),
                         arguments=self._senders)  # fmt: skip
        for me in self.managers:
            working = (_at(me, "working"),)
            yield Transition("resource_manager_prepares", me, (me, "sent"), (me, "sent"), working,
                             lambda own, sent, me=me: ("prepared", sent | {me}))  # fmt: skip
            yield Transition("resource_manager_aborts", me, (me,), (me,), working, lambda own: ("aborted",))
            for word, becomes in ((COMMIT, "committed"), (ABORT, "aborted")):
                heard = Guard(f"{word} must have been sent", lambda own, sent, word=word: word in sent)
                yield Transition(f"resource_manager_hears_{word}", me, (me, "sent"), (me,), (),
                                 lambda own, sent, becomes=becomes: (becomes,), (heard,))  # fmt: skip

    def _senders(self, tm: str, prepared: Names, sent: Names) -> Iterator[tuple[tuple[str, object], ...]]:
        return ((("from", me),) for me in self.managers if me in sent)


def seven_managers() -> TwoPhaseCommit:
    """Return the model with seven resource managers (296,448 states), for `nbcc explore`."""
    return TwoPhaseCommit(7)


def _at(actor: str, step: str) -> Guard:
    return Guard(f"{actor} must be {step}", lambda own: own == step)
