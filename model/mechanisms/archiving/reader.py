"""To find instants that were removed from the active timeline, a reader reads the archive.

A listing of the active timeline may miss instants that an archiver removes during the listing. An instant is added to
the archive before it is removed from the active timeline. A reader misses no instant, because it reads the archive
after each listing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from ...kernel.reader import (
    KEEPS,
    LISTED,
    NOT_READING,
    READ_LEFT,
    READER,
    READER_STARTS_LISTING,
    READER_STARTS_LISTING_AGAIN,
    SURE,
    Reader,
)
from ...kernel.table import Write
from ...kernel.timeline import Published
from ...machine.composition import Composition
from ...machine.transition import DEAD, Changes, Guard, Transition, preset, transition
from ...variants.listing import ReaderListing
from .rules import Archiving

OPENED, HELD = "has read the archive", "has listed what it will read"


class ReadBegun(NamedTuple):
    """`begun` is the completion time of the newest write published before the read began (for promise ACK)."""

    begun: int = 0


class Archived(NamedTuple):
    """The instants that a reader found in the archive before listing the active timeline."""

    instants: frozenset[int] = frozenset()


def compose(composition: Composition) -> None:
    """Let every reader read the archive before or after it lists the timeline, as selected by the option
    `archive_lookup`.
    """
    composition.add_field(READER, "begun", ReadBegun())
    composition.find(READER_STARTS_LISTING, "reader_lists_files").precede(note_newest_write, "own_begun")
    match composition.protocol[Archiving].archive_lookup:
        case "before_listing":
            _before_listing(composition)
        case "after_listing":
            _after_listing(composition)


def _before_listing(composition: Composition) -> None:
    composition.add_field(READER, "archived", Archived())
    starts = composition.find(READER_STARTS_LISTING)
    for start in starts:
        guards = tuple(guard for guard in start.guards if guard in (NOT_READING, READ_LEFT))
        opens = transition("reader_opens_archive", start.actor, at=start.at, to=OPENED, effect=open_archive,
                           guards=(*guards, NOT_OPENED), changes=("own_archived",))  # fmt: skip
        composition.add(opens.precede(note_newest_write, "own_begun"))
    starts.replace(_start_after_opening)
    composition.find(KEEPS).extend(keep_archived, "own", "own_archived")


def _start_after_opening(start: Transition) -> Transition:
    return replace(start, at=OPENED, guards=tuple(guard for guard in start.guards if guard != NOT_READING))


def _after_listing(composition: Composition) -> None:
    listing = composition.protocol[ReaderListing]
    twice = bool(composition.find(READER_STARTS_LISTING_AGAIN))
    raises = "" if listing.read_time == "clock" else LISTED if twice else HELD
    for last in composition.find(KEEPS):
        composition.add(transition("reader_looks_into_archive", last.actor, guards=(HAS_LISTED,),
                                   effect=preset(read_archive, raises=raises)))  # fmt: skip
    # The second listing starts only after the archive was read once: each listing has a look of its own.
    composition.find(READER_STARTS_LISTING_AGAIN).replace(lambda again: replace(again, at=OPENED))
    composition.find(KEEPS).replace(lambda last: replace(last, to=HELD))


NOT_OPENED = Guard("{me} must not have opened the archive", lambda own: own.step != OPENED)
HAS_LISTED = Guard("{me} must have listed", lambda own: own.step in (LISTED, HELD) and own.step != DEAD)


def note_newest_write(own: Reader, own_begun: ReadBegun, published: Published) -> Changes:
    """When a read begins, record the completion time of the newest published write."""
    # A read with several listings passes here again, and its beginning stays the first.
    if own.is_reading:
        return {"own_begun": own_begun}
    writes = (entry.completed or 0 for entry in published if isinstance(entry, Write))
    return {"own_begun": ReadBegun(max(writes, default=0))}


def open_archive(archive: frozenset[int]) -> Changes:
    """Read the archive before listing the active timeline."""
    return {"own_archived": Archived(archive)}


def keep_archived(own: Reader, own_archived: Archived, published: Published) -> Changes:
    """Add the archived instants that completed at or before T, the reader's time, to the instants that the reader uses.
    """
    return {"own": own._replace(instants=_kept(own, own_archived.instants, published)), "own_archived": Archived()}


def read_archive(own: Reader, published: Published, archive: frozenset[int], raises: str) -> Changes:
    """Add the instants that a listing of the active timeline missed because an archiver removed them.

    At the step named by `raises`, the reader's time T becomes at least the greatest completion time in the archive.
    """
    if own.step == raises:
        own = own._replace(time=max(own.time, newest_archived(published, archive)))
    if own.step == LISTED:
        return {"own": own._replace(step=OPENED)}
    return {"own": own._replace(step=SURE, instants=_kept(own, archive, published))}


def newest_archived(published: Published, archive: frozenset[int]) -> int:
    """Return the greatest completion time among the archived instants."""
    return max((entry.completed for entry in published if entry.requested in archive), default=0)


def _kept(own: Reader, archive: frozenset[int], published: Published) -> tuple[int, ...]:
    seen = {*own.instants, *archive}
    return tuple(entry.requested for entry in published if entry.requested in seen and entry.completed <= own.time)
