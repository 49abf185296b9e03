"""Defines when writers archive old instants, and how many writes stay on the active timeline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from .options import ARCHIVE, AUTOMATIC, LEAST, MOST, Refusal, parsed


class ArchivePolicy(NamedTuple):
    """The limits of automatic archiving. If more than `most` writes are on the active timeline, a writer archives all
    except the newest `least` writes.

    The default limits are Hudi's defaults. Writes with uncompacted logs are not archived, so nothing is archived in a
    table that is never compacted.
    """

    least: int = 20
    most: int = 30

    def to_properties(self) -> dict[str, str]:
        """Convert the policy to keys and values of ``hoodie.properties``."""
        return {AUTOMATIC: "true", LEAST: str(self.least), MOST: str(self.most)}


def archive_policy_of(values: Mapping[str, str], refuse: Refusal) -> ArchivePolicy | None:
    """Return the archive policy in the given options or properties, or None (the default) if writers do not archive. If
    a value is invalid, raises the error returned by the callback `refuse`.
    """
    given = parsed(ARCHIVE, values, refuse)
    least = given.get("least", ArchivePolicy().least)
    most = given.get("most", max(ArchivePolicy().most, least + 1))
    if least >= most:
        name = MOST if MOST in values else LEAST
        raise refuse(name, values[name], f"a number above {LEAST}, which is {least}")
    return ArchivePolicy(least, most) if given.get("automatic") else None
