"""Validates the rows of a batch against the rules of nbcc tables.

All rows with the same key must be passed to the same call of `problems`. `refuse` raises a single error for the
problems that all of these calls found.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import BadInput, UnknownKey
from .codes import Mask, Numbers, key_codes, order_numbers
from .columns import is_deleted, one_array
from .compare import rows_differ
from .keys import DEFAULT_PARTITION, EMPTY_KEY, NULL_KEY, KeySpec, partition_paths, partition_values, record_keys
from .required import lacking
from .tasks import TableShape


class Problem(NamedTuple):
    """A violated rule of `RULES`, with the number of rows that violate the rule, and one of these rows as text."""

    rule: str
    rows: int
    example: str


RULES: Final = {
    "null key": ("{0} rows have a null in {keys}", "give every row a value there"),
    "empty key": ("{0} rows have an empty key", "give every row a value in {keys}"),
    "ambiguous key": (
        "{0} rows have a key that Hudi's readers parse differently",
        "a single key must not contain both ',' and ':', a value of a composite key neither; "
        f"{NULL_KEY} and {EMPTY_KEY} are reserved",
    ),
    "unsafe partition": (
        "{0} rows have a partition value that is not safe as a folder name",
        "use values of at most 255 bytes a level, without empty, '.' or '..' levels, ':', '=' and control characters; "
        "null is allowed",
    ),
    "null ordering": (
        "{0} rows have no value in the ordering column {ordering}",
        "set it in every row, deletes included",
    ),
    "missing value": (
        "{0} rows have a null in a required column",
        "set a value, or create the table with a nullable column",
    ),
    "unordered text": (
        "{0} rows have an ordering value with characters beyond U+FFFF, which Java sorts differently",
        "order by a number or a time",
    ),
    "delete in a bulk insert": ("{0} rows have _hoodie_is_deleted set", "a bulk insert cannot delete: use an upsert"),
    "conflicting rows": (
        "{0} rows share key and ordering value with another row of the batch but differ in content",
        "keep one of them",
    ),
    "unknown key": (
        "{0} rows have a key that the table's record index lacks, and only a bulk insert may insert keys",
        "insert them by Table.bulk_insert, or leave them out",
    ),
    "key of another partition": (
        "{0} rows have a key that the table's record index has in another partition",
        "give the partition in which the key is; a key cannot move to another one",
    ),
}
"""Name of a rule -> the violation, and its remedy, as texts of an error message."""


OF_INDEX: Final = ("unknown key", "key of another partition")
"""The rules of a table with a record index (see the module `known_keys`)."""

_MOST_BYTES: Final = 255


def problems(rows: pa.Table, shape: TableShape, *, deletes: bool = True) -> list[Problem]:
    """Return the rules in `RULES` that the rows violate. `deletes` is True if the rows may contain deletes."""
    found = [
        ("null key", _any(one_array(rows[name]).is_null() for name in shape.keys.record_key)),
        ("ambiguous key", _ambiguous(rows, shape.keys)),
        ("empty key", _empty(rows, shape.keys)),
        ("unsafe partition", _unsafe(rows, shape.keys)),
        ("missing value", lacking(rows, _others(shape))),
    ]
    if shape.merge.ordering is not None:
        ordering = one_array(rows[shape.merge.ordering])
        found.append(("null ordering", ordering.is_null().to_numpy(zero_copy_only=False)))
        if pa.types.is_string(ordering.type):
            found.append(("unordered text", _mask(pc.match_substring_regex(ordering, r"[\x{10000}-\x{10FFFF}]"))))
    flags = is_deleted(rows)
    if not deletes and flags is not None:
        found.append(("delete in a bulk insert", flags.to_numpy()))
    found.append(("conflicting rows", conflicting(rows, shape)))
    return listed(found, rows, shape)


def listed(found: Iterable[tuple[str, Mask]], rows: pa.Table, shape: TableShape) -> list[Problem]:
    """Return a problem for each rule whose mask marks a row."""
    return [Problem(rule, int(mask.sum()), _example(rows, mask, shape)) for rule, mask in found if mask.any()]


def _others(shape: TableShape) -> pa.Schema:
    known = {*shape.keys.record_key, shape.merge.ordering}
    return pa.schema([field for field in shape.schema if field.name not in known])


def refuse(found: Iterable[Problem], shape: TableShape) -> None:
    """Raise `BadInput` for the rule with the most violations. Does nothing if `found` is empty."""
    by_rule: dict[str, Problem] = {}
    for problem in found:
        seen = by_rule.get(problem.rule, Problem(problem.rule, 0, problem.example))
        by_rule[problem.rule] = Problem(problem.rule, seen.rows + problem.rows, min(seen.example, problem.example))
    if not by_rule:
        return
    worst = max(by_rule.values(), key=lambda problem: (problem.rows, problem.rule))
    exists, remedy = RULES[worst.rule]
    keys = " or ".join(shape.keys.record_key)
    exists = exists.format(worst.rows, keys=keys, ordering=shape.merge.ordering)
    if worst.rows == 1:
        exists = exists.replace("1 rows have", "1 row has").replace("1 rows share", "1 row shares")
        exists = exists.replace("but differ ", "but differs ")
    kind = UnknownKey if worst.rule in OF_INDEX else BadInput
    raise kind("write a batch", f"{exists} (for example {worst.example})", remedy.format(keys=keys))


def conflicting(rows: pa.Table, shape: TableShape) -> Mask:
    """Return a mask of the rows that have the same key and ordering value as a preceding row, but different values in
    other columns.
    """
    places = _shared_ranks(rows, shape)
    conflict = np.zeros(len(rows), np.bool_)
    if len(places.later) == 0:
        return conflict
    first, later = rows.take(places.first), rows.take(places.later)
    differ = rows_differ(first, later, shape.schema.names)
    deleted = is_deleted(rows)
    if deleted is not None:
        flags = deleted.to_numpy()
        lefts, rights = flags[places.first], flags[places.later]
        differ = np.where(lefts & rights, False, differ | (lefts != rights))  # two deletes have no other content
    conflict[places.later[differ]] = True
    return conflict


class _Pairs(NamedTuple):
    """Pairs of row numbers: row *later[i]* has the same key and ordering value as row *first[i]*."""

    first: Numbers
    later: Numbers


def _shared_ranks(rows: pa.Table, shape: TableShape) -> _Pairs:
    codes, distinct = key_codes(pc.fill_null(record_keys(rows, shape.keys), ""))
    partitions, several = key_codes(partition_paths(rows, shape.keys))
    if several > 1:
        _, codes = np.unique(codes.astype(np.int64) * several + partitions, return_inverse=True)
        distinct = int(codes.max()) + 1
    if distinct == len(rows):
        return _Pairs(np.empty(0, np.int64), np.empty(0, np.int64))
    repeated = np.flatnonzero(np.bincount(codes, minlength=distinct)[codes] > 1)
    order = np.zeros(len(rows), np.int64)
    if shape.merge.ordering is not None:
        order = order_numbers([rows[shape.merge.ordering]])
    ranked = repeated[np.lexsort((order[repeated], codes[repeated]))]
    fresh = np.ones(len(ranked), np.bool_)
    fresh[1:] = (codes[ranked][1:] != codes[ranked][:-1]) | (order[ranked][1:] != order[ranked][:-1])
    firsts = ranked[np.flatnonzero(fresh)][np.cumsum(fresh) - 1]
    return _Pairs(firsts[~fresh], ranked[~fresh])


def _ambiguous(rows: pa.Table, keys: KeySpec) -> Mask:
    texts = [one_array(rows[name]) for name in keys.record_key if pa.types.is_string(rows.schema.field(name).type)]
    pattern = "[,:]" if keys.named else "(?s),.*:|:.*,"
    reserved = pa.array([NULL_KEY, EMPTY_KEY])
    return _any(pc.or_(pc.match_substring_regex(text, pattern), pc.is_in(text, reserved)) for text in texts)


def _empty(rows: pa.Table, keys: KeySpec) -> Mask:
    mask = np.ones(len(rows), np.bool_)
    for name in keys.record_key:
        text = one_array(rows[name])
        mask &= _mask(pc.equal(text, "")) if pa.types.is_string(text.type) else False
    return mask


def _unsafe(rows: pa.Table, keys: KeySpec) -> Mask:
    pattern = r"(^|/)\.{0,2}(/|$)|[:=\x00-\x1f\x7f]|^\.hoodie|^" + DEFAULT_PARTITION + "$"
    if len(keys.partition_by) > 1:
        pattern += "|/"  # the levels of several fields could not be distinguished
    texts = [one_array(rows[name]) for name in keys.partition_by if pa.types.is_string(rows.schema.field(name).type)]
    return _any([*(pc.match_substring_regex(text, pattern) for text in texts), *([_long(rows, keys)] if texts else ())])


def is_path(path: str, keys: KeySpec, schema: pa.Schema) -> bool:
    """Return True if `path` is a valid partition path of the table."""
    if not keys.partition_by:
        return path == ""
    texts = partition_values(pa.array([path], pa.string()), keys)
    try:
        rows = pa.table({name: text.cast(schema.field(name).type) for name, text in texts.items()})
    except pa.ArrowInvalid:
        return False
    return not _unsafe(rows, keys).any() and bool(partition_paths(rows, keys)[0].as_py() == path)


def _long(rows: pa.Table, keys: KeySpec) -> pa.Array:
    paths = one_array(partition_paths(rows, keys)).dictionary_encode()
    levels = pc.split_pattern(paths.dictionary, "/")
    long = pc.list_parent_indices(levels).filter(pc.greater(pc.binary_length(levels.flatten()), _MOST_BYTES))
    return pc.is_in(paths.indices, long.cast(paths.indices.type))


def _any(masks: Iterable[pa.Array]) -> Mask:
    found = [_mask(mask) for mask in masks]
    return np.logical_or.reduce(found) if found else np.zeros(1, np.bool_)


def _mask(flags: pa.Array) -> Mask:
    return np.asarray(pc.fill_null(flags, False).to_numpy(zero_copy_only=False))


def _example(rows: pa.Table, mask: Mask, shape: TableShape) -> str:
    """Return the invalid row with the smallest key, partition and ordering value, so that the error message does not
    depend on the input order.
    """
    names = list(dict.fromkeys([*shape.keys.fields, *([shape.merge.ordering] if shape.merge.ordering else [])]))
    broken = rows.select(names).filter(pa.array(mask))
    row = broken.sort_by([(name, "ascending") for name in names]).slice(0, 1).to_pylist()[0]
    return ", ".join(f"{name}={value!r}" for name, value in row.items())
