"""Labels of table services in pictures, and whether a service's requested time starts new file slices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple


class Service(NamedTuple):
    """How a table service is drawn. `barrier` is True if a plan of the service starts new file slices at its requested
    time.
    """

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
    """Map the name of each table-service actor to its label. `actors` contains pairs (kind, name); actors that are not
    table services are omitted.
    """
    return {name: SERVICES[kind] for kind, name in actors if kind in SERVICES}
