"""Models the second lock option of RFC-22: lock files with increasing numbers, each created only if absent.

The model follows RFC-22, section "Locking", and the engine's lock `nbcc.engine.lock.numbered.NumberedLock`. Each
transition performs at most one request to the store, or one listing and the reads that follow it. Creating a lock file
may fail in the same ways as writing the lease in `storage_lock`. Heartbeats and releases never fail in the model,
because retrying them is harmless.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

from nbcc.model.machine import Changes, Transition
from nbcc.model.machine.transition import DEAD, go_to

from .limits import LockLimits
from .lock_model import LockModel

IDLE, CLEARING, CREATING, CHECKING, VERIFYING, TIDYING, HOLDING, RENEWING, LOST, RELEASING = (
    "idle", "clearing", "creating", "checking", "verifying", "tidying", "holding", "renewing", "lost", "releasing",
)  # fmt: skip
UNDER_WAY: Final = (CREATING, CHECKING, VERIFYING, TIDYING, RENEWING, RELEASING)


class Number(NamedTuple):
    """A numbered lock, as described by its files in the store. `since` is the time of the newest heartbeat or, without
    a heartbeat, the time in the lock file.
    """

    number: int
    owner: str
    attempt: int
    since: int
    released: bool = False


Numbers = tuple[Number, ...]


class NumberedContender(NamedTuple):
    """A contender (actor) that competes for a numbered lock. `since` is the time of the contender's newest heartbeat.
    `until` is the end of the lease that the contender holds, or None. `beat` is the time of a pending heartbeat.
    Other fields are as in `storage_lock.Contender`.
    """

    step: str = IDLE
    clock: int = 0
    number: int = 0
    since: int = 0
    beat: int = 0
    until: int | None = None
    tries: int = 0
    attempts: tuple[int, ...] = ()

    @property
    def is_alive(self) -> bool:
        return self.step != DEAD

    @property
    def holds(self) -> bool:
        """True if the contender has the lock, and the contender's clock has not passed the end of the lease."""
        return self.is_alive and self.until is not None and self.clock <= self.until


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberedLockRules:
    """The rules of the lock protocol. Every value of a rule except the default is a mutant (deliberate error).

    `margin` is the number of ticks between the end of a lease and the earliest takeover by another contender.
    `recognises_own` makes a contender read the lock file after a put with an unknown outcome, to find out whether the
    put was executed. `renews_late` makes a heartbeat extend the lease even after the lease has ended. `tidies_newest`
    makes the holder delete its own lock file as well as those with lower numbers. `is_conditional` makes the store
    create a lock file only if no file with the same number exists.
    """

    margin: int = 1
    recognises_own: bool = True
    renews_late: bool = False
    tidies_newest: bool = False
    is_conditional: bool = True


