"""Under a decision log, a stalled actor may publish its instant after another actor has published it and an archiver
has archived it. The instant is then in the archive and on the active timeline again, until an archiver removes it.
"""

from __future__ import annotations

from typing import Any

from ...kernel.publication import PUBLISHES, Publication, Publish
from ...machine.composition import Composition
from ...machine.transition import Changes, preset
from ..decision_log import is_decided_by_log


def compose(composition: Composition) -> None:
    """Let every actor whose commits the decision log decides put its instant on the active timeline again."""
    for me, each in composition.facts(Publication).items():
        if is_decided_by_log(composition, each.kind):
            composition.select(PUBLISHES, actors=[me]).precede(preset(put_back, publish=each.publish), "removed")


def put_back(own: Any, removed: frozenset[int], publish: Publish) -> Changes:
    """Put the completed instant on the active timeline again if an archiver has removed it."""
    return {"removed": removed - {publish(own)[1].requested}}
