"""An installed nbcc: the wheel in an environment of its own, used from a folder that has its own model/ and engine/."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Installed:
    """`bare` holds the wheel and nothing else; `full` sees the locked dependencies of this environment, too."""

    bare: Path
    full: Path
    elsewhere: Path

    def run(self, command: str, seconds: float = 300, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a shell command as a user would, from the folder with its own model/ and engine/."""
        path = f"{self.full / 'bin'}{os.pathsep}{os.environ['PATH']}"
        cleared = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PYTEST", "VIRTUAL_ENV", "NBCC"))}
        return subprocess.run(
            ["bash", "-c", command], cwd=self.elsewhere, capture_output=True, text=True, timeout=seconds, check=False,
            env={**cleared, "PATH": path, "COLUMNS": "110", **environment},
        )  # fmt: skip


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, built by way of the sdist, as an index would get it."""
    out = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "hatchling", "build", "--directory", str(out)]
    subprocess.run([*build, "--target", "sdist"], cwd=ROOT, check=True, capture_output=True)
    (sdist,) = out.glob("*.tar.gz")
    subprocess.run(["tar", "xzf", str(sdist), "-C", str(out)], check=True)
    unpacked = out / sdist.name.removesuffix(".tar.gz")
    subprocess.run([*build, "--target", "wheel"], cwd=unpacked, check=True, capture_output=True)
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    place = tmp_path_factory.mktemp("installed")
    for name in ("bare", "full"):
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place / name)], check=True)
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(place / name / "bin/python")]
        subprocess.run([*pip, "install", "--quiet", "--no-index", "--no-deps", str(wheel)], check=True)
    # The locked dependencies, by path: a .pth line adds the folder, but not the editable nbcc that is installed in it.
    site = Path(sysconfig.get_path("purelib", vars={"base": str(place / "full")}))
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    elsewhere = place / "elsewhere"
    for package in ("model", "engine", "simulator", "specs"):
        (elsewhere / package).mkdir(parents=True)
        (elsewhere / package / "__init__.py").write_text("raise ImportError('not the nbcc package')\n", "utf-8")
    return Installed(place / "bare", place / "full", elsewhere)
