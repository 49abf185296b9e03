"""What is checked before Spark starts, on machines that lack it; and the session that comes out."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nbcc.engine.errors import CannotRun
from nbcc.engine.spark import checks, session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ASKED = "#!/bin/sh\ncase $1 in --list-modules) {modules} ;; *) {version} ;; esac\n"
SEVENTEEN = 'echo "openjdk version \\"17.0.15\\" 2025-04-15" >&2'
VECTOR = "echo java.base@17.0.15; echo jdk.incubator.vector@17.0.15"

Install = Callable[..., Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Puts a `java` that answers so into the only folder of PATH."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))

    def put(version: str = SEVENTEEN, modules: str = VECTOR, folder: str = "bin", mode: int = 0o755) -> Path:
        program = tmp_path / folder / "java"
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(ASKED.format(version=version, modules=modules))
        program.chmod(mode)
        return program

    return put


def test_a_good_java(install: Install) -> None:
    program = install()
    assert checks.java().ok
    assert checks.java().found == f"17.0.15 at {program}"
    assert checks.java_vector_module().ok


@pytest.mark.parametrize(
    ("version", "found"),
    [
        ('echo "java version \\"1.8.0_392\\"" >&2', "8.0_392"),
        ('echo "openjdk version \\"11.0.2\\" 2019-01-15" >&2', "11.0.2"),
        ('echo "openjdk version \\"24\\" 2025-03-18" >&2', "24"),
    ],
)
def test_a_java_of_another_version(install: Install, version: str, found: str) -> None:
    install(version)
    finding = checks.java()
    assert not finding.ok
    assert finding.found.startswith(f"{found} at ")
    assert "needed a Java 17 or 21 runtime: " in str(finding)


@pytest.mark.parametrize("version", ["exit 1", "echo nonsense", "exec /nowhere/java"])
def test_a_java_that_does_not_run(install: Install, version: str) -> None:
    program = install(version, modules=version)
    assert checks.java().found == f"{program}, which does not run"
    assert not checks.java_vector_module().ok


def test_a_runtime_without_the_vector_module(install: Install) -> None:
    install(modules="echo java.base@17.0.15; echo jdk.incubator.vectors@1")
    assert checks.java().ok
    finding = checks.java_vector_module()
    assert (finding.ok, finding.found) == (False, "a runtime without it")


def test_no_java_and_nothing_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "")
    assert (checks.java().ok, checks.java().found) == (False, "none on PATH")
    assert checks.java().remedy.startswith("install a complete OpenJDK 17 runtime")
    (tmp_path / "dnf").write_text("")
    (tmp_path / "dnf").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert checks.java().remedy == "dnf install java-17-openjdk-headless"


def test_java_home_is_preferred_even_if_it_is_empty(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    assert checks.java().found == "none at JAVA_HOME or on PATH"
    program = install('echo "openjdk version \\"21.0.1\\"" >&2', folder="home/bin")
    assert checks.java().found == f"21.0.1 at {program}"


def test_a_foreign_spark_home(monkeypatch: pytest.MonkeyPatch) -> None:
    import pyspark

    monkeypatch.delenv("SPARK_HOME", raising=False)
    assert checks.spark_home().ok
    monkeypatch.setenv("SPARK_HOME", os.path.dirname(pyspark.__file__))
    assert checks.spark_home().ok
    monkeypatch.setenv("SPARK_HOME", "/opt/spark-3.5")
    assert str(checks.spark_home()) == (
        "SPARK_HOME: found /opt/spark-3.5, needed none, or the one inside the installed PySpark: unset SPARK_HOME"
    )


@pytest.mark.parametrize(
    ("version", "ok"),
    [("4.2.0", True), ("4.10.0.dev1", True), ("4.1.1", False), ("3.5.8", False), ("5.0.0", False), (None, False)],
)
def test_pyspark_of_each_kind(monkeypatch: pytest.MonkeyPatch, version: str | None, ok: bool) -> None:
    def found(_: str) -> str:
        if version is None:
            raise importlib.metadata.PackageNotFoundError
        return version

    monkeypatch.setattr(importlib.metadata, "version", found)
    assert (checks.pyspark().ok, checks.pyspark().found) == (ok, version or "none")


def test_an_old_python(monkeypatch: pytest.MonkeyPatch) -> None:
    assert checks.python().ok
    monkeypatch.setattr(sys, "version_info", (3, 10, 4))
    assert not checks.python().ok


def test_a_full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    assert checks.disk().ok
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10, 9, (1 << 30) - 1))
    assert not checks.disk().ok


def test_a_failed_check_starts_no_jvm(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    install('echo "openjdk version \\"11.0.2\\"" >&2')
    monkeypatch.setattr(session, "_running", lambda: False)
    monkeypatch.setattr(session, "_launch", lambda *_: pytest.fail("a JVM was started"))
    with pytest.raises(CannotRun, match=r"found 11\.0\.2 at .*needed a Java 17 or 21 runtime"):
        session.session()


def test_the_session_keeps_to_itself_and_to_utc(spark: SparkSession) -> None:
    assert session.session() is spark
    settings = spark.sparkContext.getConf()
    assert settings.get("spark.driver.bindAddress") == settings.get("spark.driver.host") == "127.0.0.1"
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
    java = spark.sparkContext._jvm
    assert java is not None
    assert java.java.util.TimeZone.getDefault().getID() == "UTC"
    assert spark.sparkContext.uiWebUrl is None
    assert listening_addresses() <= {"127.0.0.1", "::1", "::ffff:127.0.0.1"}


def listening_addresses() -> set[str]:
    """Where this process and the JVM below it accept connections (Linux only; elsewhere nothing is known)."""
    if not Path("/proc/net/tcp6").exists():
        return set()
    sockets = set()
    for pid in family(os.getpid()):
        with suppress(OSError):  # processes and their files come and go
            sockets |= {os.readlink(file) for file in Path(f"/proc/{pid}/fd").iterdir()}
    found = set()
    for table, width in (("tcp", 8), ("tcp6", 32)):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            local, state, inode = (line.split()[column] for column in (1, 3, 9))
            if state == "0A" and f"socket:[{inode}]" in sockets:
                octets = bytes.fromhex(local[:width])
                words = b"".join(octets[at : at + 4][::-1] for at in range(0, len(octets), 4))
                address = IPv4Address(words) if width == 8 else IPv6Address(words)
                found.add(str(getattr(address, "ipv4_mapped", None) or address))
    return found


def test_the_default_log_of_the_jvm_is_a_new_file_of_this_user() -> None:
    """Another user cannot guess its name and put a link there. The file is deleted when the process ends."""
    jvm_log = session.jvm_log.__wrapped__
    first, second = jvm_log(), jvm_log()
    assert first != second
    for path in (first, second):
        assert path.stat().st_mode & 0o777 == 0o600
        path.unlink()


def family(root: int) -> set[int]:
    """A process and all below it."""
    parents: dict[int, int] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(status.parent.name)] = int(fields[1])
    found = {root}
    while grown := {child for child, parent in parents.items() if parent in found} - found:
        found |= grown
    return found
