"""The sentences of all mechanisms that explain how a weaker option value can cause a wrong answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, get_args

from ..lockstep.mechanism import FileStatus, Picture
from ..lockstep.mechanisms import chosen, rooms

RULES: Final[Mapping[tuple[str, str], Picture]] = {
    chosen(part): picture for room in rooms().values() for part, picture in room.pictures.items()
}
"""(option, value) -> the sentences of a picture."""


def _by_likelihood(status: FileStatus) -> tuple[str, ...]:
    ranks = {name: rank for room in rooms().values() for name, rank in room.explains.get(status, {}).items()}
    return tuple(sorted(ranks, key=ranks.__getitem__))


HELPS: Final[Mapping[str, tuple[str, ...]]] = {status: _by_likelihood(status) for status in get_args(FileStatus)}
"""Status of the file -> the options that can cause it, the likeliest first."""