class NumberedLockModel(LockModel):
    """A model of contenders (actors) that compete for a numbered lock."""

    stored = "numbers"
    under_way = UNDER_WAY

    def __init__(self, limits: LockLimits | None = None, rules: NumberedLockRules | None = None) -> None:
        self.rules = rules or NumberedLockRules()
        super().__init__(limits or LockLimits(), (), NumberedContender())

    def _transitions(self, me: str) -> Iterator[Transition]:
        contender, one = _NumberedEffects(me, self.limits, self.rules), partial(self._one, me)
        yield from (
            one("contender_finds_number_free", IDLE, contender.take, contender.finds_free),
            one("contender_finds_number_taken", IDLE, contender.wait, contender.finds_taken),
            one("contender_finds_lease_expired", IDLE, contender.clear, contender.finds_expired),
            one("contender_releases_for_another", CLEARING, contender.release_newest),
            one("number_is_created", CREATING, contender.create, contender.may_create),
            one("number_is_refused", CREATING, go_to(IDLE), contender.may_not_create),
            one("answer_is_lost", CREATING, contender.create_unanswered, contender.may_create, fault=True),
            one("request_is_lost", CREATING, go_to(CHECKING), fault=True),
            one("contender_recognises_number", CHECKING, go_to(VERIFYING), contender.recognises),
            one("contender_repeats_put", CHECKING, go_to(CREATING), contender.is_absent),
            one("contender_finds_another_owner", CHECKING, go_to(IDLE), contender.finds_another),
            one("check_fails", CHECKING, go_to(IDLE), held=contender.owns, fault=True),
            one("contender_has_newest_number", VERIFYING, contender.tidy_next, contender.has_newest),
            one("contender_finds_newer_number", VERIFYING, go_to(IDLE), contender.has_older),
            one("contender_tidies", TIDYING, contender.tidy, held=lambda: True),
            one("contender_begins_renewal", HOLDING, contender.renew, contender.may_renew),
            one("heartbeat_is_put", RENEWING, contender.beat),
            one("contender_begins_release", HOLDING, contender.release),
            one("contender_releases_lost_lock", LOST, contender.release),
            one("release_is_put", RELEASING, contender.end),
        )

    def refused(self, state: int) -> list[str]:
        numbers, refused = self.component(state, "numbers"), []
        for name in self.contenders:
            own = self.contender(state, name)
            # By the guard of the step itself: a contender is refused exactly if it finds the number taken.
            if own.step == IDLE and _NumberedEffects(name, self.limits, self.rules).finds_taken(own, numbers):
                refused.append(name)
        return refused

    def owner(self, stored: Numbers) -> str | None:
        return newest(stored).owner if stored else None


def newest(numbers: Numbers) -> Number:
    """Return the lock with the greatest number."""
    return max(numbers)


