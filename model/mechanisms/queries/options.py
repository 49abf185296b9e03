"""The limit on the number of queries."""

from __future__ import annotations

from ...machine.options import Limits, limit


class AskedQueries(Limits):
    """The limit on the number of queries."""

    queries: int = limit(0, "how many queries each querier asks", in_random_worlds=(2,), needs="querier")
