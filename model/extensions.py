"""Extensions: Python files outside nbcc that define a mechanism, values of an option, worlds, protocols or promises.

An extension is a file, or a module that an installed package names as an entry point of the group `nbcc.extensions`. It
may define:

`MECHANISM`  a `Mechanism`, as each module of `nbcc.model.mechanisms` does;
`LOCKSTEP`   a `Lockstep`, as each module of `nbcc.simulator.lockstep.mechanisms` does;
`PROMISES`   a sequence of `Promise`;
`WORLDS`, `PROTOCOLS`  mappings of a name to the fields of a TOML file.

The names of loaded files are in the environment variable `NBCC_EXTENSIONS`, so that other processes of the same search
load them, too (`load_all`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from importlib import metadata
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from .machine.mechanism import Mechanism

VARIABLE = "NBCC_EXTENSIONS"
GROUP = "nbcc.extensions"
PREFIX = "nbcc_extension_"
KNOWN = ("MECHANISM", "LOCKSTEP", "PROMISES", "WORLDS", "PROTOCOLS")
_loaded: dict[str, ModuleType] = {}


def load(path: str | Path) -> ModuleType:
    """Load an extension from a file, if it is not loaded yet.

    Raises ValueError if the file does not exist, cannot be imported, or defines nothing of an extension.
    """
    file = Path(path).resolve()
    if (known := _loaded.get(file.stem)) is not None and known.__file__ == str(file):
        return known
    if not file.is_file():
        raise ValueError(f"extension {str(path)!r} does not exist; name a Python file")
    spec = spec_from_file_location(f"{PREFIX}{file.stem}", file)
    if spec is None or spec.loader is None:
        raise ValueError(f"extension {str(path)!r} is not a Python file; its name must end in .py")
    module = module_from_spec(spec)
    sys.modules[module.__name__] = module  # also for the processes of a search, which unpickle its classes
    try:
        spec.loader.exec_module(module)
        _add(file.stem, module)
    except Exception as error:
        del sys.modules[module.__name__]
        raise ValueError(f"extension {str(path)!r} cannot be loaded: {type(error).__name__}: {error}") from error
    os.environ[VARIABLE] = os.pathsep.join(dict.fromkeys([*files(), str(file)]))
    return module


def load_all() -> None:
    """Load the extensions of installed packages, and those files that the process which started this one has loaded."""
    for entry in metadata.entry_points(group=GROUP):
        if entry.name not in _loaded:
            try:
                _add(entry.name, entry.load())
            except Exception as error:
                named = f"extension {entry.value!r} of an installed package"
                raise ValueError(f"{named} cannot be loaded: {type(error).__name__}: {error}") from error
    for file in files():
        load(file)


def files() -> list[str]:
    """Return the paths of the extensions that were loaded from files, also by the process that started this one."""
    return [file for file in os.environ.get(VARIABLE, "").split(os.pathsep) if file]


def _add(name: str, module: ModuleType) -> None:
    """Register a module. A mistake is found here, before anything is searched."""
    from . import mechanisms
    from .promises import PROMISES
    from .promises.promise import Promise, in_ending_worlds

    defined = [each for each in KNOWN if hasattr(module, each)]
    if not defined:
        raise ValueError(f"it defines none of {', '.join(KNOWN)}")
    if isinstance(mechanism := getattr(module, "MECHANISM", None), Mechanism) and name in mechanisms.every():
        raise ValueError(f"nbcc has a mechanism {name!r}; give the file another name")
    if mechanism is not None and not isinstance(mechanism, Mechanism):
        raise TypeError("MECHANISM must be a Mechanism")
    promises = tuple(getattr(module, "PROMISES", ()))
    for promise in promises:
        if not isinstance(promise, Promise) or promise.name in PROMISES:
            raise ValueError(f"PROMISES must hold promises with new names, found {getattr(promise, 'name', promise)!r}")
    _loaded[name] = module
    try:
        mechanisms.check()
    except Exception:
        del _loaded[name]
        raise
    PROMISES.update({promise.name: in_ending_worlds(promise) for promise in promises})


def loaded() -> Mapping[str, ModuleType]:
    """Return the loaded extensions by name."""
    return _loaded


def declared(name: str, kind: type[Any]) -> Iterator[tuple[str, Any]]:
    """Yield what extensions define under a name of `KNOWN`, if it is of the given type, with the extension's name."""
    for extension, module in _loaded.items():
        if isinstance(value := getattr(module, name, None), kind):
            yield extension, value


def files_of(kind: str) -> dict[str, Mapping[str, Any]]:
    """Return the worlds or protocols of all extensions: name -> the fields of its TOML file."""
    return {name: fields for _, some in declared(kind.upper(), dict) for name, fields in some.items()}


def sources() -> bytes:
    """Return the source code of all extensions, which results of searches depend on."""
    return b"".join(Path(module.__file__).read_bytes() for module in _loaded.values() if module.__file__)
