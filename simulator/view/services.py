"""Texts for instants that contain no rows, and whether their requested time is a barrier."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple


class Service(NamedTuple):
    """`barrier` is True if the requested time of the service's plan begins new file slices."""

    word: str
    barrier: bool = False


SERVICES: Final[Mapping[str, Service]] = {
    "schema_evolver": Service("new columns"),
    "cleaner": Service("clean"),
    "clusterer": Service("clustering", barrier=True),
    "compactor": Service("compaction", barrier=True),
    "log_compactor": Service("log compaction"),
    "overwriter": Service("replace", barrier=True),
    "restorer": Service("restore"),
    "rollbacker": Service("rollback"),
}
"""By kind of actor, because the timeline shows a clustering and a replace as compactions."""


def services_of(actors: Iterable[tuple[str, str]]) -> dict[str, Service]:
    """Return a mapping from the name of an actor to its service; `actors` contains pairs (kind, name). Writers of rows
    have no service.
    """
    return {name: SERVICES[kind] for kind, name in actors if kind in SERVICES}
