"""Maps a missing module to the pip extra of nbcc that installs the module."""

from __future__ import annotations

from typing import Final

from .errors import CannotRun

EXTRAS: Final = {
    "pyspark": "spark",
    "py4j": "spark",
    "pandas": "spark",
    "matplotlib": "viz",
    "kazoo": "zookeeper",
    "hudi": "test",
    "hypothesis": "test",
    "networkx": "test",
    "z3": "proof",
    "simpy": "workload",
}
"""Top-level modules of the optional distributions; the base tier imports none of them."""


def install(extra: str) -> str:
    """Return the command that installs an extra of nbcc."""
    return f"pip install 'nbcc[{extra}]'"


def missing_extra(error: ImportError) -> CannotRun | None:
    """Return the `CannotRun` error for the failed import of a missing pip extra, or None if the import failed for
    another reason.
    """
    module = (error.name or "").partition(".")[0]
    if module not in EXTRAS:
        return None
    return CannotRun(f"import {module}", "it is not installed", install(EXTRAS[module]))
