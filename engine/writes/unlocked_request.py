"""Requests an instant without the table's lock (`Rules.requests`).

The writer reads its own clock and does not wait for other clocks: no reader and no plan depends on the requested time
of a write that appends logs, because the completion time, taken under the lock, decides its slice (RFC-66). Three rules
replace what the lock ensured:

- The time is unique. The writer claims it by a put if absent, which also finds writes that were rolled back. All times
  that are taken under the lock are odd, and times of requests are even (`clock.WallClock`), so that no plan and no
  completion has the time of a request.
- The time is later than the listed timeline, and not far in the future (`clock.WallClock.not_before`).
- No archiver passes the request. An archiver puts the floor and then lists the timeline again; the writer puts its
  request and then gets the floor. If its time is not above the floor, it withdraws the request and takes a later time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

from ..config import TableConfig
from ..config.concurrency import NON_BLOCKING
from ..context import Context
from ..storage import NotFound, together
from ..timeline import Instant, completion_of, put_inflight, put_requested
from ..timeline.decisions import AUTHOR
from ..timeline.history import Active
from .claims import advance_clock, claim, claimed_time, refuse_torn, requests_without_lock
from .commit_protocol import request, stop_heartbeat_on_error, undo_on_error, undo_own_write
from .deciding import own_entry
from .decision_log import decides_without_lock
from .idempotency import Repeated, claim_batch, repeated

FLOOR: Final = ".hoodie/.nbcc/floor"
"""Holds the greatest time of the instants that an archiver has archived, or was about to archive."""
FLOORS: Final = ".hoodie/.nbcc/floors"
"""Holds an object for each such time if no lock excludes two archivers, so that a stalled one cannot lower the floor.
"""


def begin_write(
    context: Context, config: TableConfig, action: str, batch_id: str | None = None, *, starts: bool = False
) -> tuple[str, Active]:
    """Request the instant of a write; see `commit_protocol.request`. The lock is taken unless the table's requests need
    none and the write only appends logs without a conflict check.
    """
    appends = config.merge_on_read and config.concurrency_mode == NON_BLOCKING
    # Without any lock, the conflict check of other writers compares with exactly what the listing has shown.
    appends = appends or decides_without_lock(context)
    if requests_without_lock(context) and appends:
        return request_without_lock(context, action, batch_id, starts=starts)
    return request(context, action, batch_id, starts=starts)


def request_without_lock(
    context: Context, action: str, batch_id: str | None = None, *, starts: bool = False
) -> tuple[str, Active]:
    """Put the requested state of a new instant without the lock. Returns the requested time, and the timeline listed
    before the put.

    If `starts` is True, the inflight state is also put. Raises `Repeated` and puts nothing on the timeline if the batch
    with the id `batch_id` has already been written.
    """
    requested, timeline = _claimed_and_listed(context, batch_id)
    while (floor := _put(context, requested, action, batch_id, starts)) >= requested:
        undo_own_write(context, requested, action)
        context.clock.not_before(floor)
        requested = _claimed(context)
    return requested, timeline


def request_at_reserved_time(context: Context, action: str) -> tuple[str, Active]:
    """Put the requested state of a new instant at a time that an entry of this writer has reserved, so that it is the
    barrier of the write's base files: exactly what completed before it is decided by this entry or an earlier one.
    Returns the requested time, and the timeline listed after the put.
    """
    while True:
        requested = own_entry(context).plan_time(AUTHOR)
        context.heartbeats.start(requested)
        if _put(context, requested, action, None, starts=False) < requested:
            return requested, context.active()
        undo_own_write(context, requested, action)


def _claimed_and_listed(context: Context, batch_id: str | None) -> tuple[str, Active]:
    """Return a claimed requested time, and a timeline whose times are all earlier. The instant's heartbeat has started.
    Raises `Repeated` if the batch has been written.

    An object store is asked to list and to claim at the same time. If the timeline shows that this clock is behind, a
    later time is claimed.
    """
    if not context.storage.is_remote:
        timeline = _listed(context, batch_id)
        return _claimed(context), timeline
    found: list[Active] = []
    owned: list[bool] = []
    early = context.clock.take_unlocked()
    steps: list[Callable[[], object]] = [
        lambda: found.append(_listed(context, batch_id)),
        lambda: owned.append(claim(context, early)),
        partial(context.heartbeats.start, early),
    ]
    try:
        with stop_heartbeat_on_error(context, early):
            together(context.storage, steps)
    except Repeated:
        if owned == [True]:
            context.heartbeats.stop(early)  # no instant will have this time, so no other actor deletes the file
        raise
    if owned == [True]:
        if early > (found[0].newest or ""):
            return early, found[0]
        context.heartbeats.stop(early)
    context.heartbeats.stop_renewing(early)  # the file may be that of the owner of the time
    return _claimed(context), found[0]


def _listed(context: Context, batch_id: str | None) -> Active:
    """List the timeline, and advance this process's clock past it. Raises `Repeated` if the batch has been written."""
    timeline = context.active()
    refuse_torn(timeline)
    if there := repeated(context, timeline, batch_id):
        raise there
    advance_clock(context, timeline)
    return timeline


def _claimed(context: Context) -> str:
    """Claim a requested time, and start its heartbeat: a pending instant without a heartbeat counts as failed."""
    requested = claimed_time(context, context.clock.take_unlocked)
    context.heartbeats.start(requested)
    return requested


def _put(context: Context, requested: str, action: str, batch_id: str | None, starts: bool) -> str:
    """Put the requested instant and the claim of the batch, then the inflight instant if `starts` is True. Returns the
    floor, read after the put of the requested instant.
    """
    token = context.names.write_token().encode()
    puts: list[Callable[[], object]] = [
        partial(put_requested, context.storage, requested, action, token),
        partial(claim_batch, context, requested, batch_id),
    ]
    with stop_heartbeat_on_error(context, requested):
        together(context.storage, puts)
    # Read only after the put has ended. An archiver does both in the other order, so one of the two notices the other.
    floor: list[str] = []
    steps: list[Callable[[], object]] = [lambda: floor.append(read_floor(context))]
    if starts:
        steps.append(partial(put_inflight, context.storage, requested, action))
    with undo_on_error(context, requested, action):
        together(context.storage, steps)
    return floor[0]


def read_floor(context: Context) -> str:
    """Return the floor, at or below which a request may have been passed by an archiver; '' if there is none."""
    if decides_without_lock(context):
        return max(_floors(context), default="")
    try:
        return context.storage.get(FLOOR).decode("ascii", "replace")
    except NotFound:
        return ""


def raise_floor(context: Context, instants: Iterable[Instant]) -> str:
    """Raise the floor to the times of instants that are about to be archived, and return it. The caller lists the
    timeline again before it archives. It holds the table's lock, or then creates an entry with the floor.
    """
    floor = max(completion_of(instant) for instant in instants)
    put_floor(context, floor)
    return floor


def put_floor(context: Context, floor: str) -> None:
    """Raise the floor at least to the given time, if it is not ''."""
    if not floor:
        return
    if not decides_without_lock(context):
        # The lock is held, so no other archiver can raise the floor between the get and the put.
        context.storage.put(FLOOR, max(floor, read_floor(context)).encode())
        return
    context.storage.put_if_absent(f"{FLOORS}/{floor}", b"")
    # A listing that misses the newest one, because it is put meanwhile, shows the one before.
    if old := sorted(_floors(context))[:-2]:
        context.storage.delete_all([f"{FLOORS}/{each}" for each in old])


def _floors(context: Context) -> list[str]:
    return [path.rpartition("/")[2] for path in context.storage.paths(FLOORS)]
