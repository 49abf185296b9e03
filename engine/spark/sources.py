"""The Python sources of nbcc that Spark tasks need: their digest, and a zip archive that Spark sends to its workers."""

from __future__ import annotations

import hashlib
import io
import platform
import tempfile
import zipfile
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Final

_PARTS: Final = ("__init__.py", "engine")
"""The parts of the package that tasks import."""
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)


@cache
def digest_of_sources() -> str:
    """Return a digest of the sources from which this process imports nbcc."""
    folder = _package()
    if not folder.is_dir():  # imported from an archive of `archive_of_sources`
        return folder.parent.stem.partition("-")[2]
    digest = hashlib.sha256()
    for name, source in _sources(folder):
        digest.update(f"{name}\0{len(source)}\0".encode() + source)
    return digest.hexdigest()[:16]


@cache
def home_of_sources() -> str:
    """Return this machine's name and the folder from which the process imports nbcc."""
    return f"{platform.node()}:{_package()}"


def archive_name() -> str:
    return f"nbcc-{digest_of_sources()}.zip"


@cache
def archive_of_sources() -> str:
    """Return the path of a zip archive of nbcc's sources, which is created on the first call. The zip archive is kept
    until this process ends, because executors may join a Spark session at any time.
    """
    if not _package().is_dir():  # imported from an archive
        return str(_package().parent)
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, source in _sources(_package()):
            entry = zipfile.ZipInfo(f"nbcc/{name}", _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, source)
    path = Path(_folder().name, archive_name())
    path.write_bytes(content.getvalue())
    return str(path)


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="nbcc-sources-")


def _package() -> Path:
    (home,) = import_module("nbcc").__path__
    return Path(home).absolute()


def _sources(folder: Path) -> Iterator[tuple[str, bytes]]:
    for part in _PARTS:
        place = folder / part
        for path in [place] if place.is_file() else sorted(place.rglob("*.py")):
            yield path.relative_to(folder).as_posix(), path.read_bytes()
