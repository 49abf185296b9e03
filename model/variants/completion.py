"""In this variant, an actor chooses its completion time before acquiring the lock. The lock then covers only the
publication.

RFC-66, "Assumption On Locks", requires one lock for the completion time and the publication. If an actor chooses its
completion time before acquiring the lock, instants may be published out of completion-time order. Out-of-order
publication makes a reader miss each instant that completed before the reader's time but is published after the read.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from ..kernel.publication import (
    BEGINS,
    COMMITS,
    PUBLISHES,
    READY,
    TAKES_COMPLETION_TIME,
    TAKES_LOCK,
    Publication,
)
from ..machine.composition import Composition
from ..machine.mechanism import Mechanism
from ..machine.options import Options, option
from ..mechanisms import PUBLISHER
from ..mechanisms.decision_log import is_decided_by_log

TIMED_EARLY = "given a completion time"


class Completion(Options):
    """The option that decides whether an actor takes its completion time under the lock or before acquiring it."""

    completion_time: Literal["under_lock", "outside_lock"] = option(
        "under_lock",
        "under_lock: the completion time is taken under the lock that also covers publication; outside_lock: before "
        "that lock is taken",
        by=(PUBLISHER,),
    )


def compose(composition: Composition) -> None:
    """Let actors with the option value `outside_lock` take the completion time before they take the lock."""

    def exchange(each: Publication) -> None:
        me, since = each.actor, each.since
        early = composition.protocol_of(me)[Completion].completion_time == "outside_lock"
        # Under a decision log the entry decides the order, whenever the time is read.
        if early and not is_decided_by_log(composition, each.kind):
            times, locks, publishes = (
                composition.select(tag, actors=[me]) for tag in (TAKES_COMPLETION_TIME, TAKES_LOCK, PUBLISHES)
            )
            times.replace(lambda time: replace(time, at=since, to=TIMED_EARLY, guards=(),
                                               tags=time.tags - {COMMITS} | {BEGINS}))  # fmt: skip
            locks.replace(lambda lock: replace(lock, at=TIMED_EARLY, to=READY)).untag(BEGINS)
            publishes.tag(COMMITS)

    composition.refine_facts(Publication, exchange)


MECHANISM = Mechanism(compose=compose, options=Completion)
