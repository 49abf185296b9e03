"""The consumers of vectors in examples/vectors, over the vectors of `nbcc fill`: each one counts the known differences
by name and finds no other.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from nbcc.simulator.lockstep.vectors.fill import fill
from tests.builders.sources import ROOT

EXAMPLES = ROOT / "examples" / "vectors"
OF_HUDI_RS = {
    "as_of_axis = requested", "fold = logs_first", "merge_order = requested", "window_deletes = omitted",
    "window_merge = slice_of_table", "it does not read the archive", "log_compaction_window = included",
}  # fmt: skip
OF_HUDI = {
    "as_of_axis = requested_slices", "as_of_pending = refused", "first_slice = first_requested", "fold = logs_first",
    "it reads the state at the end of the window", "log_compaction_window = included", "merge_order = requested",
    "window_deletes = omitted", "window_merge = slice_of_window",
}  # fmt: skip


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("vectors")
    assert fill(folder, "small").vectors >= 300
    yield folder
    shutil.rmtree(folder)


def counted(name: str, command: list[str], cwd: Path = EXAMPLES) -> Mapping[str, int]:
    """Run a consumer, which must find no unknown difference, and print its seconds. Returns its counts by name."""
    begun = time.monotonic()
    ran = subprocess.run(
        command, cwd=cwd, check=False, capture_output=True, text=True, env={**os.environ, "RUST_BACKTRACE": "0"}
    )
    took = time.monotonic() - begun
    assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-2000:]
    counts = {what: int(number) for number, what in re.findall(r"^ *(\d+) (.+)$", ran.stdout, re.MULTILINE)}
    print(f"{name}: {took:.0f} s, {counts}")
    assert "UNKNOWN" not in counts
    return counts


def known(counts: Mapping[str, int]) -> set[str]:
    """The names of the known differences that were seen."""
    names = {what.removeprefix("known: ") for what in counts if what.startswith("known: ")}
    return {part for name in names for part in name.split(" and ")}


def test_hudi_rs_from_python(vectors: Path) -> None:
    counts = counted("hudi-rs, Python", [sys.executable, "with_hudi_rs.py", str(vectors)])
    assert counts["agree"] > 2000
    assert {"window_deletes = omitted", "as_of_axis = requested"} <= known(counts) <= OF_HUDI_RS


def test_hudi_rs_from_rust(vectors: Path) -> None:
    if missing := [name for name in ("cargo", "protoc") if not shutil.which(name)]:
        pytest.skip(f"{' and '.join(missing)} not installed: hudi-rs was not run from Rust")
    folder = EXAMPLES / "hudi_rust"
    subprocess.run(["cargo", "build", "--quiet"], cwd=folder, check=True)  # compiles about 500 crates the first time
    counts = counted("hudi-rs, Rust", ["cargo", "run", "--quiet", "--offline", "--", str(vectors)], folder)
    assert counts["agree"] > 2000
    assert {"window_deletes = omitted", "as_of_axis = requested"} <= known(counts) <= OF_HUDI_RS


def test_duckdb_reads_the_base_files(vectors: Path) -> None:
    pytest.importorskip("duckdb", reason="DuckDB is not installed: pip install duckdb")
    assert counted("DuckDB", [sys.executable, "with_duckdb.py", str(vectors)])["agree"] > 300


def test_hudi_from_junit(vectors: Path) -> None:
    if not shutil.which("mvn"):
        pytest.skip("Maven is not installed: Apache Hudi was not run")
    folder = EXAMPLES / "hudi_junit"
    subprocess.run(["mvn", "-q", "-B", "test-compile"], cwd=folder, check=True)  # fetches what is missing
    counts = counted("Hudi, JUnit", ["mvn", "-q", "-B", "test", f"-Dvectors={vectors}"], folder)
    assert counts["agree"] > 2000
    assert {"window_deletes = omitted", "as_of_pending = refused", "fold = logs_first"} <= known(counts) <= OF_HUDI
