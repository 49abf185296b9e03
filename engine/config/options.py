"""The options of `Table.create`, most of which are stored in ``hoodie.properties``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from ..errors import NbccError

SKEW: Final = "hoodie.time.generator.max_expected_clock_skew_ms"
DECISION: Final = "nbcc.decision"
PUBLICATION: Final = "nbcc.publication"
REQUESTS: Final = "nbcc.requests"
PROVIDER: Final = "hoodie.write.lock.provider"
PARTIAL: Final = "nbcc.partial.update.mode"
FUNCTION: Final = "nbcc.merge.function"
CONSUMER_HOURS: Final = "nbcc.consumer.hours"
WRITE_TASKS: Final = "hoodie.upsert.shuffle.parallelism"
BEAT: Final = "hoodie.client.heartbeat.interval_in_ms"
MISSES: Final = "hoodie.client.heartbeat.tolerable.misses"
AUTOMATIC: Final = "hoodie.archive.automatic"
LEAST: Final = "hoodie.keep.min.commits"
MOST: Final = "hoodie.keep.max.commits"

IN_PROCESS: Final = "InProcessLockProvider"
LOCK_FILE: Final = "FileSystemBasedLockProvider"
STORAGE_BASED: Final = "StorageBasedLockProvider"
NUMBERED: Final = "NumberedLockProvider"
PROVIDERS: Final = (IN_PROCESS, LOCK_FILE, STORAGE_BASED, NUMBERED, "ZookeeperBasedLockProvider")
"""By the names of Hudi's classes. NumberedLockProvider is RFC-22's option 2, which Hudi does not implement."""

Refusal = Callable[[str, str, str], NbccError]
"""Makes the error for a text that is not a value of an option, from the option's name, the text, and what is needed."""


class Option(NamedTuple):
    """An option of a table.

    `field` is the field of `TableConfig`, `Coordination` or `ArchivePolicy` that the option sets. If the option is
    absent, the field has its default value. `parse` converts a string to a value, and returns None for an invalid
    string. `needed` describes the valid strings in error messages.
    """

    name: str
    field: str
    parse: Callable[[str], Any]
    needed: str


MOST_NUMBER: Final = (1 << 31) - 1
"""The greatest number of coordination options, which are Java integers in Hudi."""

MOST_SKEW_MS: Final = 3_600_000
"""The greatest clock skew. A writer waits for the skew at each commit."""


_SHOWN: Final = 40  # characters of a value in an error message


def from_zero(text: str) -> int | None:
    """Parse a whole number from 0 to 2^63 - 1, and return None for any other string."""
    return _up_to((1 << 63) - 1)(text)


def _up_to(most: int) -> Callable[[str], int | None]:
    """Return a parser for the whole numbers from 0 to `most`, which returns None for any other string."""

    def parse(text: str) -> int | None:
        fits = text.isdecimal() and len(text) <= len(str(most)) and int(text) <= most
        return int(text) if fits else None

    return parse


_number: Final = _up_to(MOST_NUMBER)


def from_one(text: str) -> int | None:
    """Parse a whole number of at least 1, and return None for any other string."""
    return from_zero(text) or None


def _beat(text: str) -> int | None:
    millis = _number(text)
    return millis if millis is not None and millis >= 1000 else None  # some file systems record whole seconds


def _needed(unit: str) -> str:
    return f"a whole number of {unit} up to {MOST_NUMBER}"


def _text(text: str) -> str | None:
    return text or None


def _provider(text: str) -> str | None:
    """Return the lock provider with the class name `text`, which may include a package."""
    name = text.rpartition(".")[2]
    return name if name in PROVIDERS else None


def choice(**values: Any) -> Callable[[str], Any]:
    """Return a parser that looks up a string in `values`, ignoring case."""
    return lambda text: values.get(text.lower())


_FLAG: Final = choice(true=True, false=False)
_FORMAT: Final = choice(parquet="parquet", avro="avro")

TABLE: Final = (
    Option("hoodie.logfile.data.block.format", "log_format", _FORMAT, "parquet or avro"),
    Option("hoodie.logfile.max.size", "max_log_bytes", from_one, "a whole number of bytes"),
    Option(WRITE_TASKS, "write_tasks", from_one, "a whole number of tasks"),
    Option("hoodie.datasource.write.hive_style_partitioning", "hive_style", _FLAG, "true or false"),
    Option("hoodie.write.table.version", "version", {"8": 8, "9": 9}.get, "8 or 9"),
    Option(PARTIAL, "partial_update", choice(set_columns=True, none=False), "set_columns or none"),
    Option(FUNCTION, "merge_function", str, "package.module:function"),
    Option(CONSUMER_HOURS, "consumer_hours", from_one, "a whole number of hours from 1 on"),
)
_DECIDES: Final = {each: each for each in ("lock", "log", "shared", "free")}.get
COORDINATION: Final = (
    Option(SKEW, "skew_ms", _up_to(MOST_SKEW_MS), f"a whole number of milliseconds up to {MOST_SKEW_MS}, an hour"),
    Option(DECISION, "decision", _DECIDES, "lock, log, shared or free"),
    Option(PUBLICATION, PUBLICATION.partition(".")[2], choice(ascending="ascending", parallel="parallel"),
           "ascending or parallel"),
    Option(REQUESTS, "requests", choice(under_lock="under_lock", put_if_absent="put_if_absent"),
           "under_lock or put_if_absent"),
    Option(PROVIDER, "lock", _provider, f"one of {', '.join(PROVIDERS)}"),
    Option("hoodie.write.lock.wait_time_ms", "lock_wait_ms", _number, _needed("milliseconds")),
    Option("hoodie.write.lock.filesystem.expire", "lock_expire_minutes", _number, _needed("minutes")),
    Option("hoodie.write.lock.storage.validity.timeout.secs", "lease_seconds", _number, _needed("seconds")),
    Option("hoodie.write.lock.storage.renew.interval.secs", "renew_seconds", _number, _needed("seconds")),
    Option("hoodie.write.lock.zookeeper.url", "zookeeper_url", _text, "a host"),
    Option("hoodie.write.lock.zookeeper.port", "zookeeper_port", _number, "a port"),
    Option("hoodie.write.lock.zookeeper.base_path", "zookeeper_base_path", _text, "a path"),
    Option("hoodie.write.lock.zookeeper.lock_key", "zookeeper_lock_key", _text, "a name"),
    Option(BEAT, "heartbeat_ms", _beat, _needed("milliseconds from 1000")),
    Option(MISSES, "heartbeat_misses", lambda text: _number(text) or None, f"a whole number from 1 to {MOST_NUMBER}"),
)
ARCHIVE: Final = (
    Option(AUTOMATIC, "automatic", _FLAG, "true or false"),
    Option(LEAST, "least", from_one, "a whole number from 1 on"),
    Option(MOST, "most", from_one, "a whole number from 1 on"),
)
OPTIONS: Final = (*TABLE, *COORDINATION, *ARCHIVE)


def parsed(options: Iterable[Option], texts: Mapping[str, str], refuse: Refusal) -> dict[str, Any]:
    """Parse the options in `texts` into a dictionary from field name to value. If a value is invalid, raises the error
    returned by the callback `refuse`.
    """
    values = {}
    for option in options:
        if option.name in texts:
            text = texts[option.name]
            value = option.parse(text)
            if value is None:
                shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
                raise refuse(option.name, shown, option.needed)
            values[option.field] = value
    return values
