"""Alterers: a column is added under the lock, and then said by a commit without files, beside whoever works.

The table has the column from the time that is taken with it on. Writers and services that have opened the table before
do not know it; the commit is for readers who take the columns of the newest one for the table's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from ..kernel.lock import LOCK_IS_FREE
from ..kernel.table import Instant
from ..machine.transition import Action, Changes, Guard, Transition, transition
from ..mechanisms.added_columns import Altered
from ..timeline.clock import clock_of, requests_of
from ..timeline.publication import publication, publication_actions
from ..world import World
from . import Setting

KIND, PREFIX = "alterer", "e"
CHOOSES = ("completion_time",)
ACTIONS = (
    Action("alterer_adds_column", "under the lock: takes a time, since which the table has one column more",
           "{actor} adds a column"),
    Action("alterer_requests_instant", "under the lock: takes a requested time and puts the requested instant",
           "{actor} requests an instant"),
    Action("alterer_starts_commit", "puts the inflight instant of a commit without files", "{actor} starts its commit"),
    *publication_actions(KIND),
)  # fmt: skip


class Alterer(NamedTuple):
    """`columns`: how many columns there are with the one that it adds."""

    step: str = "idle"
    columns: int = 0
    requested: int = 0
    completed: int = 0
    inflight: bool = False
    dead: bool = False

    @property
    def busy(self) -> bool:
        """In the midst of an operation."""
        return not self.dead and self.step != "idle"


def components(setting: Setting) -> dict[str, Any]:
    """`schemas`: the times since which the table has one column more each."""
    mine = setting.of(KIND)
    return {**({"schemas": ()} if mine else {}), **{me: Alterer() for me in mine}}


def transitions(setting: Setting) -> Iterator[Transition]:
    for me in setting.of(KIND):
        yield transition("alterer_adds_column", me, at="idle", guards=(LOCK_IS_FREE, CHANGE_LEFT),
                         effect=add_column, changes=("own", "clock", "schemas"))  # fmt: skip
        yield transition("alterer_requests_instant", me, at="about to say so", to="requested", guards=(LOCK_IS_FREE,),
                         effect=request_instant, changes=("own", "clock"))  # fmt: skip
        yield transition("alterer_starts_commit", me, at="requested", to="started", effect=start_commit)
        yield from publication(KIND, me, "started", setting, partial(published_change, me))


def change_is_left(schemas: tuple[int, ...], world: World) -> bool:
    return len(schemas) < world.alterations


CHANGE_LEFT = Guard("a change of columns must be left", change_is_left, limit=True)


def add_column(clock: int, schemas: tuple[int, ...], setting: Setting) -> Changes:
    """Under the lock: from the time that is taken here on, the table has one more column."""
    since, later = clock_of(setting.world, setting.protocol).take(clock)
    return {"own": Alterer("about to say so", len(schemas) + 1), "clock": later, "schemas": (*schemas, since)}


def start_commit(own: Alterer) -> Changes:
    """Put the inflight instant of a commit without files."""
    return {"own": own._replace(inflight=True)}


def request_instant(own: Alterer, clock: int, setting: Setting, listed_instants: list[Any]) -> Changes:
    """Under the lock: take a requested time and put the requested instant."""
    time, later = requests_of(setting.world, setting.protocol).take("deltacommit", clock, listed_instants)
    return {"own": own._replace(requested=time), "clock": later}


def published_change(me: str, own: Alterer) -> tuple[Alterer, Altered]:
    """The alterer after its commit is published, and the entry."""
    return Alterer(), Altered(own.requested, own.completed, me, own.columns)


def pending(every_alterer: Mapping[str, Alterer]) -> Iterator[Instant]:
    """The pending commits that add a column."""
    for own in every_alterer.values():
        if own.requested:
            yield Instant(own.requested, "deltacommit", "inflight" if own.inflight else "requested", None)
