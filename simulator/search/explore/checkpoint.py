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
from typing import Any, Final

from nbcc.model import extensions
from nbcc.model.machine import TransitionSystem

from .search import Search
from .walk import PlainWalk

FOLDERS: Final = ("model", "simulator/search/explore")
"""The folders whose source determines the result of a search."""
FIGURES: Final = ("depth", "at", "level_end")
OF_THE_WALK: Final = ("stands_for", "generated", "goes_back")


class NotACheckpoint(ValueError):
    """The file is not a checkpoint of this search."""


class Checkpoint:
    """The file of one search. Make it before the first step: the states in the file consist of numbers, whose values
    are loaded into the system's encoding.

    Raises:
        NotACheckpoint: If the file has another format, or if another search wrote it.
    """

    def __init__(self, path: Path, system: Any, promises: Sequence[Any], reduced: bool) -> None:
        self.path = path
        what = system.identity() if isinstance(system, TransitionSystem) else repr(system)
        text = repr((what, [promise.name for promise in promises], reduced, code(*FOLDERS)))
        self.identity = hashlib.sha256(text.encode()).hexdigest()
        self._saved = self._read(type(system).__module__) if path.exists() else None
        if self._saved and isinstance(system, TransitionSystem):
            # The states of the file are numbers of values, so the values must get the same numbers as then.
            system.coding.load(self._saved["values"])

    def _read(self, module: str) -> dict[str, Any]:
        path = self.path
        try:
            saved = _SafeUnpickler(io.BytesIO(path.read_bytes()), module).load()
            same = saved["format"] == 1 and saved["identity"] == self.identity
        except (pickle.UnpicklingError, EOFError, KeyError, TypeError, AttributeError, ValueError, IndexError):
            raise NotACheckpoint(f"{path} is not a search checkpoint; name another file, or delete it") from None
        if not same:
            raise NotACheckpoint(
                f"{path} was written by another search, or by other code; name another file, or delete it"
            )
        return dict(saved)

    def resume(self, search: Search) -> None:
        """Restore the state of a search from the file, if there is one."""
        saved = self._saved
        if saved is None:
            return
        parents = array("q")
        parents.frombytes(saved["parents"])
        # The numbers are not in the file: they are the largest part of a search in memory, and follow from the states.
        search.walk = PlainWalk(search.space, search.watchers, search.ends, saved["states"], parents)
        for name, value in saved["walk"].items():
            setattr(search.walk, name, value)
        for name, value in saved["figures"].items():
            setattr(search, name, value)
        search.next_check, search.resumed = search.at, True
        search.ends.count, search.ends.at_limit, search.ends.deadlock = saved["ends"]
        for watch, (reached, doubt, broken) in zip(search.watchers.watches, saved["watches"], strict=True):
            watch.reached, watch.doubt, watch.broken = reached, doubt, broken

    def write(self, search: Search) -> None:
        """Write the file atomically."""
        ends, coding = search.ends, search.space.coding
        saved = {
            "format": 1,
            "identity": self.identity,
            "values": coding.dump() if coding else None,
            "states": search.states,
            "parents": search.parents.tobytes(),
            "walk": {name: getattr(search.walk, name) for name in OF_THE_WALK},
            "figures": {name: getattr(search, name) for name in FIGURES},
            "ends": (ends.count, ends.at_limit, ends.deadlock),
            "watches": [(w.reached, w.doubt, w.broken) for w in search.watchers.watches],
        }
        temporary = self.path.with_name(self.path.name + ".part")
        with temporary.open("wb") as file:
            pickle.dump(saved, file, protocol=5)
        # A search that is killed while it writes must not destroy the checkpoint before.
        os.replace(temporary, self.path)

    def remove(self) -> None:
        """Delete the file, because the search ended."""
        self.path.unlink(missing_ok=True)


def code(*folders: str) -> str:
    """Return a hash of the Python source code in the given folders of nbcc, and of the loaded extensions."""
    sources = [sorted((files("nbcc") / each).rglob("*.py")) for each in folders]  # type: ignore[attr-defined]  # no zip
    own = b"".join(each.read_bytes() for each in chain.from_iterable(sources))
    return hashlib.sha256(own + extensions.sources()).hexdigest()


class _SafeUnpickler(pickle.Unpickler):
    """An unpickler that accepts only named tuples from nbcc and from the module that defines the system being searched.
    """

    def __init__(self, file: io.BytesIO, module: str) -> None:
        super().__init__(file)
        self.module = module

    def find_class(self, module: str, name: str) -> Any:
        known = module.startswith(("nbcc.", extensions.PREFIX)) or module == self.module
        found = getattr(import_module(module), name, None) if known else None
        if isinstance(found, type) and issubclass(found, tuple) and hasattr(found, "_fields"):
            return found
        raise pickle.UnpicklingError(f"{module}.{name} is not a named tuple of nbcc")
