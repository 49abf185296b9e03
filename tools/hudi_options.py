"""The generated page docs/hudi-options.md: what nbcc does with each option of a Hudi job."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from nbcc.engine.config.hudi_options import ANY, MERGE_MODES, MERGED_BY, TABLES, HudiOption, ValueRule
from nbcc.engine.data_source import options

from .markdown import table

HEAD: Final = """# Options of a Hudi job

A job that writes with `format("hudi")` runs with `format("nbcc")`. nbcc reads its options by their meaning. An option
that asks for what nbcc does anyway is accepted. An option that changes how Hudi works, and no row, is ignored; if its
effect could be missed, one line on the driver's console names it. An option that would change rows is refused, with the
reason. A `hoodie.*` option that is on no list is ignored and named in that line; a likely typing error is refused.

This page is generated from the tables that the code uses (`python -m tools.regenerate hudi-options`).
"""
NOTES: Final = """
- Values are in lower case here, and classes without their package; neither case nor package matters.
- `hoodie.bucket.index.hash.field` must name the record key.
- A global index is refused in a partitioned table: it keeps one row of a key in the whole table, and nbcc keeps one in
  each partition. In a table without partitions there is no difference.
- SimpleKeyGenerator needs one key column and one partition column, and NonpartitionedKeyGenerator no partition column.
  `city:SIMPLE` as partition field is the column `city`; `ts:TIMESTAMP` is refused.
- A payload class, a merger or a merge strategy sets the merge mode of a new table:
"""


def page() -> str:
    return "\n".join([HEAD, *_used(), *_by_meaning(), *_classes()]) + "\n"


def _used() -> Iterator[str]:
    """The options that set something: [options](options.md) explains their values."""
    of_table = [name for names in options.TABLE.values() for name in names]
    yield from ("## Options that nbcc uses", "", "[Options](options.md) and [locks](locks.md) explain them.", "")
    groups = {
        "make the table, or must agree with it": (*of_table, *options.CREATE),
        "of a write": options.OF_WRITE,
        "of the services after a write": options.SERVICES,
        "of a read": options.READ,
    }
    rows = [(what, _codes(name for name in names if name.startswith("hoodie."))) for what, names in groups.items()]
    yield from table(("", "options"), rows)


def _by_meaning() -> Iterator[str]:
    yield from ("", "## Options that are read by their meaning", "")
    rows = [_row(option) for option in TABLES]
    yield from table(("option", "accepted", "ignored", "refused"), rows)


def _row(option: HudiOption) -> tuple[str, str, str, str]:
    names = _codes(f"{name}*" if name.endswith(".") else name for name in option.names)
    if option is MERGED_BY:
        accepted = "the classes below"
    else:
        accepted = _joined(_values(rule) for rule in option.rules if not rule.refuses and not rule.notice)
    ignored = _joined(
        _values(rule) + (f": {rule.notice}" if rule.notice != "tuning" else "")
        for rule in option.rules
        if rule.notice and not rule.refuses
    )
    refused = _joined(f"{_values(rule)}: {rule.why}; {rule.remedy}" for rule in option.rules if rule.refuses)
    return names, accepted, ignored, refused


def _values(rule: ValueRule) -> str:
    return "all" if rule.values == (ANY,) else _codes(value for value in rule.values if not _is_avro_twin(value))


def _is_avro_twin(value: str) -> bool:
    """Whether a value is the spelling of another one for Avro records."""
    return value.endswith("_avro") or "avrokey" in value or "avrodelete" in value


def _classes() -> Iterator[str]:
    yield NOTES
    rows = [(f"`{name}`", f"`{mode}`") for name, mode in sorted(MERGE_MODES.items(), key=lambda each: each[::-1])]
    yield from table(("class or strategy", "merge mode"), rows)


def _codes(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _joined(parts: Iterable[str]) -> str:
    return "<br>".join(part for part in parts if part)
