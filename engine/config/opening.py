"""The options of `Table.open` for tables that nbcc did not create."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Final, Literal, NamedTuple

from ..errors import BadInput
from .coordination import ALONE, Coordination, coordination_of
from .options import COORDINATION, FUNCTION, Option, choice, from_one, parsed
from .table_config import TableConfig

LISTING: Final = "nbcc.file.listing"
TAKE_OVER: Final = "nbcc.take.over"
BUCKETS: Final = "hoodie.bucket.index.num.buckets"

Listing = Literal["directory", "metadata_table", "cross_checked"]

_LISTINGS: Final[Mapping[str, Listing]] = {
    "folders": "directory",
    "metadata": "metadata_table",
    "both": "cross_checked",
}


class OpenOptions(NamedTuple):
    """The options of `Table.open`.

    `listing` states how readers find data files if the table lacks nbcc's properties. `takes_over` is True if nbcc may
    remove Hudi's metadata table and add nbcc's properties before its first write. `buckets` is the number of buckets of
    a table without nbcc's properties; None means that the number is derived from the file ids. `function` is the merge
    function of the table that nbcc may import and call. `coordination` contains the lock and heartbeat options of
    writers to a table without nbcc's properties.
    """

    listing: Listing = "directory"
    takes_over: bool = False
    buckets: int | None = None
    function: str = ""
    coordination: Coordination = ALONE

    def check(self, config: TableConfig) -> None:
        """Raise `BadInput` if the table has another merge function than the allowed one, or does not support the
        listing method `listing`.
        """
        # The name in the properties is a stranger's text: nbcc imports only what the caller has named as well.
        if self.function and self.function != config.merge_function:
            merged = f"its rows are merged by {config.merge_function[:200]!r}"
            asked = f"open the table {config.name} with {FUNCTION}={self.function}"
            remedy = "leave the option out, or name the function of the table if you trust it"
            raise BadInput(asked, merged if config.merge_function else "it has no merge function", remedy)
        if self.listing == "directory":
            return
        chosen = next(name for name, listing in _LISTINGS.items() if listing == self.listing)
        asked = f"open the table {config.name} with {LISTING}={chosen}"
        if config.own:
            raise BadInput(asked, "its commits list its files, because nbcc writes it", "leave the option out")
        if "files" not in config.metadata_table:
            raise BadInput(asked, "it has no metadata table that lists its files", "leave the option out")


DEFAULTS: Final = OpenOptions()

_OPTIONS: Final = (
    Option(LISTING, "listing", lambda text: _LISTINGS.get(text.lower()), "folders, metadata or both"),
    Option(TAKE_OVER, "takes_over", choice(true=True, false=False), "true or false"),
    Option(BUCKETS, "buckets", from_one, "a whole number from 1 on"),
    Option(FUNCTION, "function", lambda text: text or None, "package.module:function"),
)
NAMES: Final = (*(option.name for option in _OPTIONS), *(option.name for option in COORDINATION))


def open_options(given: Mapping[str, str] | None) -> OpenOptions:
    """Parse the options of `Table.open`. Raises `BadInput` for an unknown option or value."""
    texts = {name: str(value) for name, value in (given or {}).items()}
    if unknown := next((name for name in texts if name not in NAMES), None):
        # With a cutoff of 0 there is always one.
        near = get_close_matches(unknown, NAMES, 1, 0)[0]
        raise BadInput(
            f"open a table with the option {unknown!r}", "there is no such option", f"the nearest is {near!r}"
        )

    def refuse(name: str, text: str, needed: str) -> BadInput:
        return BadInput(f"open a table with {name}={text}", "there is no such value", f"use {needed}")

    return OpenOptions(**parsed(_OPTIONS, texts, refuse), coordination=coordination_of(texts, refuse))
