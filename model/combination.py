"""Interfaces for mechanisms that combine several records into one row, or that use base files in incremental reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from .kernel.table import Log

if TYPE_CHECKING:
    from .answers import Record
    from .kernel.merge import Fold, Merger, Ranked


class Content(Protocol):
    """The record of one key in a log: a delete, or a record that sets some columns."""

    @property
    def ordering(self) -> int: ...
    @property
    def deleted(self) -> bool: ...
    @property
    def sets(self) -> tuple[str, ...]: ...


class Combination(Protocol):
    """How several records form one row: column by column, or by a merge function of the user."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that partial updates may set; () if every record is a whole row."""

    def read(self, shape: Fold, content: Callable[[Log], Content | None], merger: Merger, deletes: bool) -> Any:
        """The value that a read shows for one key; None if the read shows no row of the key."""

    def by_definition(self, logs: Iterable[Log], rows: Mapping[Log, Any], merger: Merger, deletes: bool) -> Any:
        """The defined answer for a key, computed from the logs in rank order, without file slices or base files."""

    def records_of(self, made: Any, records: Callable[[Log], Record], window: bool) -> Iterator[Record]:
        """The rows of one key in an answer."""

    def merged_on(
        self, logs: tuple[Log, ...], rows: Mapping[Log, Any], state: Any, window: Any, merger: Merger
    ) -> Any:
        """The value of a key after a reader applies the answer of an incremental read to an earlier state. The reader
        knows only the state and the window, not the logs.
        """


class Window(Protocol):
    """An incremental query that also reads base files. Rows of base files and rows of logs merge by different rules."""

    def logs(self) -> Iterator[Log]:
        """Every log whose records the window merges."""

    def winner(self, record_of: Callable[[Log], Ranked | None], merger: Merger) -> Ranked | None:
        """The winning record of one key, which may be a delete; None if the key has no record."""

    def renamed(self, rename: Callable[[Fold], Fold]) -> Window:
        """Return a copy of the window with `rename` applied to each of its merge trees."""
