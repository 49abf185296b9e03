"""Named consumers: stream readers that publish their progress, so that cleans keep the files that they still need."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final

from ..clock import to_millis
from ..context import Context
from ..errors import BadInput
from ..json_text import parse_json
from ..reads.times import BEGINNING
from ..storage import NotFound
from ..timeline import completion_of
from ..timeline.history import History
from .cleaning import HOUR_MS, is_write

FOLDER: Final = ".hoodie/.nbcc/consumers"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_TIME: Final = re.compile(r"\d{17}")
_MOST_BYTES: Final = 1_000  # a consumer's file has a few dozen bytes; a larger one is not read into memory


def check_name(name: str) -> str:
    """Return the consumer name unchanged if it is valid. Raises `BadInput` if the name might be an invalid file name in
    some store.
    """
    if not _NAME.fullmatch(name):
        needed = "a name has at most 100 letters, digits, dots, dashes and underscores, the first a letter or digit"
        raise BadInput(f"follow a table as the consumer {name!r}", needed, "choose such a name")
    return name


def publish_progress(context: Context, name: str, completed: str) -> None:
    """Record that the consumer `name` has processed all writes that completed at or before `completed`. Only one
    streaming query at a time may use a consumer name.
    """
    context.storage.put(f"{FOLDER}/{name}", json.dumps({"format": 1, "completed": completed}).encode())


def progress_of_consumers(context: Context) -> Mapping[str, str]:
    """Return each consumer's name, mapped to the completion time up to which the consumer has processed all writes."""
    found = {}
    for entry in context.storage.list(FOLDER):
        if entry.size > _MOST_BYTES:
            continue
        try:
            content = parse_json(context.storage.get(entry.path))
        except (NotFound, ValueError):  # deleted meanwhile, or cut short by a power failure
            continue
        time = content.get("completed") if isinstance(content, dict) else None
        if isinstance(time, str) and _TIME.fullmatch(time):
            found[entry.path.rpartition("/")[2]] = time
    return found


def waits_for_consumers(context: Context, history: History, horizon: str, now: str, hours: int) -> str | None:
    """Return the earlier of the clean's horizon and the progress of the slowest consumer; None if nothing may be
    cleaned.

    A clean ignores a consumer whose oldest unprocessed write completed more than `hours` ago.
    """
    last = context.commits.horizon(history.current) or ""
    for progress in progress_of_consumers(context).values():
        if progress < horizon:
            # An earlier clean may have passed this consumer: then the oldest write it has not read may be retired.
            timeline = history.whole if progress < last else history.current
            unread = (
                completion_of(instant)
                for instant in timeline.completed
                if instant.writes and completion_of(instant) > progress and is_write(timeline, context.commits, instant)
            )
            oldest = min(unread, default=None)
            if oldest is not None and to_millis(now) - to_millis(oldest) <= hours * HOUR_MS:
                horizon = progress
    return None if horizon == BEGINNING else horizon
