"""Combines all effects of a transition into one function. The combined function also sets the actor's next step, and
updates the records that mechanisms have added to the actor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from .bound import OWN, Bound, UnknownName


class Declared(NamedTuple):
    """The components (state variables) for which the effects of a transition may return values. A step changes the
    components in `writes`. Components in `scratch` have values only during a step and are not part of the state.
    """

    writes: frozenset[str]
    scratch: frozenset[str]

    def check(self, changes: dict[str, object]) -> dict[str, object]:
        """Return the changes without those of scratch components, whose values exist only during the step. Raises
        `UnknownName` for a component that is in neither `writes` nor `scratch`.
        """
        if changes.keys() <= self.writes:
            return changes
        if undeclared := changes.keys() - self.writes - self.scratch:
            raise UnknownName(f"{', '.join(undeclared)} is changed, and not declared among `changes`")
        return {name: value for name, value in changes.items() if name not in self.scratch}


class Records(NamedTuple):
    """The records that mechanisms add to the state of one actor. `first` maps the name of each record to its initial
    value.
    """

    me: str
    first: Mapping[str, Any]

    def changed(self, own: Any, name: str, value: Any) -> Any:
        """Return the actor's component (state variable) with one record replaced by `value`: the record that a
        mechanism added under `name`, or the whole kernel state if `name` is "own".

        An effect that replaces the whole kernel state ends the actor's operation, so the added records are reset to
        their initial values.
        """
        if name == "own":
            return value if value.records or not self.first else value._replace(records=tuple(self.first.values()))
        index = list(self.first).index(name.removeprefix(OWN))
        return own._replace(records=(*own.records[:index], value, *own.records[index + 1 :]))


def in_order(effects: Sequence[Bound], records: Records, to: str = "", declared: Declared | None = None) -> Bound:
    """Combine effects into one function. Each effect reads the state left by the previous effect. After the last
    effect, the actor proceeds to the step `to`.
    """
    me = records.me
    mine = (me,) if to or records.first else ()
    reads = tuple(dict.fromkeys((*chain(*(each.reads for each in effects)), *mine)))
    place = {name: number for number, name in enumerate(reads)}
    parts = [(each.call, tuple(place[name] for name in each.reads), each.keywords) for each in effects]

    # Most transitions have one effect, and no mechanism adds a record. A search calls such an effect millions of times,
    # and `one` saves the copies and look-ups by which `several` passes the state from effect to effect.
    def one(*values: Any, **args: Any) -> dict[str, object]:
        named = {name: args[name] for name in keywords if name in args} if args else {}
        after = dict(only(*values[:count], **named))
        if "own" in after:
            after[me] = after.pop("own")
        if to:
            after[me] = after.get(me, values[place[me]])._replace(step=to)
        return declared.check(after) if declared else after

    def several(*values: Any, **args: Any) -> dict[str, object]:
        state, after = list(values), dict[str, object]()
        for function, places, keywords in parts:
            named = {name: args[name] for name in keywords if name in args} if keywords else {}
            for name, new in function(*[state[i] for i in places], **named).items():
                mine = name == "own" or name.startswith(OWN)
                component = me if mine else name
                value = records.changed(state[place[me]], name, new) if mine and records.first else new
                after[component] = value
                if component in place:
                    state[place[component]] = value
        if to:
            after[me] = state[place[me]]._replace(step=to)
        return declared.check(after) if declared else after

    keywords = tuple(dict.fromkeys(chain(*(each.keywords for each in effects))))
    if len(effects) != 1 or records.first:
        return Bound(several, reads, keywords)
    only, count = effects[0].call, len(effects[0].reads)
    return Bound(one, reads, keywords)
