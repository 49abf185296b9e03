"""A kind of damage: what breaks a healthy table, and what `nbcc validate` must say about the broken one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from nbcc.engine.config.properties import CHECKSUM, decode_properties, table_checksum
from nbcc.engine.definition.load import PROPERTIES
from nbcc.engine.storage import Storage

TIMELINE: Final = ".hoodie/timeline"
HISTORY: Final = f"{TIMELINE}/history"

Damage = Callable[[Storage], object]


class Kind(NamedTuple):
    """A kind of damage. `table` names the healthy table, and `do` breaks it.

    `rule` is the diagnostic that must be printed, and `gravity` its gravity; '' if the damage is harmless. `promises`
    are all promises that are then BROKEN, separated by blanks. `also` names further rules that report consequences.
    `verdict` is the verdict if it does not follow from the gravity: UNDETERMINED, or REFUSED if the folder is not taken
    for a table. `deep` is True if only the opened data files show the damage.
    """

    table: str
    do: Damage
    rule: str = ""
    promises: str = ""
    gravity: str = "BROKEN"
    deep: bool = False
    also: str = ""
    verdict: str = ""

    @property
    def expected_verdict(self) -> str:
        return self.verdict or ("BROKEN" if self.rule and self.gravity == "BROKEN" else "OK")


# Places in a table. Each function returns a path.


def data_files(storage: Storage) -> list[str]:
    return sorted(entry.path for entry in storage.list("") if not entry.path.startswith(".hoodie/"))


def logs(storage: Storage) -> list[str]:
    """The logs, oldest first by the time in their names."""
    found = (path for path in data_files(storage) if ".log." in path)
    return sorted(found, key=lambda path: (path.partition(".log.")[0].rpartition("_")[2], path))


def bases(storage: Storage) -> list[str]:
    """The base files, oldest first."""
    found = (path for path in data_files(storage) if path.endswith(".parquet"))
    return sorted(found, key=lambda path: (path.rpartition("_")[2], path))


def completed(storage: Storage, action: str = "") -> list[str]:
    """The completed timeline files, oldest first."""
    names = (entry.path for entry in storage.list(TIMELINE) if not entry.path.startswith(HISTORY))
    return sorted(path for path in names if "_" in path.rpartition("/")[2] and path.endswith(action))


def requested_time(path: str) -> str:
    return path.rpartition("/")[2].partition("_")[0].partition(".")[0]


# Things that happen to a file. Each returns a damage.


def removes(find: Callable[[Storage], str]) -> Damage:
    return lambda storage: storage.delete(find(storage))


def cuts(find: Callable[[Storage], str], by: int = 40) -> Damage:
    """The end of the file is lost, as after a copy that stopped."""

    def cut(storage: Storage) -> None:
        path = find(storage)
        storage.put(path, storage.get(path)[:-by])

    return cut


def empties(find: Callable[[Storage], str]) -> Damage:
    return lambda storage: storage.put(find(storage), b"")


def flips(find: Callable[[Storage], str], at: int) -> Damage:
    """One byte changes."""

    def flip(storage: Storage) -> None:
        path = find(storage)
        data = bytearray(storage.get(path))
        data[at] ^= 0xFF
        storage.put(path, bytes(data))

    return flip


def adds(name: str, data: bytes = b"") -> Damage:
    """A file appears in the folder of the first data file."""

    def add(storage: Storage) -> None:
        folder, _, _ = bases(storage)[0].rpartition("/")
        storage.put(f"{folder}/{name}", data)

    return add


def sets(**changes: str | None) -> Damage:
    """Properties change, and the file is written as a tool writes it, with its checksum. '__' stands for the dots."""

    def change(storage: Storage) -> None:
        values = decode_properties(storage.get(PROPERTIES))
        for name, value in changes.items():
            key = name.replace("__", ".")
            values.pop(key, None)
            if value is not None:
                values[key] = value
        if CHECKSUM in values and "hoodie__table__checksum" not in changes:
            values[CHECKSUM] = table_checksum(values.get("hoodie.table.name", ""))
        lines = [f"{key}={value}" for key, value in values.items() if key != "hoodie.table.create.schema"]
        schema = values.get("hoodie.table.create.schema")
        escaped = [] if schema is None else ["hoodie.table.create.schema=" + schema.replace("\\", "\\\\")]
        storage.put(PROPERTIES, "\n".join(["#", *escaped, *lines, ""]).encode())

    return change


def both(*damages: Damage) -> Damage:
    def do(storage: Storage) -> None:
        for damage in damages:
            damage(storage)

    return do
