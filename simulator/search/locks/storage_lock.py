"""Models a lease in one object, updated by compare-and-swap: the protocol of Hudi's StorageBasedLockProvider.

The model follows RFC-91 (storage-based lock provider) and the engine's lock
`nbcc.engine.lock.storage_lock.StorageLock`. A transition contains at most one request to the store. A put is executed
and answered, executed but not answered, refused, or not executed. A put counts as not answered if the answer is lost or
late, or if the client's automatic retry receives 412.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal, NamedTuple

from nbcc.model.machine import Changes, Transition
from nbcc.model.machine.transition import DEAD, go_to

from .limits import LockLimits
from .lock_model import LockModel

IDLE, PUTTING, CHECKING, HOLDING, LOST = "idle", "putting", "checking", "holding", "lost"
UNDER_WAY: Final = (PUTTING, CHECKING)


class Lease(NamedTuple):
    """The content of the lease object. `attempt` is the number of the attempt in which the owner acquired the lock."""

    owner: str
    attempt: int
    until: int
    released: bool = False


class Contender(NamedTuple):
    """An actor that competes for the lease.

    `request` names the purpose of a pending put, `put` is the lease to write, and `known` is the version that it must
    replace. `until` is the end of the lease that the contender holds, or None. `attempts` contains the acquisition
    attempts whose put may have reached the store. `released` is the lease that the contender released most recently. If
    `was_last` is True, the contender assumes that `released` is still the stored lease. The next attempt therefore
    replaces the lease without reading the object. `quick` is True during an attempt that does not read the object
    first.
    """

    step: str = IDLE
    clock: int = 0
    request: Literal["", "take", "renew", "release"] = ""
    known: Lease | None = None
    put: Lease | None = None
    until: int | None = None
    number: int = 0
    attempts: tuple[int, ...] = ()
    released: Lease | None = None
    was_last: bool = False
    quick: bool = False

    @property
    def is_alive(self) -> bool:
        return self.step != DEAD

    @property
    def holds(self) -> bool:
        """True if the contender has a lease, and the contender's clock has not passed the end of the lease."""
        return self.is_alive and self.until is not None and self.clock <= self.until


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageLockRules:
    """The rules of the lock protocol. Every value except the default is a mutant (deliberate error).

    `margin` is the number of ticks between the end of a lease and the earliest takeover by another contender.
    `recognises_own` makes a contender read the object after a put with an unknown outcome, to find out whether the put
    was executed. `renews_after_412` makes a holder read the object after a refused renewal, instead of giving up the
    lease at once. `is_conditional` makes the store check the precondition of a put (compare-and-swap).
    """

    margin: int = 1
    recognises_own: bool = True
    renews_after_412: bool = True
    is_conditional: bool = True


class StorageLockModel(LockModel):
    """A model of contenders (actors) that compete for one lease."""

    stored = "lease"
    under_way = UNDER_WAY

    def __init__(self, limits: LockLimits | None = None, rules: StorageLockRules | None = None) -> None:
        self.rules = rules or StorageLockRules()
        super().__init__(limits or LockLimits(), None, Contender())

    def _transitions(self, me: str) -> Iterator[Transition]:
        contender, one = _Effects(me, self.limits, self.rules), partial(self._one, me)
        yield from (
            one("contender_finds_lease_free", IDLE, contender.take, contender.finds_free),
            one("contender_finds_lease_taken", IDLE, contender.wait, contender.finds_taken),
            one("contender_replaces_its_release", IDLE, contender.take_at_once, contender.was_last),
            one("put_is_answered", PUTTING, contender.finish, contender.may_replace, held=contender.acquires),
            one("put_is_refused", PUTTING, contender.doubt, contender.may_not_replace),
            one("contender_recognises_put", CHECKING, contender.finish, contender.recognises, held=contender.acquires),
            one("contender_repeats_put", CHECKING, go_to(PUTTING), contender.may_repeat),
            one("contender_finds_another_lease", CHECKING, contender.react, contender.finds_another),
            one("contender_begins_renewal", HOLDING, contender.renew, contender.may_renew),
            one("contender_begins_release", HOLDING, contender.release),
            one("contender_releases_lost_lease", LOST, contender.release),
            one("answer_is_lost", PUTTING, contender.execute_unanswered, contender.may_replace, fault=True),
            one("request_is_lost", PUTTING, go_to(CHECKING), fault=True),
            one("check_fails", CHECKING, contender.fail_to_check, held=contender.owns, fault=True),
        )

    def refused(self, state: int) -> list[str]:
        lease, found = self.component(state, "lease"), []
        for name in self.contenders:
            own = self.contender(state, name)
            if own.step == IDLE and not is_free(own, lease, name, self.rules.margin):
                found.append(name)
        return found

    def owner(self, stored: Lease | None) -> str | None:
        return None if stored is None else stored.owner


def is_free(own: Contender, lease: Lease | None, me: str, margin: int) -> bool:
    """Return True if the contender may acquire the stored lease: it is absent, released, expired or the contender's
    own.
    """
    if lease is None or lease.released or (lease.owner == me and lease.attempt in own.attempts):
        return True
    # The lease names the end by the owner's clock, and this clock may be ahead of it.
    return own.clock > lease.until + margin


