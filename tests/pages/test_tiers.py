"""Each tier of the wheel with its own dependencies alone: what it offers works, the rest names the extra to install."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from email.parser import HeaderParser
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

WRITES = """
import pyarrow as pa
from nbcc import Table
schema = pa.schema([("id", pa.string()), ("ts", pa.int64()), ("item", pa.string())])
table = Table.create(None, "orders", schema, record_key="id", ordering_fields="ts", buckets=1)
table.upsert(pa.table({"id": ["a", "b"], "ts": [1, 1], "item": ["tea", "milk"]}, schema=schema))
table.upsert(pa.table({"id": ["a"], "ts": [2], "item": ["coffee"]}, schema=schema))
table.delete(pa.table({"id": ["b"], "ts": [2]}))
table.compact()
assert table.snapshot().column("item").to_pylist() == ["coffee"]
"""
ON_SPARK = """
from nbcc import Table, session
spark = session()
table = Table.create(spark, "orders", "id string, ts long, item string", record_key="id", ordering_fields="ts")
table.upsert(spark.createDataFrame([("a", 1, "tea")], "id string, ts long, item string"))
assert [row.item for row in table.snapshot().collect()] == ["tea"]
spark.stop()
"""
DRAWS = """
import matplotlib
matplotlib.use("agg")
import nbcc
nbcc.draw_timeline("orders")
nbcc.draw_slices("orders")
"""


@dataclass(frozen=True)
class Tier:
    """An environment that holds the wheel and the distributions of one tier."""

    home: Path
    folder: Path

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run `nbcc` or `python` of this environment in an empty folder."""
        ours = ("PYTHON", "PYTEST", "VIRTUAL_ENV", "NBCC", "PYSPARK")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        line = [str(self.home / "bin" / command[0]), *command[1:]]
        return subprocess.run(line, cwd=self.folder, env=kept, text=True, capture_output=True, timeout=600, check=False)

    def does(self, *command: str) -> str:
        """Run what must work; the answer is its standard output."""
        ran = self.run(*command)
        assert ran.returncode == 0, (command, ran.stdout, ran.stderr)
        return ran.stdout

    def refuses(self, extra: str, *command: str) -> None:
        """Run what needs an extra: one sentence names it, and the exit code is 4."""
        ran = self.run(*command)
        assert (ran.returncode, ran.stdout) == (4, ""), (command, ran.stderr)
        assert f"pip install 'nbcc[{extra}]'" in ran.stderr
        assert "bug" not in ran.stderr
        assert "Traceback" not in ran.stderr


def required(requirements: Iterable[str], extras: Iterable[str] = ()) -> Iterator[Distribution]:
    """The distributions of this environment that these requirements need, and what those need."""
    for requirement in map(Requirement, requirements):
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            try:
                found = distribution(requirement.name)
            except PackageNotFoundError:
                continue  # what is not locked is not needed on this platform
            yield found
            yield from required(found.requires or (), requirement.extras)


def link(found: Distribution, site: Path) -> None:
    """Make the files of a distribution of this environment importable from another one."""
    here = Path(sysconfig.get_path("purelib"))
    for name in {path.parts[0] for path in found.files or () if path.parts[0] not in ("..", "__pycache__")}:
        if not (site / name).exists():
            (site / name).symlink_to(here / name)


@pytest.fixture(scope="module")
def tier(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Tier]:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        needs = HeaderParser().parsestr(archive.read(name).decode()).get_all("Requires-Dist", [])

    def made(*extras: str) -> Tier:
        place = tmp_path_factory.mktemp("-".join(extras) or "base")
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place / "venv")], check=True)
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(place / "venv/bin/python")]
        subprocess.run([*pip, "install", "--quiet", "--no-index", "--no-deps", str(wheel)], check=True)
        site = Path(sysconfig.get_path("purelib", vars={"base": str(place / "venv")}))
        for found in required(needs, extras):
            link(found, site)
        (place / "work").mkdir()
        return Tier(place / "venv", place / "work")

    return made


def test_the_base_tier(tier: Callable[..., Tier]) -> None:
    base = tier()
    base.does("python", "-c", WRITES)
    for command in ("inspect orders", "validate orders", "why orders a", "table orders stats", "list worlds"):
        base.does("nbcc", *command.split())
    base.does("nbcc", "inspect", "orders", "--html", "orders.html")
    base.does("nbcc", *["explore", "demo", "--promise", "SNAP"])
    found = base.run("nbcc", *["explore", "readers", "--protocol", "single-listing", "--promise", "SNAP"])
    handle = found.stdout.rpartition("nbcc replay ")[2].split()[0]
    assert "AGREED" not in found.stdout
    for system in ("model", "engine"):
        assert base.run("nbcc", "replay", handle, "--on", system, "--expect", "violated").returncode == 0
    base.refuses("test", "nbcc", "check", "demo", "--examples", "1")
    base.refuses("test", "nbcc", "check", "demo", "--tour")
    base.refuses("spark", "nbcc", "demo")
    base.refuses("spark", "nbcc", "replay", handle, "--on", "spark")
    base.refuses("workload", "nbcc", "simulate", "two-pipelines")
    base.refuses("viz", "nbcc", "verdicts", "--picture", "verdicts.png")
    for extra, line in (("test", "import nbcc.testing"), ("viz", "import nbcc; nbcc.draw_timeline('orders')"),
                        ("spark", "import nbcc; nbcc.session()")):  # fmt: skip
        ran = base.run("python", "-c", line)
        assert f"pip install 'nbcc[{extra}]'" in ran.stderr.splitlines()[-1]


@pytest.mark.spark
def test_the_spark_tier(tier: Callable[..., Tier]) -> None:
    tier("spark").does("python", "-c", ON_SPARK)


def test_the_viz_tier(tier: Callable[..., Tier]) -> None:
    viz = tier("viz")
    viz.does("python", "-c", WRITES)
    viz.does("python", "-c", DRAWS)
    viz.refuses("spark", "nbcc", "demo")


def test_the_test_tier(tier: Callable[..., Tier]) -> None:
    test = tier("test")
    assert "AGREED" in test.does("nbcc", "check", "demo", "--examples", "2")
    test.does("nbcc", "check", "demo", "--tour", "--share", "0.1")
    test.does("python", "-c", "import nbcc.testing")
    test.does("nbcc", "init")
    assert "1 passed" in test.does("python", "-m", "pytest", "test_my_table.py")


def test_the_workload_tier(tier: Callable[..., Tier]) -> None:
    workload = tier("workload")
    assert "the lock is held" in workload.does("nbcc", "simulate", "two-pipelines", "--hours", "0.1")
    workload.refuses("viz", "nbcc", "simulate", "two-pipelines", "--hours", "0.1", "--plot", "picture.png")


def test_the_zookeeper_tier(tier: Callable[..., Tier]) -> None:
    locks = (
        "from nbcc.engine.lock.zookeeper import ZookeeperLock;"
        "ZookeeperLock('file:///t', '127.0.0.1:1', '/t', wait_seconds=0.2).try_once()"
    )
    assert "no ZooKeeper answers at 127.0.0.1:1" in tier("zookeeper").run("python", "-c", locks).stderr
    assert "pip install 'nbcc[zookeeper]'" in tier().run("python", "-c", locks).stderr
