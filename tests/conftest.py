"""What all tests share: one Spark session, Hypothesis profiles, and the workers that what needs Spark stays in."""

from __future__ import annotations

import gc
import os
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from nbcc.simulator.search.explore import memory
from tests.builders.by_day import NIGHTLY

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MEMORY = Path("/dev/shm")  # a folder in memory, where the system has one
ROOM = 1 << 30  # bytes; the files of a test are deleted when it has passed

GROWTH = 256 << 20  # bytes by which a process may grow between two garbage collections
after_collection = [0]
"""The memory that this process held after each garbage collection."""

# A test that drives the whole engine is slow by nature; its own budget is what bounds it. Every run draws the same
# examples, so that a green run means something; the nightly one draws new ones.
settings.register_profile(
    "nbcc",
    deadline=None,
    derandomize=not NIGHTLY,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
settings.load_profile("nbcc")


def pytest_configure(config: pytest.Config) -> None:
    """Put `tmp_path` into memory if there is room: the engine syncs every file that it writes, and a disk
    makes it wait."""
    try:
        roomy = shutil.disk_usage(MEMORY).free >= ROOM and not os.statvfs(MEMORY).f_flag & os.ST_NOEXEC
    except OSError:
        return
    if roomy and os.access(MEMORY, os.W_OK):
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


@pytest.hookimpl(tryfirst=True)  # pytest-xdist reads the groups in the same hook
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests on the shared session stay in one worker, so that a run starts it once. So do the other tests of one file:
    what its fixtures and caches hold is computed once. A test that starts Spark itself, or programs of an installed
    nbcc, shares nothing with the others of its file, and the workers take such tests one by one. Nightly tests wait
    for `make nightly`.
    """
    kept: list[pytest.Item] = []
    dropped: list[pytest.Item] = []
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)
            item.add_marker(pytest.mark.xdist_group("spark"))
        elif not item.get_closest_marker("xdist_group"):
            file = item.nodeid.partition("::")[0]
            item.add_marker(pytest.mark.xdist_group(_alone(item) if _starts_programs(item) else file))
        (kept if NIGHTLY or not item.get_closest_marker("nightly") else dropped).append(item)
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = kept
    if getattr(config.option, "loadgroup", False):
        _longest_first(items)


def _starts_programs(item: pytest.Item) -> bool:
    return item.get_closest_marker("spark") is not None or "installed" in getattr(item, "fixturenames", ())


def _alone(item: pytest.Item) -> str:
    """The name of a group of one test. The scheduler reads a name after a bracket that closes as a parameter."""
    return item.nodeid.replace("[", " ").replace("]", "")


def _longest_first(items: list[pytest.Item]) -> None:
    """Sort the groups of tests: a long one that begins last would leave the other workers idle. Those that start Spark
    or other programs take longest for their number of tests.
    """
    groups = {item: next(item.iter_markers("xdist_group")).args[0] for item in items}
    sizes = Counter(groups.values())
    starts = {groups[item] for item in items if _starts_programs(item)}  # a file in a group may have others as well
    items.sort(key=lambda item: (groups[item] not in starts, -sizes[groups[item]], groups[item]))


def pytest_collection_finish() -> None:
    """Collect garbage between tests only: each collection within a test would traverse the values of a search."""
    if gc.isenabled():  # a test of mutants runs pytest in this process
        gc.freeze()  # what was collected and imported lives as long as the process
        gc.disable()


def pytest_runtest_logfinish() -> None:
    """Collect the garbage of the tests since the last collection, if it has become much."""
    if memory.held() > after_collection[-1] + GROWTH:
        gc.collect()
        gc.freeze()  # what is left are caches
        after_collection.append(memory.held())


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The session that the command line builds, too; a failed check of the machine is an error, never a skip."""
    from nbcc.engine.spark.session import session

    started = session()
    yield started
    started.stop()
