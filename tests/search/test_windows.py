"""What INCR leaves out where a window holds a replace: on every state of the world with replaces, why it may."""

from __future__ import annotations

from nbcc.model import Model, Protocol
from nbcc.model.mechanisms.insert_overwrite import replaced
from nbcc.model.promises.view import view_of
from nbcc.simulator import specs
from tests.builders.reachable import reachable


def test_a_window_with_a_replace_is_the_state_after_unless_it_begins_after_the_request() -> None:
    model = Model(specs.world("replaces"), Protocol())
    views = {view_of(model, state) for state in reachable(model)}
    begins: set[bool] = set()
    for view in views:
        for start, end in view.windows:
            inside = view.logs(0, start, end)
            requested = max((log[0] for log in inside if replaced(view.done[log[0]])), default=None)
            if requested is not None:
                begins.add(start <= requested)
                survivors = {*view.logs(0, until=end)} - {*inside}
                kept = {view.done[log[0]].completed or 0 for log in survivors}
                assert all(requested < completed <= start for completed in kept)
                assert not survivors or start > requested
    assert begins == {True, False}
