"""Converts a user's time to an instant string. Python, the options of the data source and the command line all use this
parser.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from ..clock import of_moment, to_millis
from ..errors import BadInput
from ..timeline.instant import Instant

Time = Instant | str | datetime

BEGINNING: Final = "0" * 17
"""Before every instant; what Hudi's readers write as "0" or "000"."""

_FORMS: Final = (
    "a time is an Instant, 17 digits yyyyMMddHHmmssSSS in UTC, a text such as '2026-11-28 16:00:00' (in UTC),"
    " or a datetime with a time zone"
)


def instant_of(time: Time, asked: str) -> str:
    """Return `time` as a 17-digit instant string. `asked` is the phrase with which error messages begin, such as "read
    the table as of". Raises `BadInput` if `time` is not a valid time.

    A string of 14 digits means the end of that second, as in Hudi. A string of zeros, or "earliest", means the
    beginning of the table. Other strings are ISO 8601 dates or times, also with a blank in place of the T, as Hudi's
    `as.of.instant` accepts them. They are in UTC, like the digits of an instant, unless they name a time zone. A date
    is its midnight. Fractions of a millisecond are dropped.
    """
    if isinstance(time, Instant):
        return _completion(time, asked)
    if isinstance(time, datetime):
        return _of_datetime(time, asked)
    if isinstance(time, str):
        return _of_text(time, asked)
    raise BadInput(f"{asked} {time!r}", f"that is of type {type(time).__name__}", _FORMS)


def _completion(instant: Instant, asked: str) -> str:
    if instant.completed is None:
        raise BadInput(
            f"{asked} the instant requested at {instant.requested}",
            "it is not completed, and only a completion time is a point in a table's history",
            "use an instant that an operation returned",
        )
    return instant.completed


def _of_datetime(moment: datetime, asked: str) -> str:
    if moment.tzinfo is None or moment.utcoffset() is None:
        raise BadInput(
            f"{asked} {moment.isoformat(sep=' ')}",
            "that datetime has no time zone, so that it names no moment",
            "give it one, e.g. datetime(..., tzinfo=timezone.utc)",
        )
    try:
        return of_moment(moment.astimezone(UTC))
    except OverflowError:
        given = moment.isoformat(sep=" ")
        raise BadInput(f"{asked} {given}", "in UTC its year does not have four digits", _FORMS) from None


def _of_text(text: str, asked: str) -> str:
    if text.lower() == "earliest" or (text and not text.strip("0")):
        return BEGINNING
    try:
        if not text.isdecimal():
            moment = datetime.fromisoformat(text)
            return _of_datetime(moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment, asked)
        instant = text + "999" if len(text) == 14 else text
        # Only to refuse 17 digits that are not a date.
        to_millis(instant)
    except ValueError:
        raise BadInput(f"{asked} {text!r}", "that is not a time", _FORMS) from None
    return instant
