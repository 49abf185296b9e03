"""Interfaces for mechanisms that merge several records into one row, or that read base files in incremental queries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from .kernel.table import Log

if TYPE_CHECKING:
    from .answers import Record
    from .kernel.merge import Fold, Merger, Ranked


class Content(Protocol):
    """The record of one key in a log file: a delete, or a record that sets some columns."""

    @property
    def ordering(self) -> int: ...
    @property
    def deleted(self) -> bool: ...
    @property
    def sets(self) -> tuple[str, ...]: ...


class Combination(Protocol):
    """Merges several records of a key into one row: column by column, or with a user-defined merge function."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that partial updates may set; () if every record is a whole row."""

    def read(self, shape: Fold, content: Callable[[Log], Content | None], merger: Merger, deletes: bool) -> Any:
        """Return the merged value of one key; None if the result of the query contains no row for the key."""

    def by_definition(self, logs: Iterable[Log], rows: Mapping[Log, Any], merger: Merger, deletes: bool) -> Any:
        """Return the expected value of one key: all its log records, merged in merge order. The expected value does not
        depend on file slices or base files.
        """

    def records_of(self, made: Any, records: Callable[[Log], Record], window: bool) -> Iterator[Record]:
        """Yield the records of one key that belong in the result of a query. If `window` is True, the query is
        incremental.
        """

    def merged_on(
        self, logs: tuple[Log, ...], rows: Mapping[Log, Any], state: Any, window: Any, merger: Merger
    ) -> Any:
        """Merge `window`, the result of an incremental query for one key, into `state`, an earlier value of the key."""


class Window(Protocol):
    """An incremental query that also reads base files. Records from base files and records from log files are merged by
    different rules.
    """

    def logs(self) -> Iterator[Log]:
        """Yield every log file whose records the incremental query merges."""

    def winner(self, record_of: Callable[[Log], Ranked | None], merger: Merger) -> Ranked | None:
        """Return the winning record of one key, which may be a delete. Return None if the query reads no record of the
        key.
        """

    def renamed(self, rename: Callable[[Fold], Fold]) -> Window:
        """Return a copy of the query in which each merge tree is replaced by the result of `rename`."""
