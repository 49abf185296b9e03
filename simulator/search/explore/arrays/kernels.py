"""The loops over arrays of a search, compiled by numba. None of them knows a rule: they copy, add, mask and compare
words.

A table is an array of numbers with open addressing, whose size is a power of two. It holds numbers of rows, not the
rows. Numbers are one greater than the row's index, so that 0 is a free place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

import numba
import numpy as np

F = TypeVar("F", bound=Callable[..., Any])
U: Final = np.uint64
FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)
HALF: Final = np.uint64(32)
UNKNOWN, ASLEEP, AWAKE, ASKED = 0, 1, 2, 3
"""What is known of an actor with one value of its component: nothing, no transition, some transitions, soon."""
NOTHING: Final = -1
UNRESOLVED: Final = -2


def kernel(function: F) -> F:
    """Compile a function. The compiled code is kept in a file next to the source, or in the user's cache."""
    try:
        return cast(F, numba.njit(cache=True, nogil=True)(function))
    except RuntimeError:  # neither folder can be written: each process compiles, which takes seconds
        return cast(F, numba.njit(nogil=True)(function))


@kernel
def mixed(seed: Any, word: Any) -> Any:
    """Return a hash of a hash and a word."""
    found = (seed ^ word) * FACTOR
    return found ^ (found >> HALF)


@kernel
def find_moves(words: Any, first: int, last: int, slots: Any, known: Any, masks: Any, table: Any, tags: Any,
               keys: Any, used: Any, found: Any, missing: Any) -> int:  # fmt: skip
    """For each state and actor, write the number of the entry of its moves into `found`, or NOTHING.

    What must be evaluated first is written into `missing`: a state, an actor, and the new entry, or NOTHING if the
    transitions of an actor with this value of its component are unknown. Returns how many that are.
    """
    count, width, size = 0, words.shape[1], U(table.shape[0] - 1)
    for number in range(first, last):
        for slot in range(slots.shape[0]):
            own = np.int64((words[number, slots[slot, 0]] >> U(slots[slot, 1])) & U(slots[slot, 2]))
            kind = known[slot, own]
            if kind != AWAKE:
                found[number - first, slot] = NOTHING if kind == ASLEEP else UNRESOLVED
                if kind == UNKNOWN:
                    known[slot, own] = ASKED
                    missing[count, 0], missing[count, 1], missing[count, 2] = number, slot, NOTHING
                    count += 1
                continue
            tag = np.int64(slot) << 32 | own
            seed = mixed(U(0), U(tag))
            for word in range(width):
                seed = mixed(seed, words[number, word] & masks[slot, own, word])
            at = seed & size
            while True:
                entry = np.int64(table[at]) - 1
                if entry < 0:
                    entry = used[0]
                    used[0] += 1
                    table[at], tags[entry] = entry + 1, tag
                    for word in range(width):
                        keys[entry, word] = words[number, word] & masks[slot, own, word]
                    missing[count, 0], missing[count, 1], missing[count, 2] = number, slot, entry
                    count += 1
                    break
                same = tags[entry] == tag
                for word in range(width):
                    same = same and keys[entry, word] == words[number, word] & masks[slot, own, word]
                if same:
                    break
                at = (at + U(1)) & size
            found[number - first, slot] = entry
    return count


@kernel
def fill_moves(keys: Any, tags: Any, count: int, table: Any) -> None:
    """Enter the first `count` entries of moves into an empty table."""
    size = U(table.shape[0] - 1)
    for entry in range(count):
        seed = mixed(U(0), U(tags[entry]))
        for word in range(keys.shape[1]):
            seed = mixed(seed, keys[entry, word])
        at = seed & size
        while table[at] != 0:
            at = (at + U(1)) & size
        table[at] = entry + 1


@kernel
def count_moves(found: Any, rows: int, counts: Any) -> int:
    """Return how many moves the entries of `found` have together."""
    total = 0
    for row in range(rows):
        for slot in range(found.shape[1]):
            if found[row, slot] >= 0:
                total += counts[found[row, slot]]
    return total


