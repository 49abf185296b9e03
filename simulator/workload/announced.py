"""Commits that writers announce, so that another actor may decide them (`nbcc.decision` = shared or free).

One entry of the decision log decides all instants that are announced and undecided. Its author puts them on the
timeline in the order of the entry, one after the other or at the same time (`publication`). With `shared` the holder of
the lock is the author. With `free` every writer tries to create the next entry, and one of them succeeds.

Requests are sent in the rounds of the engine (`engine.writes.announced`). A round takes effect when it is answered.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import simpy

if TYPE_CHECKING:
    from .simulation import Events, Simulation

Round = Mapping[str, int]
"""Requests that are sent at the same time, by verb."""
ANNOUNCE: Final[Sequence[Round]] = ({"list": 1, "put": 1},)  # the markers, the announcement
CLAIM: Final = {"put": 1}  # of the time that a writer requests without the lock, while it lists the timeline
FLOOR: Final = {"get": 1}  # of the archiver, which a writer without the lock reads while it puts its inflight state
FLOORS: Final = {"list": 1}  # the same, of a table whose archivers take no lock, either
LIST: Final[Sequence[Round]] = ({"list": 1},)  # the decision log
READ: Final[Sequence[Round]] = ({"get": 1},)  # the last entry
LOOK: Final[Sequence[Round]] = ({"list": 2},)  # the announcements and the timeline
FRESH: Final = 1.0  # seconds for which a writer that is alone relies on what it has seen (engine.writes.looking_ahead)
BOTH: Final[Sequence[Round]] = ({"list": 1, "put": 2}, {"list": 1})  # announces and creates; the cuts
CREATE: Final[Sequence[Round]] = ({"put": 1},)
CHECK: Final[Sequence[Round]] = ({"list": 1},)  # the cuts
POLL: Final = {"get": 2}  # the lock, and the own announcement, which is deleted when its instant is published
POLL_PAUSE: Final = 0.045
"""Mean seconds between the polls of a waiting writer (engine.lock.protocol): they grow from 0.015 to 0.12."""
FOUND: Final[Sequence[Round]] = ({"list": 1},)  # the timeline
WIDTH: Final = 8  # the engine's requests at the same time (engine.storage.requests.WIDTH)
LOOKS: Final = 2  # requests in the time that the engine takes for one publication when it waits for an author
STORM: Final = 0.02
"""Seconds of the longest pause after a failed create; it doubles with each (engine.writes.announced)."""


class AnnouncedCommit:
    """An announced instant, which writes to some file groups. `complete` puts it on the simulated timeline.

    `later` returns how many commits its conflict check reads, and whether one of them conflicts; it is None if the
    writer checks nothing. `settled` triggers with True when the instant is published, and with False if it conflicts.
    `forgotten` triggers when its announcement is deleted, by which a waiting writer finds that its instant is settled.
    `failed_creates` counts the entries that its writer did not create because another author had.
    """

    def __init__(
        self, env: simpy.Environment, groups: Sequence[int], complete: Callable[[], None],
        later: Callable[[], tuple[int, bool]] | None,
    ) -> None:  # fmt: skip
        self.settled, self.groups, self.later, self._complete = env.event(), groups, later, complete
        self.forgotten = env.event()
        self.failed_creates = 0

    def publish(self) -> None:
        """Complete the instant, unless another actor has done so."""
        if not self.settled.triggered:
            self._complete()
            self.settled.succeed(True)


class Announcements(ABC):
    """The announced instants of a table, and the entries of its decision log."""

    def __init__(self, run: Simulation) -> None:
        self._run = run
        self._undecided: dict[AnnouncedCommit, None] = {}
        self.entries: list[Sequence[AnnouncedCommit]] = [()]
        self._known: dict[object, int] = {}  # the number of the last entry that each actor knows

    def commit(self, actor: object, own: AnnouncedCommit, crashes_at: float) -> Events:
        """Announce an instant and wait until it is published. Returns False if the writer crashed before that, or did
        not get the lock in time. Another actor may publish the instant all the same.
        """
        yield from self._rounds(ANNOUNCE)
        self._undecided[own] = None
        done: bool = yield from self._decided(actor, own, crashes_at)
        return done

    def looking_ahead(self, actor: object) -> simpy.Event | None:
        """Let an actor look at the decision log while it puts its data files, if it is probably alone. The value of the
        event is the number of the last entry, or None if the actor is not alone.
        """
        return None

    def _learn(self, actor: object) -> Events:
        """List the decision log, read its last entry unless the actor knows it, and return the number of entries."""
        yield from self._rounds(LIST)
        tail = len(self.entries)
        if self._known.get(actor) != tail:
            yield from self._rounds(READ)
            self._known[actor] = tail
        return tail

    @abstractmethod
    def _decided(self, actor: object, own: AnnouncedCommit, crashes_at: float) -> Events:
        """Wait until the instant is decided and published."""

    def _rounds(self, rounds: Sequence[Round]) -> Events:
        for each in rounds:
            yield self._run.env.timeout(self._run.round(each))
            yield self._run.compute(sum(each.values()) * self._run.store.core_seconds)

    def _each(self, verb: str, count: int) -> Events:
        """Send requests of one kind, as many at the same time as the engine does."""
        full, rest = divmod(count, WIDTH)
        yield from self._rounds([{verb: WIDTH}] * full + [{verb: rest}] * bool(rest))

    def _entry(self) -> Events:
        """Look for the undecided instants, and return those that the next entry decides."""
        yield from self._rounds(LOOK)
        if not any(item.later for item in self._undecided):
            return [*self._undecided]
        items: list[AnnouncedCommit] = []
        taken: set[int] = set()
        reads = 0
        for item in [*self._undecided]:
            unread, has_conflict = item.later() if item.later else (0, False)
            reads = max(reads, unread)
            if has_conflict or (item.later and not taken.isdisjoint(item.groups)):
                del self._undecided[item]
                item.settled.succeed(False)
                item.forgotten.succeed()
                continue
            items.append(item)
            taken.update(item.groups)
        yield from self._rounds([{"get": 1}] * reads)
        return items

    def _create(self, actor: object, tail: int, items: Sequence[AnnouncedCommit]) -> Events:
        """Create the entry after the tail. Returns whether no other author has created it."""
        yield from self._rounds(CREATE)
        if len(self.entries) != tail:
            return False
        self.entries.append(items)
        self._known[actor] = len(self.entries)
        for item in items:
            self._undecided.pop(item, None)
        yield from self._rounds(CHECK)
        return True

    def _publish(self, items: Sequence[AnnouncedCommit], crashes_at: float) -> Events:
        """Publish the instants of an entry in ascending order. Returns False if the author crashed before the end."""
        yield from self._each("get", max(0, len(items) - 1))  # what the others have announced
        for item in items:
            yield from self._rounds([{"put": 1}])
            if self._run.env.now >= crashes_at:
                return False
            item.publish()
        return True


class SharedDecisions(Announcements):
    """The holder of the lock decides all announced instants; a writer that waits returns when its own is published."""

    def __init__(self, run: Simulation) -> None:
        super().__init__(run)
        run.lock.poll_for(POLL, POLL_PAUSE)

    def _decided(self, actor: object, own: AnnouncedCommit, crashes_at: float) -> Events:
        lock, env = self._run.lock, self._run.env
        turn = lock.ask(actor)
        yield turn | own.forgotten
        if not turn.triggered and not lock.is_next(turn):
            lock.withdraw(turn)
            yield env.timeout(self._run.chance.random() * lock.interval())  # until it looks
            yield from self._rounds(FOUND)
            return True
        acquired = yield turn  # an attempt that finds the lock free takes it, also if the instant is published
        if acquired is None:
            self._run.measures.lock_timeouts += 1
            return False
        began, items = env.now, list[AnnouncedCommit]()
        tail = yield from self._learn(actor)
        left = [item for item in self.entries[tail - 1] if not item.settled.triggered]
        if left:  # its author has crashed
            yield from self._rounds(LOOK)
            items = left
        elif own.settled.triggered:
            yield from self._rounds(FOUND)
        else:
            items = yield from self._entry()
        if items and not left:
            yield from self._create(actor, tail, items)
        if not (yield from self._publish(items, crashes_at)):
            env.process(self._run.expire(env.now - began))
            return False
        release = lock.released()  # at the same time as the deletes
        yield from self._each("delete", min(1, len(items)))
        yield env.timeout(0.0 if items else release)
        lock.free(env.now - began)
        for item in {*items, *self.entries[tail - 1]}:
            if item.settled.triggered and not item.forgotten.triggered:
                item.forgotten.succeed()
        self._run.measures.lock_by["commits"] += env.now - began
        if not own.settled.triggered:  # it has published the entry of another author alone
            return (yield from self._decided(actor, own, crashes_at))
        return True


class FreeDecisions(Announcements):
    """Every writer learns the tail, sees it published, and creates the next entry for all announced instants."""

    def __init__(self, run: Simulation) -> None:
        super().__init__(run)
        self._created: dict[object, int] = {}  # the number of the last entry that each actor has created
        self._outlooks: dict[object, simpy.Event] = {}

    def looking_ahead(self, actor: object) -> simpy.Event | None:
        if actor not in self._created or self._known[actor] != self._created[actor]:
            return None
        self._outlooks[actor] = looks = self._run.env.process(self._outlook(actor))
        return looks

    def _outlook(self, actor: object) -> Events:
        began = self._run.env.now
        tail = yield from self._learn(actor)
        if tail != self._created[actor]:
            return None
        yield from self._rounds(LOOK)
        alone = not self._undecided and not _unpublished(self.entries[tail - 1])
        return (tail, began) if alone else None

    def commit(self, actor: object, own: AnnouncedCommit, crashes_at: float) -> Events:
        """Announce an instant and wait until it is published. A writer that has created the last entry, and has seen no
        announcement, creates the next entry at the same time.
        """
        looks, outlook = self._outlooks.pop(actor, None), None
        if looks is not None:
            outlook = yield looks
        if outlook is None or own.later or self._run.env.now - outlook[1] >= FRESH:
            done: bool = yield from super().commit(actor, own, crashes_at)
            return done
        yield from self._rounds(BOTH)
        if len(self.entries) == outlook[0]:
            self.entries.append([own])
            self._known[actor] = self._created[actor] = len(self.entries)
            self._run.measures.requests["delete"] += 1  # the announcement, during the clean-up
            done = yield from self._publish([own], crashes_at)
        else:
            own.failed_creates += 1
            self._undecided[own] = None
            yield from self._rounds(READ)  # the entry of the faster author
            self._known[actor] = outlook[0] + 1
            done = yield from self._decided(actor, own, crashes_at)
        return done

    def _create(self, actor: object, tail: int, items: Sequence[AnnouncedCommit]) -> Events:
        done: bool = yield from super()._create(actor, tail, items)
        if done:
            self._created[actor] = len(self.entries)
        return done

    def _decided(self, actor: object, own: AnnouncedCommit, crashes_at: float) -> Events:
        env, pause = self._run.env, STORM
        while True:
            tail = yield from self._learn(actor)
            last = self.entries[tail - 1]
            if own in last:
                yield from self._await(last, own, crashes_at)
                return own.settled.triggered
            items: Sequence[AnnouncedCommit] = yield from self._entry()
            if _unpublished(last):
                yield from self._await(last, last[-1], crashes_at)
                if env.now >= crashes_at:
                    return False
            elif own.settled.triggered:
                return True
            elif items and (yield from self._create(actor, tail, items)):
                self._run.measures.requests["delete"] += 1  # all announcements, during the clean-up
                done: bool = yield from self._publish(items, crashes_at)
                return done
            elif items:
                own.failed_creates += 1
                yield from self._rounds(READ)  # the entry of the faster author
                self._known[actor] = tail + 1
                if own in self.entries[tail]:
                    yield from self._await(self.entries[tail], own, crashes_at)
                    return own.settled.triggered
                yield env.timeout(self._run.chance.random() * pause)
                pause *= 2

    def _publish(self, items: Sequence[AnnouncedCommit], crashes_at: float) -> Events:
        """Publish the instants of an entry, at the same time if the table allows it."""
        if self._run.scenario.lock.publication == "ascending":
            done: bool = yield from super()._publish(items, crashes_at)
            return done
        yield from self._each("get", max(0, len(items) - 1))
        for begin in range(0, len(items), WIDTH):
            together = items[begin : begin + WIDTH]
            yield from self._rounds([{"put": len(together)}])
            if self._run.env.now >= crashes_at:
                return False
            for item in together:
                item.publish()
        return True

    def _await(self, entry: Sequence[AnnouncedCommit], last: AnnouncedCommit, crashes_at: float) -> Events:
        """Wait until an instant of an entry is published, and publish it if nothing moves."""
        env, one = self._run.env, self._run.sampler.mean("put")
        items = entry[: entry.index(last) + 1]
        left = len(items)
        while left:
            rounds = left if self._run.scenario.lock.publication == "ascending" else -(-left // WIDTH)
            yield env.timeout(rounds * LOOKS * one)
            yield from self._rounds(FOUND)
            before, left = left, _unpublished(items)
            if left and left == before:
                yield from self._publish(items[-left:], crashes_at)
                return


def _unpublished(items: Sequence[AnnouncedCommit]) -> int:
    return sum(not item.settled.triggered for item in items)
