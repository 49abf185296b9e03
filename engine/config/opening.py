"""The options of `Table.open` for tables that nbcc did not create."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Final, Literal, NamedTuple

from ..errors import BadInput
from .table_config import TableConfig

LISTING: Final = "nbcc.file.listing"

Listing = Literal["directory", "metadata_table", "cross_checked"]

_LISTINGS: Final[Mapping[str, Listing]] = {
    "folders": "directory",
    "metadata": "metadata_table",
    "both": "cross_checked",
}


class OpenOptions(NamedTuple):
    """The options of `Table.open`. `listing`: where readers look for the files of a table without nbcc's properties."""

    listing: Listing = "directory"

    def check(self, config: TableConfig) -> None:
        """Raise `BadInput` if the options do not apply to the table."""
        if self.listing == "directory":
            return
        chosen = next(name for name, listing in _LISTINGS.items() if listing == self.listing)
        asked = f"open the table {config.name} with {LISTING}={chosen}"
        if config.own:
            raise BadInput(asked, "its commits list its files, because nbcc writes it", "leave the option out")
        if "files" not in config.metadata_table:
            raise BadInput(asked, "it has no metadata table that lists its files", "leave the option out")


DEFAULTS: Final = OpenOptions()


def open_options(given: Mapping[str, str] | None) -> OpenOptions:
    """Parse the options of `Table.open`; raises `BadInput` for an unknown option or value."""
    options = DEFAULTS
    for name, value in (given or {}).items():
        if name != LISTING:
            near = get_close_matches(name, [LISTING], 1, 0)[0]
            raise BadInput(
                f"open a table with the option {name!r}", "there is no such option", f"the nearest is {near!r}"
            )
        listing = _LISTINGS.get(str(value).lower())
        if listing is None:
            raise BadInput(
                f"open a table with {name}={value}", "there is no such value", "use folders, metadata or both"
            )
        options = options._replace(listing=listing)
    return options
