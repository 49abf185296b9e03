"""Search checkpoints: store an unfinished search in a file, and continue the search in a new process.

A search continues from a file only if system, promises, reductions and source code are unchanged. Unpickling accepts
only plain values and known named tuples, so that a malicious file cannot run code.
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
from array import array
from collections.abc import Sequence
from importlib import import_module
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any

from nbcc.model import Model

from .search import Search

FOLDERS = ("model", "simulator/explore")
"""The folders whose source determines the result of a search."""
FIGURES = ("generated", "depth", "at", "level_end", "stands_for", "goes_back")


class NotACheckpoint(ValueError):
    """The file is not a checkpoint of this search."""


def identity(system: Any, promises: Sequence[Any], reduced: bool) -> str:
    """Return a hash of the system, promises, reductions and source code. A search continues from a checkpoint only if
    the checkpoint's hash equals that of the search.
    """
    what: Any = repr(system)
    if isinstance(system, Model):
        what = (system.world.to_mapping(), system.protocol.to_mapping())
    elif hasattr(system, "constants"):  # a model of another system; its repr would hold an address
        what = (type(system).__qualname__, system.constants)
    text = repr((what, [promise.name for promise in promises], reduced, code(*FOLDERS)))
    return hashlib.sha256(text.encode()).hexdigest()


def code(*folders: str) -> str:
    """Return a hash of the Python source code in the given folders of nbcc."""
    sources = [sorted((files("nbcc") / each).rglob("*.py")) for each in folders]  # type: ignore[attr-defined]  # no zip
    return hashlib.sha256(b"".join(each.read_bytes() for each in chain.from_iterable(sources))).hexdigest()


def read(path: Path, wanted: str, system: Any) -> dict[str, Any] | None:
    """Return the content of a checkpoint file, or None if the file does not exist.

    Raises:
        NotACheckpoint: If the file has another format, or if another search wrote it.
    """
    if not path.exists():
        return None
    try:
        saved = _SafeUnpickler(io.BytesIO(path.read_bytes()), type(system).__module__).load()
        same = saved["format"] == 1 and saved["identity"] == wanted
    except (pickle.UnpicklingError, EOFError, KeyError, TypeError, AttributeError, ValueError, IndexError):
        raise NotACheckpoint(f"{path} is not a search checkpoint; name another file, or delete it") from None
    if not same:
        raise NotACheckpoint(f"{path} was written by another search, or by other code; name another file, or delete it")
    return dict(saved)


def write(path: Path, search: Search, wanted: str) -> None:
    """Write a checkpoint atomically."""
    ends = search.ends
    saved = {
        "format": 1,
        "identity": wanted,
        "values": search.space.system.coding.dump() if hasattr(search.space.system, "coding") else None,
        "states": search.states,
        "parents": search.parents.tobytes(),
        "figures": {name: getattr(search, name) for name in FIGURES},
        "ends": (ends.count, ends.at_limit, ends.deadlock),
        "watches": [(w.reached, w.doubt, w.broken) for w in search.watchers.watches],
    }
    temporary = path.with_name(path.name + ".part")
    with temporary.open("wb") as file:
        pickle.dump(saved, file, protocol=5)
    os.replace(temporary, path)


def resume(search: Search, saved: dict[str, Any]) -> None:
    """Restore the state of a search from a checkpoint. Call `Coding.load` first, to restore the encoding of states."""
    search.states = saved["states"]
    search.numbers = {state: number for number, state in enumerate(search.states)}
    search.parents = array("q")
    search.parents.frombytes(saved["parents"])
    for name, value in saved["figures"].items():
        setattr(search, name, value)
    search.next_check, search.resumed = search.at, True
    search.ends.count, search.ends.at_limit, search.ends.deadlock = saved["ends"]
    for watch, (reached, doubt, broken) in zip(search.watchers.watches, saved["watches"], strict=True):
        watch.reached, watch.doubt, watch.broken = reached, doubt, broken


class _SafeUnpickler(pickle.Unpickler):
    """An unpickler that accepts only named tuples from nbcc and from the module that defines the system being searched.
    """

    def __init__(self, file: io.BytesIO, module: str) -> None:
        super().__init__(file)
        self.module = module

    def find_class(self, module: str, name: str) -> Any:
        known = module.startswith("nbcc.") or module == self.module
        found = getattr(import_module(module), name, None) if known else None
        if isinstance(found, type) and issubclass(found, tuple) and hasattr(found, "_fields"):
            return found
        raise pickle.UnpicklingError(f"{module}.{name} is not a named tuple of nbcc")