@kernel
def make_moves(words: Any, first: int, last: int, found: Any, starts: Any, counts: Any, deltas: Any, afters: Any,
               sources: Any, moves: Any, ends: Any) -> int:  # fmt: skip
    """Write each successor with its predecessor and its move, and the states without any. Returns how many these are.
    """
    made, without, width = 0, 0, words.shape[1]
    for number in range(first, last):
        before = made
        for slot in range(found.shape[1]):
            entry = found[number - first, slot]
            if entry >= 0:
                for move in range(starts[entry], starts[entry] + counts[entry]):
                    for word in range(width):
                        afters[made, word] = words[number, word] + deltas[move, word]
                    sources[made], moves[made] = number, move
                    made += 1
        if made == before:
            ends[without] = number
            without += 1
    return without


@kernel
def hashed(words: Any, row: int) -> Any:
    """Return the hash of a row."""
    seed = U(0)
    for word in range(words.shape[1]):
        seed = mixed(seed, words[row, word])
    return seed


@kernel
def equal(words: Any, row: Any, others: Any, other: Any) -> bool:
    """True if two rows have the same words."""
    differs = U(0)
    for word in range(words.shape[1]):
        differs |= words[row, word] ^ others[other, word]
    return bool(differs == 0)


@kernel
def insert(words: Any, parents: Any, count: int, table: Any, afters: Any, sources: Any, total: int, level_end: int,
           fresh: Any) -> Any:  # fmt: skip
    """Add each successor that is new to `words`, and write its number into `fresh`, or NOTHING if it is known. Returns
    how many states there are then, and whether a successor was in a level before.
    """
    width, size, goes_back = words.shape[1], U(table.shape[0] - 1), False
    for row in range(total):
        at = hashed(afters, row) & size
        fresh[row] = NOTHING
        while True:
            known = np.int64(table[at]) - 1
            if known < 0:
                for word in range(width):
                    words[count, word] = afters[row, word]
                parents[count] = sources[row]
                fresh[row] = count
                count += 1
                table[at] = count
                break
            if equal(words, known, afters, row):
                if known < level_end:
                    goes_back = True
                break
            at = (at + U(1)) & size
    return count, goes_back


@kernel
def fill(words: Any, count: int, table: Any) -> None:
    """Enter `count` different rows into an empty table."""
    size = U(table.shape[0] - 1)
    for row in range(count):
        at = hashed(words, row) & size
        while table[at] != 0:
            at = (at + U(1)) & size
        table[at] = row + 1


@kernel
def number_of(words: Any, table: Any, wanted: Any) -> int:
    """Return the number of the state in the first row of `wanted`, or NOTHING."""
    size = U(table.shape[0] - 1)
    at = hashed(wanted, 0) & size
    while table[at] != 0:
        known = np.int64(table[at]) - 1
        if equal(words, known, wanted, 0):
            return int(known)
        at = (at + U(1)) & size
    return NOTHING


@kernel
def shows(words: Any, number: int, mask: Any, group: int, table: Any, groups: Any) -> bool:
    """Enter what a state shows through a mask into the table of a group. Returns False if a state showed it before."""
    size = U(table.shape[0] - 1)
    seed = mixed(U(0), U(group))
    for word in range(words.shape[1]):
        seed = mixed(seed, words[number, word] & mask[word])
    at = seed & size
    while table[at] != 0:
        known, same = np.int64(table[at]) - 1, groups[at] == group
        for word in range(words.shape[1]):
            same = same and words[known, word] & mask[word] == words[number, word] & mask[word]
        if same:
            return False
        at = (at + U(1)) & size
    table[at], groups[at] = number + 1, group
    return True


@kernel
def changed(before: Any, number: int, after: Any, row: int, mask: Any) -> bool:
    """True if a state differs from a successor in what a mask shows."""
    differs = U(0)
    for word in range(before.shape[1]):
        differs |= (before[number, word] ^ after[row, word]) & mask[word]
    return bool(differs != 0)