class _Effects:
    """The guards and effects of one contender's transitions."""

    def __init__(self, me: str, limits: LockLimits, rules: StorageLockRules) -> None:
        self.me, self.limits, self.rules = me, limits, rules

    def finds_free(self, own: Contender, lease: Lease | None) -> bool:
        """the contender must have attempts left, and the lease must be free"""
        return self._may_try(own) and not own.was_last and is_free(own, lease, self.me, self.rules.margin)

    def finds_taken(self, own: Contender, lease: Lease | None) -> bool:
        """another contender must hold the lease"""
        return not own.was_last and not is_free(own, lease, self.me, self.rules.margin)

    def was_last(self, own: Contender) -> bool:
        """the contender must have attempts left, and must have been the last to release the lease"""
        return self._may_try(own) and own.was_last

    def may_replace(self, own: Contender, lease: Lease | None) -> bool:
        """the stored lease must be the version that the put expects"""
        return lease == own.known or not self.rules.is_conditional

    def may_not_replace(self, own: Contender, lease: Lease | None) -> bool:
        """the stored lease must differ from the version that the put expects"""
        return not self.may_replace(own, lease)

    def recognises(self, own: Contender, lease: Lease | None) -> bool:
        """the stored lease must equal the lease that the contender tried to write"""
        return self.rules.recognises_own and lease == own.put

    def may_repeat(self, own: Contender, lease: Lease | None) -> bool:
        """the put must not have been executed, and the stored lease must be the version that the put expects"""
        return lease == own.known and not self.recognises(own, lease)

    def finds_another(self, own: Contender, lease: Lease | None) -> bool:
        """the stored lease must differ from the version that the put expects and from the lease that the put writes"""
        return lease != own.known and not self.recognises(own, lease)

    def may_renew(self, own: Contender) -> bool:
        """the contender's clock must have advanced since the contender's last put"""
        return own.known is not None and own.clock + self.limits.lease > own.known.until

    def acquires(self, own: Contender) -> bool:
        return own.request != "release"

    def owns(self, lease: Lease | None) -> bool:
        return lease is not None and lease.owner == self.me

    def take(self, own: Contender, lease: Lease | None) -> Changes:
        # Only if nothing has happened since its release may the next attempt replace the lease without a read.
        was_last = lease is not None and lease == own.released
        return {"own": self._begin(own, lease)._replace(was_last=was_last, quick=False)}

    def take_at_once(self, own: Contender) -> Changes:
        return {"own": self._begin(own, own.released)._replace(quick=True)}

    def wait(self, own: Contender, lease: Lease | None) -> Changes:
        return {"own": own._replace(was_last=lease is not None and lease == own.released)}

    def finish(self, own: Contender) -> Changes:
        put = own.put
        assert put is not None, "a put is under way"
        ended = own._replace(request="", put=None, quick=False)
        if own.request == "release":
            own = ended._replace(step=IDLE, known=None, until=None, released=put, was_last=True)
        else:
            # Earlier attempts can no longer reach the store: their puts expected versions that are gone.
            own = ended._replace(step=HOLDING, known=put, until=put.until, attempts=(put.attempt,))
        return {"own": own, "lease": put}

    def doubt(self, own: Contender) -> Changes:
        """Make the contender read the object next, because its put was refused."""
        if own.request == "renew" and not self.rules.renews_after_412:
            return {"own": own._replace(step=LOST, request="", put=None, until=None)}
        return {"own": own._replace(step=CHECKING)}

    def execute_unanswered(self, own: Contender) -> Changes:
        """Execute the put, but return no answer or status 412 (precondition failed) to the contender."""
        return {**self.doubt(own), "lease": own.put}

    def fail_to_check(self, own: Contender) -> Changes:
        # A holder keeps the lease that it knows until that ends. Another contender must not assume anything.
        step = HOLDING if own.request == "renew" else IDLE
        known, until = (own.known, own.until) if own.request == "renew" else (None, None)
        return {"own": own._replace(step=step, request="", put=None, known=known, until=until, quick=False)}

    def react(self, own: Contender, lease: Lease | None) -> Changes:
        """Make the contender repeat or end its request, because the store contains an unexpected lease."""
        return {"own": self._reacted(own, lease)}

    def _reacted(self, own: Contender, lease: Lease | None) -> Contender:
        ended = own._replace(request="", put=None, quick=False)
        # Owner and attempt: a renewal changes the end, and a release the mark.
        is_own = own.known is not None and lease is not None and lease[:2] == own.known[:2]
        if own.request == "take":
            was_last = own.was_last and (not own.quick or (lease is not None and lease == own.released))
            # It did not read before, so that this answer is its first look: it may still take the lease by it.
            if own.quick and is_free(own, lease, self.me, self.rules.margin):
                return self._begin(own, lease)._replace(was_last=was_last, quick=False)
            return ended._replace(step=IDLE, known=None, was_last=was_last)
        if own.request == "release":
            if is_own and lease is not None:
                return own._replace(step=PUTTING, known=lease, put=lease._replace(released=True))
            return ended._replace(step=IDLE, known=None, until=None, released=None, was_last=False)
        if is_own and lease is not None and not lease.released:
            return self._renewal(own, lease)
        return ended._replace(step=LOST, until=None)

    def renew(self, own: Contender) -> Changes:
        assert own.known is not None, "a holder has a lease"
        return {"own": self._renewal(own, own.known)}

    def release(self, own: Contender) -> Changes:
        assert own.known is not None, "it has had a lease"
        put = own.known._replace(released=True)
        return {"own": own._replace(step=PUTTING, request="release", put=put, until=None)}

    def _may_try(self, own: Contender) -> bool:
        return own.number < self.limits.attempts

    def _begin(self, own: Contender, known: Lease | None) -> Contender:
        number = own.number + 1
        put = Lease(self.me, number, own.clock + self.limits.lease)
        attempts = (*own.attempts, number)
        return own._replace(step=PUTTING, request="take", known=known, put=put, number=number, attempts=attempts)

    def _renewal(self, own: Contender, known: Lease) -> Contender:
        put = known._replace(until=own.clock + self.limits.lease)
        return own._replace(step=PUTTING, request="renew", known=known, put=put)
