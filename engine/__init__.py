"""The engine: reads and writes Hudi tables on Spark, or in one process without Spark.

The package imports a submodule only when one of the submodule's names is first used. Importing `nbcc.engine.errors`
does not import Arrow.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from .config import TableConfig
    from .context import Context
    from .table import Table, create_table, open_table

__all__ = ["Context", "Table", "TableConfig", "create_table", "open_table"]

_HOMES: Final = {
    "Context": ".context",
    "Table": ".table",
    "TableConfig": ".config",
    "create_table": ".table",
    "open_table": ".table",
}


def __getattr__(name: str) -> Any:
    try:
        home = _HOMES[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    return getattr(import_module(home, __name__), name)
