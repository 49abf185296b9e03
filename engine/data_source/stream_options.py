"""Parses the options of streaming reads and writes. The page docs/streams.md describes the options for users."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from ..config.opening import DEFAULTS, OpenOptions
from ..config.options import FUNCTION
from ..errors import BadInput
from ..reads.times import BEGINNING, Time
from ..services.consumers import check_name
from ..stream_source import START
from .options import (
    BEGIN,
    COLUMNS,
    FORMAT,
    PATH,
    QUERY,
    WriteOptions,
    columns_of,
    known_options,
    no_value,
    opening_of,
    path_of,
    storage_of,
    write_options,
)

MAX_FILES: Final = "maxFilesPerTrigger"
MAX_BYTES: Final = "maxBytesPerTrigger"
CONSUMER: Final = "consumer"
STREAM: Final = (START, MAX_FILES, MAX_BYTES, CONSUMER)
"""The options of streams alone."""

OF_QUERY: Final = frozenset({"checkpointlocation", "queryname"})
"""What Spark adds to the options of a stream's writer: it uses them itself."""


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """The parsed options of a stream that reads from a table.

    `start` is "latest", or the time after which the stream begins. `most_files` and `most_bytes` are the limits of one
    micro-batch; None means no limit. `consumer` is the name under which the stream publishes its progress; if
    `consumer` is empty, the stream publishes no progress.
    """

    path: str
    changes: bool = False
    start: Time = BEGINNING
    most_files: int | None = None
    most_bytes: int | None = None
    consumer: str = ""
    columns: tuple[str, ...] = ()
    storage: Mapping[str, str] = field(default_factory=dict)
    opening: OpenOptions = DEFAULTS


def asks_for_stream(given: Mapping[str, str]) -> bool:
    """Return True if the given options of `load` are valid only for a stream. Spark calls `schema` identically for
    batch reads and for streams, so only the options distinguish these cases.
    """
    names = {name.lower() for name in given}
    incremental = next((value for name, value in given.items() if name.lower() == QUERY), "").lower() == "incremental"
    return any(name.lower() in names for name in STREAM) or (incremental and BEGIN not in names)


def stream_options(given: Mapping[str, str]) -> StreamOptions:
    """Parse the options of a streaming read. Raises `BadInput` or `Unsupported` for an invalid option."""
    options = known_options(given, (PATH, COLUMNS, QUERY, FORMAT, FUNCTION, *STREAM), "read a stream")
    query, shape = options.get(QUERY, "incremental").lower(), options.get(FORMAT, "latest_state").lower()
    if query != "incremental":
        raise no_value(QUERY, query, ("incremental",))
    if shape not in ("latest_state", "cdc"):
        raise no_value(FORMAT, shape, ("latest_state", "cdc"))
    return StreamOptions(
        path=path_of(options, "read"),
        changes=shape == "cdc",
        start=options.get(START, "earliest"),
        most_files=_limit(options, MAX_FILES),
        most_bytes=_limit(options, MAX_BYTES),
        consumer=check_name(options[CONSUMER]) if CONSUMER in options else "",
        columns=columns_of(options),
        storage=storage_of(given),
        opening=opening_of(options, (FUNCTION,)),
    )


def _limit(options: Mapping[str, str], name: str) -> int | None:
    text = options.get(name)
    if text is None:
        return None
    if not text.isdecimal() or int(text) < 1:
        raise BadInput(f"read a stream with {name}={text}", "a limit is a whole number from 1 on", "give such a number")
    return int(text)


def stream_write_options(given: Mapping[str, str]) -> WriteOptions:
    """Parse the options of a streaming write like `write_options`, but ignore the options that only Spark itself uses.
    """
    return write_options({name: value for name, value in given.items() if name.lower() not in OF_QUERY})
