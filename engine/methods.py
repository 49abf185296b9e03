"""Derives the methods of `Table` from the operations of the same names: their signatures, types and docstrings."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from .actions import Operation
from .errors import Missing
from .storage import NotFound
from .upkeep import keep_up

if TYPE_CHECKING:
    from .table import Table
    from .table_reads import TableReads

P = ParamSpec("P")
R = TypeVar("R")


def reads(operation: Operation[P, R]) -> Callable[Concatenate[TableReads, P], R]:
    """Return a method that runs an operation which writes nothing."""

    def method(self: TableReads, /, *args: P.args, **kwargs: P.kwargs) -> R:
        _refuse_unfit(method, self, *args, **kwargs)
        with _typed_absence(self.context.storage.url):
            return operation.run(self.context, self.config, *args, **kwargs)

    return _described(method, operation, "table_reads", "TableReads")


def writes(
    operation: Operation[P, R], then: Callable[[Table], None] = lambda _: None
) -> Callable[Concatenate[Table, P], R]:
    """Return a method that runs an operation like `perform`, and then calls `then`."""

    def method(self: Table, /, *args: P.args, **kwargs: P.kwargs) -> R:
        _refuse_unfit(method, self, *args, **kwargs)
        with _typed_absence(self.context.storage.url):
            answer = perform(self, operation, *args, **kwargs)
        then(self)
        return answer

    return _described(method, operation, "table", "Table")


def perform(table: Table, operation: Operation[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """Run an operation that may write. Before it, take the table over if the table's options ask for that. After it,
    archive instants and put a state checkpoint if either is due.
    """
    if not kwargs.get("dry_run"):  # a dry run of `maintain` changes nothing
        table.take_over()
    answer = operation.run(table.context, table.config, *args, **kwargs)
    keep_up(table.context, table.config, operation, answer)
    return answer


@contextmanager
def _typed_absence(url: str) -> Iterator[None]:
    """Raise `Missing` for a file of the timeline or archive that is missing. Operations retry while another process may
    have moved the file, so that what is left is damage.
    """
    try:
        yield
    except NotFound as absent:
        remedy = "restore it from a copy; nbcc validate says what else is damaged"
        raise Missing(f"use the table at {url}", f"{absent} is missing", remedy) from None


def _refuse_unfit(method: Callable[..., Any], /, *args: object, **kwargs: object) -> None:
    """Raise `TypeError` if the arguments do not fit. Python's own error would name `run`, and count its `context`."""
    try:
        inspect.signature(method).bind(*args, **kwargs)
    except TypeError as unfit:
        raise TypeError(f"{method.__qualname__}() {unfit}") from None


def _described(method: Callable[P, R], operation: Any, module: str, owner: str) -> Callable[P, R]:
    """Give a method of the class `owner` the name, the docstring and the signature of its operation. A call looks `run`
    up again, because mutants and tests replace it.
    """
    name, signature = operation.__name__.rpartition(".")[2], inspect.signature(operation.run)
    context, config, *parameters = signature.parameters.values()
    itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    described: Any = update_wrapper(method, operation.run)
    described.__signature__ = signature.replace(parameters=[itself, *parameters])
    for each in (context, config):
        del described.__annotations__[each.name]
    described.__name__, described.__qualname__ = name, f"{owner}.{name}"
    described.__module__ = f"{__package__}.{module}"
    return method
