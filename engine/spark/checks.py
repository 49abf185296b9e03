"""Checks, before Spark starts, whether this machine has supported versions of Java, Python and PySpark.

This module neither imports PySpark nor starts Spark, so `nbcc doctor` runs on any machine.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..extras import install

PYTHON_FLOOR: Final = (3, 11)
JAVA_VERSIONS: Final = (17, 21)
SPARK_FLOOR: Final = (4, 2)  # the first with limits of Python streaming sources
DISK_FLOOR: Final = 1 << 30
VECTOR_MODULE: Final = "jdk.incubator.vector"

_PATIENCE_SECONDS: Final = 30
_INSTALL_SPARK: Final = install("spark")


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check of the installation, with a remedy if the check failed."""

    name: str
    ok: bool
    found: str
    needed: str
    remedy: str

    def __str__(self) -> str:
        head = f"{self.name}: found {self.found}"
        return head if self.ok else f"{head}, needed {self.needed}: {self.remedy}"


def checks() -> list[CheckResult]:
    """Return the results of all checks of the installation."""
    return [check() for check in CHECKS]


def python() -> CheckResult:
    needed = f"Python {'.'.join(map(str, PYTHON_FLOOR))} or later"
    remedy = "install a newer Python and create the environment again with it"
    return CheckResult("Python", sys.version_info[:2] >= PYTHON_FLOOR, platform.python_version(), needed, remedy)


def java() -> CheckResult:
    """Check that the Java runtime used by Spark's launcher has a supported version."""
    needed = f"a Java {' or '.join(map(str, JAVA_VERSIONS))} runtime"
    command = java_command()
    if command is None:
        where = "at JAVA_HOME or on PATH" if os.environ.get("JAVA_HOME") else "on PATH"
        return CheckResult("Java", False, f"none {where}", needed, _install_java())
    text = _output(command, "-version")
    version = re.search(r'version "(?:1\.)?(\d+)([^"]*)"', text or "")
    if version is None:
        return CheckResult("Java", False, f"{command}, which does not run", needed, _install_java())
    found = f"{version[1]}{version[2]} at {command}"
    return CheckResult("Java", int(version[1]) in JAVA_VERSIONS, found, needed, _install_java())


def java_vector_module() -> CheckResult:
    """Check for the Java module `jdk.incubator.vector`, which Spark's launcher requires. Java runtimes built by jlink
    often do not contain `jdk.incubator.vector`.
    """
    command = java_command()
    modules = None if command is None else _output(command, "--list-modules")
    there = re.search(rf"^{re.escape(VECTOR_MODULE)}(@|$)", modules or "", re.MULTILINE) is not None
    found = VECTOR_MODULE if there else "a runtime without it" if modules else "no runtime to ask"
    return CheckResult("Java modules", there, found, f"the module {VECTOR_MODULE}", _install_java())


def pyspark() -> CheckResult:
    needed = f"PySpark {SPARK_FLOOR[0]}.x, {SPARK_FLOOR[0]}.{SPARK_FLOOR[1]} or later"
    try:
        version = importlib.metadata.version("pyspark")
    except importlib.metadata.PackageNotFoundError:
        return CheckResult("PySpark", False, "none", needed, _INSTALL_SPARK)
    parts = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
    return CheckResult("PySpark", SPARK_FLOOR <= parts < (SPARK_FLOOR[0] + 1,), version, needed, _INSTALL_SPARK)


def spark_home() -> CheckResult:
    """Check SPARK_HOME: PySpark starts the Spark installation in that folder, even if its version differs from
    PySpark's.
    """
    home = os.environ.get("SPARK_HOME")
    needed = "none, or the one inside the installed PySpark"
    if not home:
        return CheckResult("SPARK_HOME", True, "none", needed, "")
    package = importlib.util.find_spec("pyspark")
    own = Path(package.origin).parent if package and package.origin else None
    same = own is not None and Path(home).resolve() == own.resolve()
    return CheckResult("SPARK_HOME", same, home, needed, "unset SPARK_HOME")


def disk() -> CheckResult:
    folder = tempfile.gettempdir()
    free = shutil.disk_usage(folder).free
    remedy = f"free some space in {folder}, or set TMPDIR to a folder that has it"
    found, needed = f"{free / 2**30:.1f} GiB free in {folder}", f"{DISK_FLOOR / 2**30:.0f} GiB"
    return CheckResult("Disk", free >= DISK_FLOOR, found, needed, remedy)


CHECKS: Final[tuple[Callable[[], CheckResult], ...]] = (python, java, java_vector_module, pyspark, spark_home, disk)


def java_command() -> str | None:
    """Return the `java` command that Spark's launcher runs: from JAVA_HOME if the variable is set, otherwise from PATH.
    """
    home = os.environ.get("JAVA_HOME")
    if home:
        command = Path(home, "bin", "java")
        return str(command) if command.exists() else None
    return shutil.which("java")


def _output(command: str, option: str) -> str | None:
    try:
        done = subprocess.run(
            [command, option],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PATIENCE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout + done.stderr if done.returncode == 0 else None


def _install_java() -> str:
    """Return the command or instruction that installs a Java runtime on this machine."""
    version = JAVA_VERSIONS[0]
    managers = {
        "apt-get": f"apt-get install openjdk-{version}-jre-headless",
        "dnf": f"dnf install java-{version}-openjdk-headless",
        "apk": f"apk add openjdk{version}-jre-headless",
        "brew": f"brew install openjdk@{version}",
    }
    for manager, command in managers.items():
        if shutil.which(manager):
            return command
    return f"install a complete OpenJDK {version} runtime and set JAVA_HOME to it"
