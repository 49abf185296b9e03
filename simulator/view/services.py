"""What an instant that carries no rows is called in a picture, and whether a barrier stands where it was requested."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple


class Service(NamedTuple):
    """`barrier`: the requested time of its plan cuts file slices."""

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
"""By kind of actor. On the timeline a clustering and a replace are compactions: the actor decides."""


def services_of(actors: Iterable[tuple[str, str]]) -> dict[str, Service]:
    """Those of actors given as (kind, name), by name; who writes rows has none."""
    return {name: SERVICES[kind] for kind, name in actors if kind in SERVICES}
