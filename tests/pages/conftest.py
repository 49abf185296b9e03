"""For tests of pages: one headless Chromium, and nbcc installed from its wheel.

Without a browser these tests are skipped with a reason. Tests of plots see no font of the machine (`other_fonts`).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from tests.builders.once import built_once

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Installed:
    """`bare` holds the wheel and nothing else; `full` sees the locked dependencies of this environment, too."""

    bare: Path
    full: Path
    elsewhere: Path

    def in_folder(self, name: str) -> Installed:
        """Return the same installation, whose commands run in a new folder: tables of other programs are not there."""
        return replace(self, elsewhere=user_folder(self.elsewhere.parent / name))

    def run(self, command: str, seconds: float = 300, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a shell command as a user would, from the folder with its own model/ and engine/."""
        path = f"{self.full / 'bin'}{os.pathsep}{os.environ['PATH']}"
        cleared = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PYTEST", "VIRTUAL_ENV", "NBCC"))}
        return subprocess.run(
            ["bash", "-c", command], cwd=self.elsewhere, capture_output=True, text=True, timeout=seconds, check=False,
            env={**cleared, "PATH": path, "COLUMNS": "110", **environment},
        )  # fmt: skip


def user_folder(folder: Path) -> Path:
    """A new folder of a user, with packages of its own that have the names of this checkout's packages."""
    for package in ("model", "engine", "simulator", "specs"):
        (folder / package).mkdir(parents=True)
        (folder / package / "__init__.py").write_text("raise ImportError('not the nbcc package')\n", "utf-8")
    return folder


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, built by way of the sdist, as an index would get it."""
    (built,) = built_once(tmp_path_factory, "dist", _build_wheel).glob("*.whl")
    return built


def _build_wheel(out: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "--directory", str(out)]
    subprocess.run([*build, "--target", "sdist"], cwd=ROOT, check=True, capture_output=True)
    (sdist,) = out.glob("*.tar.gz")
    subprocess.run(["tar", "xzf", str(sdist), "-C", str(out)], check=True)
    unpacked = out / sdist.name.removesuffix(".tar.gz")
    subprocess.run([*build, "--target", "wheel"], cwd=unpacked, check=True, capture_output=True)


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel in two environments that all workers share, and a folder of this worker."""
    place = built_once(tmp_path_factory, "installed", partial(_install, wheel))
    return Installed(place / "bare", place / "full", user_folder(tmp_path_factory.mktemp("user") / "elsewhere"))


def _install(wheel: Path, place: Path) -> None:
    for name in ("bare", "full"):
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place / name)], check=True)
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(place / name / "bin/python")]
        subprocess.run([*pip, "install", "--quiet", "--no-index", "--no-deps", str(wheel)], check=True)
    # The locked dependencies, by path: a .pth line adds the folder, but not the editable nbcc that is installed in it.
    site = Path(sysconfig.get_path("purelib", vars={"base": str(place / "full")}))
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")


ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "browser: drives the page in headless Chromium")


def go_without(reason: str) -> NoReturn:
    """Skip, and say so; where a browser is required (.ci/run), fail."""
    if os.environ.get("NBCC_BROWSER") == "required":
        pytest.fail(reason)
    pytest.skip(reason)


FAMILIES = ("Inter", "Helvetica Neue", "Arial", "Liberation Sans", "DejaVu Sans", "Menlo", "DejaVu Sans Mono")


@pytest.fixture
def other_fonts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which every font family is another serif: a plot that looks a font up by its name shows it."""
    import matplotlib as mpl
    from matplotlib.font_manager import FontEntry, fontManager

    odd = str(Path(mpl.get_data_path(), "fonts", "ttf", "STIXGeneralBolIta.ttf"))
    monkeypatch.setattr(fontManager, "ttflist", [FontEntry(fname=odd, name=family) for family in FAMILIES])
    fontManager._findfont_cached.cache_clear()  # type: ignore[attr-defined]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium from the system's packages, driven by Playwright."""
    found = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        go_without("NO BROWSER: the page is not tested (Debian: apt-get install chromium)")
    try:
        from playwright import sync_api as api
    except ImportError:
        go_without("NO PLAYWRIGHT: the page is not tested (pip install playwright)")
    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        yield started
        started.close()


Open = Callable[..., "Page"]


@pytest.fixture
def open_page(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """Opens a page's HTML in a window of its own; an error in it or a request to the network fails the test."""
    contexts, wrong = [], []

    def opened(html: str, address: str = "", **options: Any) -> Page:
        path = tmp_path / "page.html"
        path.write_text(html, encoding="utf-8")
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
        page.on("request", lambda request: wrong.append(request.url) if not _local(request.url) else None)
        page.goto(path.as_uri() + address)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert wrong == []


def _local(url: str) -> bool:
    return url.startswith(("file:", "data:"))