@kernel
def new_footprints(words: Any, fresh: Any, sources: Any, total: int, masks: Any, ids: Any, table: Any, groups: Any,
                   events: Any) -> int:  # fmt: skip
    """Write each new state that shows something new to a group: its row among the successors, and the group's place."""
    count = 0
    for row in range(total):
        if fresh[row] >= 0:
            for place in range(ids.shape[0]):
                if changed(words, sources[row], words, fresh[row], masks[place]) and shows(
                    words, fresh[row], masks[place], ids[place], table, groups
                ):
                    events[count, 0], events[count, 1] = row, place
                    count += 1
    return count


@kernel
def enter_footprints(words: Any, first: int, last: int, masks: Any, ids: Any, table: Any, groups: Any) -> int:
    """Enter what states show to each group. Returns how many entries are new."""
    count = 0
    for number in range(first, last):
        for place in range(ids.shape[0]):
            if shows(words, number, masks[place], ids[place], table, groups):
                count += 1
    return count


@kernel
def new_steps(words: Any, afters: Any, sources: Any, moves: Any, total: int, masks: Any, deltas: Any, steps: Any,
              table: Any, keys: Any, events: Any) -> int:  # fmt: skip
    """Write each step that is new to a group of promises over steps: its row among the successors, and the group.

    Steps are alike for a group if their names and what they show before and after are equal. `keys` has a predecessor,
    a move and a group for each place of the table that is taken.
    """
    count, width, size = 0, words.shape[1], U(table.shape[0] - 1)
    for row in range(total):
        number, move = sources[row], moves[row]
        for group in range(masks.shape[0]):
            if not changed(words, number, afters, row, masks[group]):
                continue
            seed = mixed(U(group), U(steps[move]))
            for word in range(width):
                seed = mixed(mixed(seed, words[number, word] & masks[group, word]),
                             afters[row, word] & masks[group, word])  # fmt: skip
            at, known = seed & size, False
            while table[at] != 0:
                other, by, same = keys[at, 0], keys[at, 1], keys[at, 2] == group
                same = same and steps[by] == steps[move]
                for word in range(width):
                    mask = masks[group, word]
                    same = same and words[other, word] & mask == words[number, word] & mask
                    same = same and (words[other, word] + deltas[by, word]) & mask == afters[row, word] & mask
                if same:
                    known = True
                    break
                at = (at + U(1)) & size
            if not known:
                table[at], keys[at, 0], keys[at, 1], keys[at, 2] = 1, number, move, group
                events[count, 0], events[count, 1] = row, group
                count += 1
    return count


@kernel
def fill_steps(words: Any, deltas: Any, steps: Any, masks: Any, old: Any, entries: Any, table: Any, keys: Any) -> None:
    """Enter the steps of a smaller table into an empty one."""
    width, size = words.shape[1], U(table.shape[0] - 1)
    for place in range(old.shape[0]):
        if old[place] == 0:
            continue
        number, move, group = entries[place, 0], entries[place, 1], entries[place, 2]
        seed = mixed(U(group), U(steps[move]))
        for word in range(width):
            mask = masks[group, word]
            seed = mixed(mixed(seed, words[number, word] & mask), (words[number, word] + deltas[move, word]) & mask)
        at = seed & size
        while table[at] != 0:
            at = (at + U(1)) & size
        table[at] = 1
        for column in range(3):
            keys[at, column] = entries[place, column]


@kernel
def fill_footprints(words: Any, masks: Any, old: Any, old_groups: Any, table: Any, groups: Any) -> None:
    """Enter the footprints of a smaller table into an empty one. `masks` has a row for each group that ever was."""
    for place in range(old.shape[0]):
        if old[place] != 0:
            group = old_groups[place]
            shows(words, int(old[place]) - 1, masks[group], group, table, groups)


@kernel
def repack(old: Any, new: Any, count: int, fields: Any, others: Any) -> None:
    """Copy each field of `old` to its place in `new`, whose words are 0."""
    for row in range(count):
        for place in range(fields.shape[0]):
            value = (old[row, fields[place, 0]] >> U(fields[place, 1])) & U(fields[place, 2])
            new[row, others[place, 0]] |= value << U(others[place, 1])
