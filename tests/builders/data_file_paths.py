"""The paths of a table's data files."""

from __future__ import annotations

from pathlib import Path

from nbcc.engine.file_names import parse_base, parse_log


def data_files(folder: Path) -> list[Path]:
    """Base files and logs, in the order in which their writes were requested."""
    names = {path: parse_base(path.name) or parse_log(path.name) for path in folder.rglob("*") if path.is_file()}
    return sorted((path for path in names if names[path]), key=lambda path: str(getattr(names[path], "instant", "")))
