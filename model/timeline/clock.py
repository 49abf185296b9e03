"""Where times come from: what an actor reads off its clock, and how long it waits until it goes on (RFC-66, TrueTime).

The component `clock` is the time that has passed on the slowest clock of all. An actor's own clock may be `ahead` of
it, by up to the world's `skew`. TrueTime reads a time under the lock and waits out the bound on the skew before it
gives the lock back, so that whoever reads next, on whatever machine, reads more. A bound that is smaller than the skew
(`skew_beyond`, fault set F4) is waited out in vain.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..actions import Setting
from ..machine.transition import Args
from ..protocol import Protocol
from ..world import World


class Clock(NamedTuple):
    """How times are taken in one setting.

    `most_ahead`: how far an actor's clock may be ahead of the slowest, in ticks; `wait`: how long TrueTime waits;
    `coarse`: a time may be the one that was given last, because both fell into one second.
    """

    most_ahead: int = 0
    wait: int = 0
    coarse: bool = False

    def readings(self) -> Iterable[Args]:
        """What an actor's clock may show now: `ahead` is left out where all clocks are one."""
        if self.coarse:
            return ((("ahead", -1),), (("ahead", 0),))
        if not self.most_ahead:
            return ((),)
        return tuple((("ahead", ahead),) for ahead in range(self.most_ahead + 1))

    def take(self, clock: int, ahead: int = 0, after: int = 0) -> tuple[int, int]:
        """A time greater than `after`, and the time on the slowest clock when the actor goes on."""
        time = max(clock + 1 + ahead, after + 1)
        return time, max(clock + min(1 + ahead, 1), time + self.wait - max(ahead, 0))


def clock_of(world: World, protocol: Protocol) -> Clock:
    """The clock of a world under a protocol."""
    if protocol.clock == "seconds":
        return Clock(coarse=True)
    if protocol.clock == "time_service":
        return Clock()
    return Clock(world.skew, world.skew - world.skew_beyond if protocol.clock == "true_time" else 0)


def clock_readings(setting: Setting) -> Iterable[Args]:
    """What an actor's clock may show, as the argument of a step that reads it."""
    return clock_of(setting.world, setting.protocol).readings()


class Requests(NamedTuple):
    """How requested times are taken by one actor.

    Where clocks differ, the actor lists the timeline under the lock and takes a time greater than all that it finds.
    Test-and-set looks at the requested instants of the same action alone: a plan and a write may share a time.
    """

    clock: Clock
    learns: bool
    unique: bool

    @property
    def lists(self) -> bool:
        """Whether an actor lists the timeline for it."""
        return self.learns or self.unique

    def take(self, action: str, clock: int, seen: Iterable[Any], ahead: int = 0, *, after: int = 0) -> tuple[int, int]:
        """As `Clock.take`; `seen` are the completed instants, the plans and, one by one, the writers that it lists."""
        published, plans, *writers = tuple(seen) or ((), ())
        same = plans if action == "commit" else writers
        requested = {entry.requested for entry in published if entry.action == action} | {o.requested for o in same}
        times = {entry.completed for entry in published} | {entry.requested for entry in (*published, *plans, *writers)}
        time, later = self.clock.take(clock, ahead, after=max([after, *times] if self.learns else [after]))
        while self.unique and time in requested:
            time += 1
        return time, max(time, later) if self.unique else later


def requests_of(world: World, protocol: Protocol) -> Requests:
    """How requested times are taken in a world under a protocol."""
    clock, unique = clock_of(world, protocol), protocol.uniqueness == "test_and_set"
    return Requests(clock, clock.most_ahead > 0, unique)


def listed_instants(
    me: str,
    published: tuple[Any, ...],
    plans: tuple[Any, ...],
    every_writer: Mapping[str, Any],
    every_loader: Mapping[str, Any],
) -> Iterable[Any]:
    """The view `listed_instants`: what an actor lists before it takes a requested time."""
    yield published
    yield plans
    yield from (each for name, each in (*every_writer.items(), *every_loader.items()) if name != me)
