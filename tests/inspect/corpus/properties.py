"""Damage to ``hoodie.properties`` and to the metadata table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from nbcc.engine.definition.load import BACKUP, PROPERTIES
from nbcc.engine.storage import Storage

from .kind import Kind, both, cuts, empties, removes, sets

METADATA: Final = ".hoodie/metadata"


def properties(storage: Storage) -> str:
    return PROPERTIES


def moved_to_the_backup(storage: Storage) -> None:
    """An update of the properties died after its first step."""
    storage.put(BACKUP, storage.get(PROPERTIES))
    storage.delete(PROPERTIES)


def metadata_removed(storage: Storage) -> None:
    storage.delete_all([entry.path for entry in storage.list(METADATA)])


def renamed_by_hand(storage: Storage) -> None:
    storage.put(PROPERTIES, storage.get(PROPERTIES).replace(b"hoodie.table.name=", b"hoodie.table.name=my_"))


CONTRADICT: Final = "properties-contradict"
READS: Final = "SNAP TRAVEL INCR RO"

KINDS: Final[Mapping[str, Kind]] = {
    "the properties removed": Kind("1.2.0 COW", removes(properties), verdict="REFUSED"),
    "the properties emptied": Kind("1.2.0 COW", empties(properties), verdict="REFUSED"),
    "the properties cut": Kind("1.2.0 COW", cuts(properties, 400), verdict="REFUSED"),
    "the properties in their backup": Kind("1.2.0 COW", moved_to_the_backup),
    "a checksum removed": Kind(
        "1.2.0 COW", sets(hoodie__table__checksum=None), "properties-without-checksum", "", "AT RISK"
    ),
    "a name edited by hand": Kind("1.2.0 COW", renamed_by_hand, "unreadable", READS),
    "a merge mode that the ordering contradicts": Kind(
        "1.0.2 MOR", sets(hoodie__record__merge__mode="COMMIT_TIME_ORDERING"), CONTRADICT, "SNAP INCR"
    ),
    "a merge mode that needs an ordering": Kind(
        "1.2.0 MOR commit time",
        sets(hoodie__record__merge__mode="EVENT_TIME_ORDERING", hoodie__table__ordering__fields=None),
        CONTRADICT,
        "SNAP INCR",
    ),
    "a merge mode misspelt": Kind("1.2.0 MOR", sets(hoodie__record__merge__mode="EVENTTIME"), CONTRADICT, READS),
    "a version below its layout": Kind(
        "1.2.0 MOR", sets(hoodie__table__version="6"), "version-contradicts-layout", "", "AT RISK"
    ),
    "a version of the future": Kind("1.2.0 MOR", sets(hoodie__table__version="12"), verdict="UNDETERMINED"),
    "an invalid version number": Kind("1.2.0 MOR", sets(hoodie__table__version="nine"), CONTRADICT, READS),
    "a layout below its version": Kind(
        "1.2.0 COW", sets(hoodie__timeline__layout__version="1"), "version-contradicts-layout", READS
    ),
    "a table with logs called COPY_ON_WRITE": Kind(
        "1.2.0 MOR", sets(hoodie__table__type="COPY_ON_WRITE"), CONTRADICT, "SNAP TRAVEL INCR"
    ),
    "a table without logs called MERGE_ON_READ": Kind("1.2.0 COW", sets(hoodie__table__type="MERGE_ON_READ")),
    "a table type misspelt": Kind("1.2.0 COW", sets(hoodie__table__type="COW"), CONTRADICT, READS),
    "a key that is not a column": Kind("1.2.0 MOR", sets(hoodie__table__recordkey__fields="key"), CONTRADICT, READS),
    "a partition field that is not a column": Kind(
        "1.2.0 MOR", sets(hoodie__table__partition__fields="day"), CONTRADICT, READS
    ),
    "an ordering that is not a column": Kind(
        "1.2.0 MOR", sets(hoodie__table__ordering__fields="when"), CONTRADICT, READS
    ),
    "an invalid schema": Kind("ours COW", sets(hoodie__table__create__schema="{"), CONTRADICT, READS),
    "a base file format that its files contradict": Kind(
        "1.2.0 COW", sets(hoodie__table__base__file__format="ORC"), CONTRADICT, READS
    ),
    "a timeline in another folder": Kind("1.2.0 COW", sets(hoodie__timeline__path="elsewhere"), CONTRADICT, READS),
    "nbcc's mark lost": Kind("ours COW", sets(nbcc__format=None), "marks-disagree", READS, also="unreadable"),
    "a metadata table removed": Kind("1.2.0 MOR metadata", metadata_removed),
    "a metadata table removed with its properties": Kind(
        "1.2.0 MOR metadata", both(metadata_removed, sets(hoodie__table__metadata__partitions=None))
    ),
}
