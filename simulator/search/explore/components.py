"""Strongly connected components of a graph of numbered states."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator

Following = Callable[[int], Iterator[int | None]]
"""Number of a state -> the numbers of the states that follow it; None stands for a state that is not in the graph."""


def components(
    following: Following, count: int, within: Container[int] | None = None
) -> Iterator[list[int]]:
    """Yield the strongly connected components of a graph, as lists of state numbers. Each component comes after all
    components that are reachable from it (reverse topological order).

    `count` is the number of states. If `within` is given, states outside `within` are ignored. The implementation is
    Tarjan's algorithm without recursion.
    """
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    for root in range(count):
        if root in order or (within is not None and root not in within):
            continue
        work = [(root, _inside(following, root, within))]
        order[root] = low[root] = len(order)
        stack.append(root)
        on_stack.add(root)
        while work:
            at, left = work[-1]
            new = next((n for n in _lowering(left, at, order, low, on_stack)), None)
            if new is not None:
                order[new] = low[new] = len(order)
                stack.append(new)
                on_stack.add(new)
                work.append((new, _inside(following, new, within)))
                continue
            work.pop()
            if work:
                low[work[-1][0]] = min(low[work[-1][0]], low[at])
            if low[at] == order[at]:
                cut = stack.index(at) if len(stack) < 64 else len(stack) - 1 - stack[::-1].index(at)
                yield (found := stack[cut:])
                on_stack.difference_update(found)
                del stack[cut:]


def _lowering(
    following: Iterator[int], at: int, order: dict[int, int], low: dict[int, int], on_stack: set[int]
) -> Iterator[int]:
    for number in following:
        if number not in order:
            yield number
        elif number in on_stack:
            low[at] = min(low[at], order[number])


def _inside(following: Following, number: int, within: Container[int] | None) -> Iterator[int]:
    return (after for after in following(number) if after is not None and (within is None or after in within))


def on_cycles(following: Following, count: int) -> list[int]:
    """Return the numbers of the states that are on a cycle, in the order of `components`."""
    found: list[int] = []
    for each in components(following, count):
        # A component of one state is a cycle only if the state follows itself.
        if len(each) > 1 or each[0] in following(each[0]):
            found += each
    return found
