"""The elements of small worlds, and worlds that differ from the small ones by chance."""

from __future__ import annotations

from random import Random

from nbcc.model import Model, World
from nbcc.model.kernel.compactor import COMPACTOR
from nbcc.model.kernel.reader import READER
from nbcc.model.kernel.writer import WRITER
from nbcc.model.mechanisms.resizes.mechanism import RESIZER
from nbcc.simulator.search.prove.system import ProvedSystem
from nbcc.simulator.search.prove.worlds import SMALL

from .finite import Instance
from .interpretation import instance
from .rows import with_records


def elements_of(model: Model, system: ProvedSystem, seed: int = 1) -> Instance:
    """Return the elements of a world, with random records if the transition relation has records."""
    elements = instance(model)
    has_records = any(relation.name == "record" for relation in system.relations)
    return with_records(elements, seed) if has_records else elements


def random_world(name: str, draw: Random) -> World:
    """Return a small world of a file of lemmas with some numbers changed. Actors crash only if they crash in one of the
    small worlds: the lemmas of `decisions` describe no crashes.
    """
    base = draw.choice(SMALL[name])
    crashes = draw.randint(0, max(each.flat().get("crashes", 0) for each in SMALL[name]))
    most = 1 if any(RESIZER.name in each.actors for each in SMALL[name]) else 2  # a file has all ranges of its group
    company = draw.choice((WRITER.name, COMPACTOR.name, READER.name, "no one else"))
    # No relation of commits without a lock has a second compactor.
    several = {COMPACTOR.name: max(each.actors[COMPACTOR.name] for each in SMALL[name])}
    actors = {kind: count + (kind == company and count < several.get(kind, 2))
              for kind, count in {READER.name: 0, **base.actors}.items()}  # fmt: skip
    flat = {**base.flat(), "actors": actors, "log_versions": draw.randint(1, most), "crashes": crashes}
    flat |= {limit: draw.randint(1, 2) for limit in ("writes_per_writer", "compactions")}
    if draw.random() < 0.5:
        flat |= {"buckets": draw.randint(1, 2), "writes": {}}
    return World(**flat)
