"""Saves a lone writer in an object store three requests in sequence: it looks at the decision log while its data files
are being put, and then creates its entry and puts its announcement at the same time.

The entry contains the content of the commit, so that others can publish it although the announcement may never arrive.
A listing from before the announcement makes no commit unsafe: the entry is created only if nothing was decided since.
But another author may not have seen the announcement, so that a writer may fail three creates and not two. Writers that
are not alone would mostly fail their first create, so they do not try.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from typing import Final, NamedTuple

from ..context import Context
from ..storage import listed_ahead
from ..timeline.announcements import FOLDER as ANNOUNCED
from ..timeline.announcements import Announcement, announced_instants
from ..timeline.decisions import LogEntry, unpublished
from ..timeline.history import Active
from ..timeline.timeline import FOLDER
from .candidates import Candidates
from .decision_log import decides_without_lock, learn_tail

FRESH_SECONDS: Final = 1.0
"""For how long a writer that is alone probably stays so."""


class Outlook(NamedTuple):
    """The tail of the decision log, which was published, and the timeline, as a lone writer saw them at the moment `at`
    (by the monotonic clock).
    """

    tail: LogEntry
    timeline: Active
    at: float

    @property
    def is_fresh(self) -> bool:
        return time.monotonic() - self.at < FRESH_SECONDS


Looks = Callable[[], Outlook | None]


@contextmanager
def looking_ahead(context: Context) -> Iterator[Looks]:
    """Look at the decision log during the `with` block, at the same time as its requests. The value of the block is a
    function that returns what was seen; None if the writer is not alone.
    """
    decoded = context.commits.decoded
    # Its own entry is the last one that it has seen.
    is_alone = decoded.tail is not None and decoded.tail.number == decoded.created
    if not (decides_without_lock(context) and context.storage.is_remote and is_alone):
        yield lambda: None
        return
    pool = ThreadPoolExecutor(1, thread_name_prefix="nbcc-outlook")
    looks = pool.submit(copy_context().run, _outlook, context)
    pool.shutdown(wait=False)
    yield looks.result


def _outlook(context: Context) -> Outlook | None:
    begun, tail = time.monotonic(), learn_tail(context)
    # Another author has created an entry since, so this writer is not alone.
    if tail.number != context.commits.decoded.created:
        return None
    storage = listed_ahead(context.storage, ANNOUNCED, FOLDER)
    alone = not announced_instants(storage) and not unpublished(storage, tail)
    return Outlook(tail, context.active(storage), begun) if alone else None


def entry_of(context: Context, outlook: Outlook, own: Announcement) -> LogEntry | None:
    """Return the entry that decides only the writer's own instant; None if that must not be decided."""
    context.clock.not_before(outlook.tail.time)
    candidates = Candidates(context, outlook.tail, outlook.timeline, {own.name: own})
    candidates.consider(own.name)
    if not candidates.items:
        return None
    entry = candidates.entry()
    return entry._replace(items=tuple(item._replace(data=own.data) for item in entry.items))
