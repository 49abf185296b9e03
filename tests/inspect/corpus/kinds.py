"""All kinds of the corpus."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ..golden import BAD
from . import data_files, properties, timelines
from .kind import Kind

KINDS: Final[Mapping[str, Kind]] = {
    **{f"ours: {name}": kind for name, kind in BAD.items()},
    **data_files.KINDS,
    **timelines.KINDS,
    **properties.KINDS,
}
