"""Models actors with different clocks, and the TrueTime wait until all clocks have passed a time.

RFC-66, "Global Monotonically Increasing Timestamp", proposes TrueTime. The component (state variable) `clock` is the
time on the slowest clock. An actor's own clock may be up to `skew` ticks ahead of the slowest clock (the one furthest
behind). With TrueTime, an actor reads its clock under the lock, and waits for the clock-skew bound before releasing the
lock. After the wait for the clock-skew bound, every clock shows a later time than the one that the actor read. If the
limit `skew_beyond` is not 0, clocks may differ by more than the clock-skew bound, and the TrueTime wait is too short.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Literal, NamedTuple

from ..kernel.clock import READS_CLOCK, TakeTime
from ..kernel.compactor import COMPACTOR_SCHEDULES_PLAN, log_to_compact
from ..kernel.table import Table
from ..machine.composition import Composition
from ..machine.mechanism import Mechanism
from ..machine.options import Limits, Options, ProtocolOptions, limit, option
from ..machine.transition import Args, preset
from ..rules import Rules
from ..world import World
from .cleaning.mechanism import CLEANER
from .log_compaction.mechanism import LOG_COMPACTOR

LISTED = "listed_instants"
"""The view of the instants that an actor lists before it takes a requested time."""
OTHER_WRITES = "other_writes"
"""The view of the bulk inserters that an actor lists."""
LATEST_ALONE = (CLEANER.name, LOG_COMPACTOR.name)
"""The kinds of actors whose requested time is later than the view `latest_time`, which omits the pending instants of
writers.
"""


class Clocks(Options):
    """The options of clocks: where times come from, and whether requested times are made unique."""

    clock: Literal["true_time", "time_service", "local", "seconds"] = option(
        "true_time",
        "true_time: an actor reads its clock under the lock and waits out the bound on the skew; time_service: every "
        "actor asks one clock; local: an actor reads its own clock and does not wait; seconds: one clock, which may "
        "return a second twice",
    )
    uniqueness: Literal["as_given", "test_and_set"] = option(
        "as_given",
        "as_given: an actor uses the clock reading as its requested time; test_and_set: it puts the requested "
        "instant if absent, and on collision takes the next time",
    )


class Skew(Limits):
    """The limits on the skew between the clocks of two actors."""

    skew: int = limit(0, "how far the clocks of two actors may differ, in ticks")
    skew_beyond: int = limit(0, "by how many ticks the skew exceeds the bound that actors wait out (fault set F4)")


class Clock(NamedTuple):
    """Describes how an actor takes times from its clock.

    `most_ahead` is the greatest number of ticks by which an actor's clock may be ahead of the slowest clock. `wait` is
    the clock-skew bound that an actor waits out, in ticks; 0 if actors do not wait. `coarse` is True if a time may
    equal the previous time, because both fall within the same second.
    """

    most_ahead: int = 0
    wait: int = 0
    coarse: bool = False

    def readings(self) -> Iterable[Args]:
        """Return the possible readings of an actor's clock, as values of the step argument `ahead`. The argument
        `ahead` is omitted if there is no clock skew.
        """
        if self.coarse:
            # -1 returns the second of the reading before, and 0 the next second.
            return ((("ahead", -1),), (("ahead", 0),))
        return tuple((("ahead", ahead),) for ahead in range(self.most_ahead + 1)) if self.most_ahead else ((),)

    def take(self, clock: int, ahead: int, after: int) -> tuple[int, int]:
        """Return a time later than `after`, and the new value of the slowest clock after the actor has waited."""
        time = max(clock + 1 + ahead, after + 1)
        return time, max(clock + min(1 + ahead, 1), time + self.wait - max(ahead, 0))


def clock_of(world: World, protocol: ProtocolOptions) -> Clock:
    """Return the `Clock` (the rules by which actors take times) of a world and a protocol."""
    match protocol[Clocks].clock:
        case "seconds":
            return Clock(coarse=True)
        case "time_service":
            return Clock()
        case "true_time":
            return Clock(world[Skew].skew, world[Skew].skew - world[Skew].skew_beyond)
        case _:
            return Clock(world[Skew].skew)


def compose(composition: Composition) -> None:
    """Let each transition that takes a requested or completion time read its actor's clock."""
    clock = clock_of(composition.world, composition.protocol)
    unique = composition.protocol[Clocks].uniqueness == "test_and_set"
    composition.map_view(LISTED, listed_instants)
    # The default clock is that of the kernel.
    if clock != Clock():
        composition.map_view("completion_time", preset(own_completion_time, own_clock=clock))
        composition.map_view("request_time", preset(own_request_time, own_clock=clock))
    if clock.most_ahead or unique:
        lists = (me for kind, actors in composition.actors.items() if kind not in LATEST_ALONE for me in actors)
        composition.map_view("request_time", preset(listed_request_time, own_clock=clock, unique=unique), lists)
    if clock.readings() != ((),):
        for each in composition.select(READS_CLOCK):
            readings = readings_with_logs if each.action == COMPACTOR_SCHEDULES_PLAN else all_readings
            one = composition.select(each.action, actors=[each.actor])
            one.add_argument(preset(readings, own_clock=clock))


