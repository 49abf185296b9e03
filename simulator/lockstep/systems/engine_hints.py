"""Accesses of the engine that decide nothing, under rules by which a later put decides."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from nbcc.engine.rules import Rules
from nbcc.model.kernel.writer import WRITER
from nbcc.model.mechanisms import kind_of as kind_of_actor
from nbcc.model.mechanisms.announcements.mechanism import KINDS
from nbcc.model.mechanisms.decision_log import TOGETHER
from nbcc.model.mechanisms.queries import QUERIER

from ..control.calls import kind_of
from ..control.footprints import Access

LISTING = ("list.begin", "list.end")


def without_hints(accesses: Iterable[Access], rules: Rules) -> list[Access]:
    """Return the accesses without those that decide nothing under the rules."""
    ignored: list[Callable[[Access], bool]] = []
    if rules.decision != "lock":
        ignored.append(is_hint)
    if rules.decision in TOGETHER:
        accesses = [*accesses]
        begun, ended = (listing_announced(accesses, verb) for verb in ("list.begin", "list.end"))
        ignored += [is_before_create, is_claim]
        ignored.append(lambda each: each.verb in LISTING and (each.actor, each.step) in begun & ended)
    if rules.requests == "put_if_absent" or rules.decision == "shared":
        ignored.append(is_unlocked_request)
    return [access for access in accesses if not any(ignores(access) for ignores in ignored)]


def is_claim(access: Access) -> bool:
    """Return whether an access claims a requested time. Histories of announced commits translate these times by their
    order, which no claim changes.
    """
    return kind_of(access.path) == "claim"


def is_hint(access: Access) -> bool:
    """Return whether an access reads the decision log, of which only a put decides."""
    looks = access.verb != "put" and kind_of(access.path.rstrip("/") + "/") == "decision"
    return looks or (access.verb == "get" and access.outcome == "missing")


def listing_announced(accesses: Iterable[Access], verb: str) -> set[tuple[str, int]]:
    """Return the segments that begin, or end, a listing of the announcements. A listing that begins and ends in one
    segment decides nothing: the steps of an author that creates an entry are separate segments.
    """
    return {
        (each.actor, each.step)
        for each in accesses
        if each.verb == verb and kind_of(each.path.rstrip("/") + "/") == "announced"
    }


def is_before_create(access: Access) -> bool:
    """Return whether an access commutes with the accesses of others if commits are announced and no lock is taken.

    What an author lists of the timeline counts only if it then creates the next entry, and in that case nothing was
    published since the last entry was. The times of an entry are ordered by its number, not by a common clock. A second
    put of an item changes nothing. A deleted announcement is that of an instant on the timeline, which no author
    decides.
    """
    if access.verb.startswith("list"):
        return kind_of(access.path.rstrip("/")) == "timeline" and kind_of_actor(access.actor) in (*KINDS, QUERIER.name)
    deletes = access.verb.startswith("delete") and kind_of(access.path) == "announced"
    return access.verb == "clock.take" or deletes or (access.outcome == "exists" and "timeline" in access.path)


def is_unlocked_request(access: Access) -> bool:
    """Return whether an access belongs to a request without the lock, and commutes with each segment under the lock.

    A holder of the lock that has not listed a request acts as if the request were put after its segment. What a writer
    lists before its request only makes its requested time later. A claim of a batch counts once its write completes.
    An archiver lists the claims of old times, which no writer takes.
    """
    lists = access.verb.startswith("list")
    kind = kind_of(access.path.rstrip("/") + "/" if lists else access.path)
    if access.locked or kind_of_actor(access.actor) != WRITER.name:
        return lists and kind == "claim"
    return kind in ("timeline", "batch") or (access.verb, kind) == ("put", "deltacommit.requested")