class _NumberedEffects:
    """The guards and effects of one contender's transitions."""

    def __init__(self, me: str, limits: LockLimits, rules: NumberedLockRules) -> None:
        self.me, self.limits, self.rules = me, limits, rules

    def finds_free(self, own: NumberedContender, numbers: Numbers) -> bool:
        """the contender must have attempts left, and the newest lock must be released"""
        return self._may_try(own) and (not numbers or newest(numbers).released)

    def finds_expired(self, own: NumberedContender, numbers: Numbers) -> bool:
        """the contender must have attempts left, and the newest lock must be its own or have expired"""
        return self._may_try(own) and self._may_clear(own, numbers)

    def finds_taken(self, own: NumberedContender, numbers: Numbers) -> bool:
        """the newest lock must be held by another contender, and its lease must not have expired"""
        return bool(numbers) and not newest(numbers).released and not self._may_clear(own, numbers)

    def _may_clear(self, own: NumberedContender, numbers: Numbers) -> bool:
        if not numbers or newest(numbers).released:
            return False
        last = newest(numbers)
        # Its own, by a put whose outcome the contender never learned.
        is_own = last.owner == self.me and last.attempt in own.attempts
        return is_own or own.clock > last.since + self.limits.lease + self.rules.margin

    def may_create(self, own: NumberedContender, numbers: Numbers) -> bool:
        """a lock with the contender's number must not exist"""
        return self._entry(own, numbers) is None or not self.rules.is_conditional

    def may_not_create(self, own: NumberedContender, numbers: Numbers) -> bool:
        """a lock with the contender's number must exist"""
        return not self.may_create(own, numbers)

    def is_absent(self, own: NumberedContender, numbers: Numbers) -> bool:
        """a lock with the contender's number must not exist"""
        return self._entry(own, numbers) is None

    def is_present(self, own: NumberedContender, numbers: Numbers) -> bool:
        """a lock with the contender's number must exist"""
        return self._entry(own, numbers) is not None

    def recognises(self, own: NumberedContender, numbers: Numbers) -> bool:
        """the lock file must have the content that the contender wrote"""
        return self.rules.recognises_own and self.owns(own, numbers)

    def finds_another(self, own: NumberedContender, numbers: Numbers) -> bool:
        """the lock file must have been written by another contender"""
        return self.is_present(own, numbers) and not self.recognises(own, numbers)

    def has_newest(self, own: NumberedContender, numbers: Numbers) -> bool:
        """the contender's lock must be the newest, and must not be released"""
        return bool(numbers) and newest(numbers).number == own.number and not newest(numbers).released

    def has_older(self, own: NumberedContender, numbers: Numbers) -> bool:
        """the contender's lock must be released, or a newer lock must exist"""
        return not self.has_newest(own, numbers)

    def may_renew(self, own: NumberedContender) -> bool:
        """the contender's clock must have advanced since the last heartbeat"""
        return own.clock > own.since and (self.rules.renews_late or own.holds)

    def take(self, own: NumberedContender, numbers: Numbers) -> Changes:
        return {"own": self._begin(own, newest(numbers).number + 1 if numbers else 1)}

    def wait(self) -> Changes:
        return {}

    def clear(self, own: NumberedContender, numbers: Numbers) -> Changes:
        return {"own": own._replace(step=CLEARING, number=newest(numbers).number)}

    def release_newest(self, own: NumberedContender, numbers: Numbers) -> Changes:
        return {"own": self._begin(own, own.number + 1), "numbers": _released(numbers, own.number)}

    def create(self, own: NumberedContender, numbers: Numbers) -> Changes:
        created = Number(own.number, self.me, own.tries, own.since)
        # A store without conditions replaces the file of that number. With conditions there is none.
        others = (each for each in numbers if each.number != own.number)
        return {"own": own._replace(step=VERIFYING), "numbers": (*others, created)}

    def create_unanswered(self, own: NumberedContender, numbers: Numbers) -> Changes:
        """Create the lock file, but report a failure to the contender: no answer, or 412 (precondition failed)."""
        return {**self.create(own, numbers), "own": own._replace(step=CHECKING)}

    def tidy_next(self, own: NumberedContender) -> Changes:
        # Earlier attempts are settled: none of their puts can still become the newest number.
        return {"own": own._replace(step=TIDYING, attempts=(own.tries,))}

    def tidy(self, own: NumberedContender, numbers: Numbers) -> Changes:
        last = own.number + 1 if self.rules.tidies_newest else own.number - 1
        left = tuple(each for each in numbers if each.number >= last)
        return {"own": own._replace(step=HOLDING, until=own.since + self.limits.lease), "numbers": left}

    def renew(self, own: NumberedContender) -> Changes:
        return {"own": own._replace(step=RENEWING, beat=own.clock)}

    def beat(self, own: NumberedContender, numbers: Numbers) -> Changes:
        """Write the contender's heartbeat to the store. The heartbeat extends the lease only if the lease has not
        expired.
        """
        # At the time when the heartbeat began, not when it arrives: the lease counts from what the holder knew.
        put = tuple(each._replace(since=own.beat) if each.number == own.number else each for each in numbers)
        if own.holds or self.rules.renews_late:
            own = own._replace(step=HOLDING, since=own.beat, until=own.beat + self.limits.lease, beat=0)
        else:
            own = own._replace(step=LOST, until=None, beat=0)
        return {"own": own, "numbers": put}

    def release(self, own: NumberedContender) -> Changes:
        return {"own": own._replace(step=RELEASING, until=None)}

    def end(self, own: NumberedContender, numbers: Numbers) -> Changes:
        return {"own": own._replace(step=IDLE), "numbers": _released(numbers, own.number)}

    def _may_try(self, own: NumberedContender) -> bool:
        return own.tries < self.limits.attempts

    def _begin(self, own: NumberedContender, number: int) -> NumberedContender:
        # Counted when it begins: an attempt whose put is lost must differ from the next one.
        tries = own.tries + 1
        begun = own._replace(step=CREATING, number=number, since=own.clock, tries=tries)
        return begun._replace(attempts=(*own.attempts, tries))

    def _entry(self, own: NumberedContender, numbers: Numbers) -> Number | None:
        return next((each for each in numbers if each.number == own.number), None)

    def owns(self, own: NumberedContender, numbers: Numbers) -> bool:
        entry = self._entry(own, numbers)
        return entry is not None and (entry.owner, entry.attempt) == (self.me, own.tries)


def _released(numbers: Numbers, number: int) -> Numbers:
    return tuple(each._replace(released=True) if each.number == number else each for each in numbers)
