"""`nbcc doctor` on machines that lack something: one sentence each, exit code 4."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = "java.base@17\njdk.incubator.vector@17\n"


def fake_java(folder: Path, version: str, modules: str = MODULES, code: int = 0) -> Path:
    """A `java` that says it is of this version and has these modules."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "java"
    program.write_text(
        f"#!/bin/sh\ncase $1 in --list-modules) printf '{modules}';; "
        f"*) echo 'openjdk version \"{version}\" 2024-01-16' >&2;; esac\nexit {code}\n",
        encoding="utf-8",
    )
    program.chmod(0o755)
    return folder


def nbcc(path: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run nbcc where PATH holds this one folder."""
    return subprocess.run(
        [sys.executable, "-c", "from nbcc.simulator.cli.main import main; main()", *arguments],
        env={"PATH": str(path), "TMPDIR": str(path), "PYTHONPATH": str(ROOT), **environment},
        cwd=path, capture_output=True, text=True, check=False,
    )  # fmt: skip


def doctor(path: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return nbcc(path, "doctor", *arguments, **environment)


def failures(ran: subprocess.CompletedProcess[str]) -> list[str]:
    return [line.removeprefix("FAIL  ") for line in ran.stdout.splitlines() if line.startswith("FAIL")]


@pytest.mark.parametrize("version", ["17.0.15", "21.0.2"])
def test_a_good_machine_is_healthy(tmp_path: Path, version: str) -> None:
    ran = doctor(fake_java(tmp_path / "bin", version))
    assert (ran.returncode, failures(ran), ran.stderr) == (0, [], "")
    assert f"Java: found {version}" in ran.stdout


@pytest.mark.parametrize("version", ["1.8.0_392", "11.0.22", "25"])
def test_a_java_of_another_version(tmp_path: Path, version: str) -> None:
    ran = doctor(fake_java(tmp_path / "bin", version))
    (failure,) = failures(ran)
    assert ran.returncode == 4
    assert failure.startswith(f"Java: found {version.removeprefix('1.')}")
    assert "needed a Java 17 or 21 runtime: " in failure


def test_a_stripped_runtime(tmp_path: Path) -> None:
    ran = doctor(fake_java(tmp_path / "bin", "17.0.15", modules="java.base@17\n"))
    (failure,) = failures(ran)
    assert ran.returncode == 4
    assert "jdk.incubator.vector" in failure


def test_a_java_that_does_not_run(tmp_path: Path) -> None:
    ran = doctor(fake_java(tmp_path / "bin", "17.0.15", code=1))
    assert ran.returncode == 4
    assert "which does not run" in failures(ran)[0]


def test_an_empty_path(tmp_path: Path) -> None:
    ran = doctor(tmp_path)
    failed_checks = failures(ran)
    assert ran.returncode == 4
    assert failed_checks[0] == (
        "Java: found none on PATH, needed a Java 17 or 21 runtime: "
        "install a complete OpenJDK 17 runtime and set JAVA_HOME to it"
    )
    assert "Traceback" not in ran.stderr


def test_java_home_goes_before_the_path(tmp_path: Path) -> None:
    good = fake_java(tmp_path / "good", "17.0.15")
    fake_java(tmp_path / "home" / "bin", "11.0.22")
    ran = doctor(good, JAVA_HOME=str(tmp_path / "home"))
    assert ran.returncode == 4
    assert failures(ran)[0].startswith("Java: found 11.0.22")


def test_a_foreign_spark_home(tmp_path: Path) -> None:
    ran = doctor(fake_java(tmp_path / "bin", "17.0.15"), SPARK_HOME=str(tmp_path))
    (failure,) = failures(ran)
    assert ran.returncode == 4
    assert failure.startswith(f"SPARK_HOME: found {tmp_path}")
    assert failure.endswith("unset SPARK_HOME")


def test_the_answer_as_json(tmp_path: Path) -> None:
    ran = doctor(fake_java(tmp_path / "bin", "11.0.22"), "--json")
    report = json.loads(ran.stdout)
    assert report["format"] == 1
    assert [check["name"] for check in report["checks"] if not check["ok"]] == ["Java"]
    assert ran.returncode == 4


@pytest.mark.parametrize("command", [["demo"], ["check", "demo", "--on", "spark"]])
def test_what_needs_spark_says_so_in_one_sentence(tmp_path: Path, command: list[str]) -> None:
    ran = nbcc(tmp_path, *command)
    assert (ran.returncode, ran.stdout) == (4, "")
    assert ran.stderr == (
        "Error: Asked to start Spark, but Java is not as needed (found none on PATH, needed a Java 17 or 21 runtime): "
        "install a complete OpenJDK 17 runtime and set JAVA_HOME to it.\n"
    )


def test_what_needs_no_spark_works_all_the_same(tmp_path: Path) -> None:
    assert nbcc(tmp_path, "explore", "demo").returncode == 0
    assert nbcc(tmp_path, "check", "demo", "--examples", "2").returncode == 0
