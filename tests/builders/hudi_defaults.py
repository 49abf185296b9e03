"""Tables that Apache Hudi made by its defaults."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

from tests.builders.files import FOLDER

FACTS: dict[str, Any] = json.loads((FOLDER / "defaults" / "snapshots.json").read_text())


def unpacked(name: str, folder: Path) -> Path:
    with zipfile.ZipFile(FOLDER / "defaults" / f"{name}.zip") as packed:
        packed.extractall(folder)
    return folder / name
