"""What a mechanism provides where a row is not one record: rows of several records, and windows over base files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from .kernel.table import Log

if TYPE_CHECKING:
    from .answers import Record
    from .kernel.merge import Fold, Merger, Ranked


class Content(Protocol):
    """The record of one key in a log: a delete, or a record that sets some columns; under an ordering value."""

    @property
    def ordering(self) -> int: ...
    @property
    def deleted(self) -> bool: ...
    @property
    def sets(self) -> tuple[str, ...]: ...


class Combination(Protocol):
    """How one row is made of several records: column by column, or by a function of the user."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of which a record sets some; () if every record is a whole row."""

    def read(self, shape: Fold, content: Callable[[Log], Content | None], merger: Merger, deletes: bool) -> Any:
        """What a read shows of the key; None if it shows nothing."""

    def by_definition(self, logs: Iterable[Log], rows: Mapping[Log, Any], merger: Merger, deletes: bool) -> Any:
        """The answer for a key by definition, from logs in rank order, without file slices or base files."""

    def records_of(self, made: Any, records: Callable[[Log], Record], window: bool) -> Iterator[Record]:
        """The rows of an answer."""

    def merged_on(
        self, logs: tuple[Log, ...], rows: Mapping[Log, Any], state: Any, window: Any, merger: Merger
    ) -> Any:
        """What a window makes of a state, by a reader that has both answers and nothing else."""


class Window(Protocol):
    """A window over files whose rows cannot be merged like those of logs."""

    def logs(self) -> Iterator[Log]:
        """Every log whose records are in the answer."""

    def winner(self, record_of: Callable[[Log], Ranked | None], merger: Merger) -> Ranked | None:
        """The winner for one key, which may be a delete."""

    def renamed(self, rename: Callable[[Fold], Fold]) -> Window:
        """The window with each of its folds renamed."""
