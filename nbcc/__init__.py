"""nbcc: a formal model, a reference simulator and a PySpark engine of Apache Hudi's completion-time timeline.

``from nbcc import Table`` loads the engine when the name is first used, ``nbcc.draw_timeline`` matplotlib: importing
`nbcc` itself imports nothing outside the standard library.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from .engine.config.maintenance import MaintenancePolicy
    from .engine.copying import copy_table
    from .engine.data_source.registration import register, sql_view
    from .engine.errors import BadInput, Cleaned, Conflict, Damaged, LimitExceeded, NbccError, NotATable, Unsupported
    from .engine.limits import Limits, set_limits
    from .engine.spark.session import session
    from .engine.table import Table
    from .simulator.view.plot import draw_slices, draw_timeline, draw_verdicts

__all__ = [
    "BadInput", "Cleaned", "Conflict", "Damaged", "LimitExceeded", "Limits", "MaintenancePolicy", "NbccError",
    "NotATable", "Table", "Unsupported", "copy_table", "draw_slices", "draw_timeline", "draw_verdicts", "register",
    "session", "set_limits", "sql_view",
]  # fmt: skip

_HOMES: Final = {
    "MaintenancePolicy": ".engine.config.maintenance",
    "Table": ".engine.table",
    "copy_table": ".engine.copying",
    "register": ".engine.data_source.registration",
    "session": ".engine.spark.session",
    "sql_view": ".engine.data_source.registration",
    **dict.fromkeys(("BadInput", "Cleaned", "Conflict", "Damaged", "LimitExceeded"), ".engine.errors"),
    **dict.fromkeys(("NbccError", "NotATable", "Unsupported"), ".engine.errors"),
    **dict.fromkeys(("Limits", "set_limits"), ".engine.limits"),
    **dict.fromkeys(("draw_slices", "draw_timeline", "draw_verdicts"), ".simulator.view.plot"),
}


def __getattr__(name: str) -> Any:
    try:
        home = _HOMES[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    return getattr(import_module(home, __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