def all_readings(own_clock: Clock) -> Iterable[Args]:
    """Return all possible readings of an actor's clock, as step arguments."""
    return own_clock.readings()


def readings_with_logs(
    own_clock: Clock, clock: int, request_time: TakeTime, completed_table: Table, world: World, rules: Rules
) -> Iterator[Args]:
    """Yield only those clock readings for which a compaction plan would not be empty. With a coarse clock, a plan is
    empty if its requested time precedes the completion times of all logs.
    """
    for args in own_clock.readings():
        ahead = next((value for _, value in args if isinstance(value, int)), 0)
        if log_to_compact(clock, partial(request_time, ahead=ahead), completed_table, world, rules):
            yield args


def own_completion_time(own_clock: Clock, *, ahead: int = 0) -> TakeTime:
    """Define the view `completion_time`: an actor takes completion times from its own clock."""
    return partial(_take, own_clock, ahead_of_slowest=ahead)


def own_request_time(own_clock: Clock, *, ahead: int = 0) -> TakeTime:
    """Define the view `request_time` so that each actor obtains requested times from its own clock."""
    return partial(_take, own_clock, ahead_of_slowest=ahead)


def _take(
    own_clock: Clock, clock: int, after: int = 0, action: str = "", *, ahead_of_slowest: int, ahead: int | None = None
) -> tuple[int, int]:
    return own_clock.take(clock, ahead_of_slowest if ahead is None else ahead, after)


class ListedInstants(NamedTuple):
    """The instants that an actor lists: completed instants, plans, and pending instants of other writers."""

    published: tuple[Any, ...]
    plans: tuple[Any, ...]
    others: tuple[Any, ...]


def listed_instants(
    me: str, published: tuple[Any, ...], plans: tuple[Any, ...], every_writer: Mapping[str, Any],
    other_writes: tuple[Any, ...] = (),
) -> ListedInstants:  # fmt: skip
    """Define the view `listed_instants`: the instants that an actor lists under the lock before taking a requested
    time.

    The view `other_writes` contains the instants of bulk inserters, which write data but are not writers.
    """
    writers = (each for name, each in every_writer.items() if name != me)
    return ListedInstants(published, plans, (*writers, *other_writes))


def listed_request_time(
    request_time: TakeTime, own_clock: Clock, unique: bool, listed_instants: ListedInstants
) -> TakeTime:
    """Define the view `request_time` for worlds in which clocks differ or requested times must be unique.

    If clocks differ, an actor chooses a requested time later than every time on the timeline. Under `test_and_set`, a
    put collides only with an instant of the same action, so a plan and a write may have the same requested time.
    """
    return partial(_take_listed, request_time, own_clock, unique, listed_instants)


def _take_listed(
    request_time: TakeTime, own_clock: Clock, unique: bool, listed: ListedInstants, clock: int, after: int = 0,
    action: str = "", **reading: int,
) -> tuple[int, int]:  # fmt: skip
    published, plans, others = listed
    if own_clock.most_ahead:
        requested = (each.requested for each in (*published, *plans, *others))
        after = max([after, *(entry.completed for entry in published), *requested])
    time, later = request_time(clock, after, action, **reading)
    if not unique:
        return time, later
    same = plans if action == "commit" else others
    taken = {entry.requested for entry in published if entry.action == action} | {each.requested for each in same}
    while time in taken:
        time += 1
    return time, max(time, later)


def check(world: World) -> None:
    """Raise ValueError if `skew_beyond`, the part of the skew that exceeds the clock-skew bound, is greater than the
    whole `skew`.
    """
    if world[Skew].skew_beyond > world[Skew].skew:
        raise ValueError(
            f"world: skew_beyond is a part of skew, found {world[Skew].skew_beyond} of {world[Skew].skew}"
        )


MECHANISM = Mechanism(
    compose=compose,
    options=Clocks,
    after=("*",),
    limits=Skew,
    check=check,
)
