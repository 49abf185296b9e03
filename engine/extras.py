"""Maps a missing module to the pip extra of nbcc that installs the module."""

from __future__ import annotations

from importlib.util import find_spec
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
    "pytest": "test",
    "z3": "proof",
    "simpy": "workload",
}
"""Top-level modules of the optional distributions; the base tier imports none of them."""


NEEDED_BY: Final = {
    "spark": "the engine on Spark, check --on spark, demo",
    "viz": "plots, notebooks",
    "zookeeper": "tables locked by ZooKeeper",
    "test": "check, nbcc.testing and its plugin of pytest, copies of tables of version 6",
    "proof": "prove",
    "workload": "simulate",
}
"""What each extra is for."""


def install(extra: str) -> str:
    """Return the command that installs an extra of nbcc."""
    return f"pip install 'nbcc[{extra}]'"


def missing_extras() -> dict[str, list[str]]:
    """Return the extras of which a module is not installed: extra -> its missing modules."""
    missing: dict[str, list[str]] = {extra: [] for extra in EXTRAS.values()}
    for module, extra in EXTRAS.items():
        if find_spec(module) is None:
            missing[extra].append(module)
    return {extra: modules for extra, modules in missing.items() if modules}


def missing_extra(error: ImportError) -> CannotRun | None:
    """Return the `CannotRun` error for the failed import of a missing pip extra, or None if the import failed for
    another reason.
    """
    module = (error.name or "").partition(".")[0]
    if module not in EXTRAS:
        return None
    return CannotRun(f"import {module}", "it is not installed", install(EXTRAS[module]))
