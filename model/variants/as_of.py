"""The options that select an interpretation of the RFCs' text on time travel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from ..kernel.slicing import writes_by_slice
from ..kernel.table import Table, Write
from ..kernel.timeline import VISIBLE_WRITES
from ..machine.composition import Composition
from ..machine.mechanism import Mechanism
from ..machine.options import Options, option
from ..protocol import Protocol
from ..rules import Rules
from .slicing import all_unpublished, slice_begin


class AsOf(Options):
    """The options that decide which instants an as-of read includes."""

    as_of_axis: Literal["completion", "requested", "requested_slices"] = option(
        "completion",
        "The time by which an as-of read includes instants. requested_slices: the requested time; a later pending plan "
        "is also a barrier, so that late logs are in slices that the read does not visit.",
    )
    as_of_bound: Literal["at_or_before", "before"] = option(
        "at_or_before",
        "Whether an as-of read at T includes an instant whose time is T (RFC-66, time travel, excludes it).",
    )
    as_of_pending: Literal["answered", "refused"] = option(
        "answered",
        "Whether an as-of read at or after the request of a pending write is answered.",
    )


def refine(protocol: Protocol) -> Iterator[type[Rules]]:
    """Yield the rules for reading a table under the options of `AsOf`."""
    options = protocol[AsOf]
    by_completion, before = options.as_of_axis == "completion", options.as_of_bound == "before"
    if not by_completion or before:
        yield visible_by(by_completion, before)
    if not by_completion:
        yield VisitsByRequest
    if options.as_of_pending == "refused":
        yield PendingRefused


def visible_by(by_completion: bool, before: bool) -> type[Rules]:
    """Return the rule that decides whether an as-of read includes an instant. The instant's completion time (requested
    time if `by_completion` is False) must be at or before the time of the read. If `before` is True, an instant at
    exactly the time of the read is not included.
    """

    class VisibleBy(Rules):
        def is_visible(self, requested: int, completed: int | None, time: float) -> bool:
            if completed is None:
                return False
            at = completed if by_completion else requested
            return at < time if before else at <= time

    return VisibleBy


class VisitsByRequest(Rules):
    """An as-of read visits the slices that begin at or before its time. See `get_file_slice_barriers` in RFC-66."""

    def newest_first(self, table: Table, group: int, time: float) -> Iterator[tuple[int | None, tuple[Write, ...]]]:
        """Yield the file slices that begin at or before `time`, newest first. The first slice, which has no barrier,
        begins at the requested time of its first write.

        With `as_of_axis = requested`, a pending plan begins a slice only if it was requested at or before `time`. With
        `as_of_axis = requested_slices`, every plan begins a slice; a read as of `time` omits slices that begin later.
        """
        if self[AsOf].as_of_axis == "requested":
            # A later plan would be a barrier, too, and a log that is requested after it would be in a slice of its own.
            plans = [(p, at) for p, at in zip(table.plans, table.completed, strict=True) if at or p.requested <= time]
            table = table._replace(plans=tuple(p for p, _ in plans), completed=tuple(at for _, at in plans))
        for barrier, members in reversed(writes_by_slice(self, table, group).items()):
            if (barrier if barrier is not None else slice_begin(self, members)) <= time:
                yield barrier, members


class PendingRefused(Rules):
    """A read as of a time at or after the request of a pending write is refused."""

    def is_refused(self, table: Table, time: float) -> bool:
        return any(write.completed is None and write.requested <= time for write in table.writes)


def compose(composition: Composition) -> None:
    """With `as_of_pending = refused`, let readers see pending writes, so that reads can be refused because of them."""
    if composition.protocol[AsOf].as_of_pending == "refused":
        composition.map_view(VISIBLE_WRITES, all_unpublished)


MECHANISM = Mechanism(compose=compose, options=AsOf, rules=refine)
