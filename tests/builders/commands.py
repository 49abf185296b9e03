"""Calls of the command line in this process, and the objects of a table."""

from __future__ import annotations

import json
from typing import Any

from click.testing import CliRunner, Result

from nbcc.engine.storage import Storage
from nbcc.simulator.cli.main import nbcc


def nbcc_of(*arguments: str) -> Result:
    return CliRunner().invoke(nbcc, [*arguments], standalone_mode=False)


def answer_of(result: Result) -> Any:
    return json.loads(result.stdout)


def objects_of(storage: Storage) -> dict[str, bytes]:
    paths = [entry.path for entry in storage.list("") if not entry.path.endswith(".lock")]
    return {path: storage.get(path) for path in paths}
