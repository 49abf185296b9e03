"""The engine's functions by name: model and engine give a rule the same name, and share no code."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path


@cache
def engine_functions() -> Mapping[str, tuple[str, ...]]:
    """Return the places ``module:function`` of the engine's functions and methods by name."""
    root = Path(str(files("nbcc.engine")))
    found: dict[str, list[str]] = {}
    for path in sorted(root.rglob("*.py")):
        module = ".".join(("nbcc", "engine", *path.relative_to(root).with_suffix("").parts))
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                found.setdefault(node.name, []).append(f"{module}:{node.name}")
    return {name: tuple(places) for name, places in found.items()}
