"""The states of a model that can be reached."""

from __future__ import annotations

from collections import deque

from nbcc.model import Model, State


def reachable(model: Model) -> list[State]:
    seen, queue = {model.initial: None}, deque([model.initial])
    while queue:
        for _, after in model.successors(queue.popleft()):
            if after not in seen:
                seen[after] = None
                queue.append(after)
    return list(seen)
