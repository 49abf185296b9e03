"""Two-phase commit over a lossless channel: a small system of known size.

TLA+ examples and other model checkers publish its sizes: 3 resource managers have 288 states, 1,146 generated, depth
11. A message stays in the channel: an actor may receive it again, which changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from nbcc.model.machine import Args, Changes, Guard, Transition, TransitionSystem, become, preset, transition

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
        def all_prepared(prepared: Names) -> bool:
            return prepared == frozenset(self.managers)

        def senders(sent: Names) -> Iterable[Args]:
            return [(("sender", me),) for me in self.managers if me in sent]

        undecided, complete = _at("init"), Guard("all must be known to be prepared", all_prepared)
        both = ("own", "sent")
        yield transition("manager_commits", "tm", guards=(undecided, complete), effect=_commits, changes=both)
        yield transition("manager_aborts", "tm", guards=(undecided,), effect=_aborts, changes=both)
        yield transition("manager_hears_prepared", "tm", guards=(undecided,), effect=_hears, changes=("prepared",),
                         arguments=senders)  # fmt: skip
        for me in self.managers:
            yield transition("resource_manager_prepares", me, guards=(_at("working"),), effect=_prepares, changes=both)
            yield transition("resource_manager_aborts", me, guards=(_at("working"),), effect=become("aborted"))
            for word, becomes in ((COMMIT, "committed"), (ABORT, "aborted")):
                heard = Guard(f"{word} must have been sent", preset(_is_sent, word=word))
                yield transition(f"resource_manager_hears_{word}", me, guards=(heard,), effect=become(becomes))


def _commits(sent: Names) -> Changes:
    return {"own": "committed", "sent": sent | {COMMIT}}


def _aborts(sent: Names) -> Changes:
    return {"own": "aborted", "sent": sent | {ABORT}}


def _hears(prepared: Names, *, sender: str) -> Changes:
    return {"prepared": prepared | {sender}}


def _prepares(me: str, sent: Names) -> Changes:
    return {"own": "prepared", "sent": sent | {me}}


def _is_sent(sent: Names, word: str) -> bool:
    return word in sent


def seven_managers() -> TwoPhaseCommit:
    """Return the model with seven resource managers (296,448 states), for `nbcc explore`."""
    return TwoPhaseCommit(7)


def _at(step: str) -> Guard:
    return Guard(f"{{me}} must be {step}", lambda own: own == step)
