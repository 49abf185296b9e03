"""The options and limits of schema evolution (adding columns)."""

from __future__ import annotations

from typing import Literal

from ...machine.options import Limits, Options, limit, option


class SchemaEvolution(Options):
    """The options that decide which added columns reads show and table services write."""

    columns_shown: Literal["as_of_time", "current", "last_commit"] = option(
        "as_of_time",
        "which columns a read as of a time shows. as_of_time: those that the table had then; current: those of now; "
        "last_commit: those that the commit requested last names, even if its writer did not find all (Apache Hudi)",
    )
    columns_written: Literal["current", "at_open"] = option(
        "current",
        "which columns a service writes: those that the table has when the service starts its plan, or those that it "
        "had when the service opened the table",
    )


class Alterations(Limits):
    """The limit on how many columns are added to the table."""

    alterations: int = limit(0, "how often a column is added to the table")
