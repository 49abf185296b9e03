"""Extensions: what a file outside nbcc adds to the model, and what a user reads if it is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from nbcc.model import Model, Protocol, World, extensions, mechanisms
from nbcc.model.assembly import compose, is_modelled
from nbcc.model.machine.order import Unordered
from nbcc.model.promises import PROMISES
from nbcc.model.protocol import choices, documented
from nbcc.simulator import specs
from nbcc.simulator.lockstep.explain import explain

QUOTA = """
from typing import Literal
from nbcc.model.machine.mechanism import AddedValue, Mechanism
from nbcc.model.machine.options import Limits, Options, limit, option
from nbcc.model.promises.promise import Promise

class Quota(Options):
    quota: Literal["none", "one"] = option("none", "how many writers there may be")

MECHANISM = Mechanism(options=Quota, values=(AddedValue("scheduling", "nightly", "only at night"),))
PROMISES = (Promise(name="CALM", about="calm", source="a test", kind="state", reads=lambda model: ("clock",),
                    holds=lambda model, before, step, after: None, sometimes=lambda model, state: True),)
WORLDS = {"lonely": {"about": "one writer", "actors": {"writer": 1}}}
PROTOCOLS = {"at-night": {"about": "plans at night", "extends": "default", "scheduling": "nightly"}}
"""

RULES = """
from nbcc.model.rules import Rules

class Helped(Rules):
    def _helper(self): ...
    def plan_takes(self): ...

class Mine(Helped):
    def {}(self): ...
"""


@pytest.fixture
def nothing_loaded(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No extension is loaded before the test or after it."""
    known = dict(PROMISES)
    monkeypatch.setattr(extensions, "_loaded", {})
    monkeypatch.setenv(extensions.VARIABLE, "")
    yield
    for name in PROMISES.keys() - known.keys():
        del PROMISES[name]


@pytest.mark.usefixtures("nothing_loaded")
def test_an_extension_adds_options_values_promises_worlds_and_protocols(tmp_path: Path) -> None:
    file = tmp_path / "quotas.py"
    file.write_text(QUOTA)
    assert extensions.load(file) is extensions.load(file)
    assert choices()["quota"] == ("none", "one")
    assert choices()["scheduling"] == ("non_serial", "serial", "nightly")
    assert documented()["scheduling"].endswith("; nightly: only at night")
    assert "CALM" in PROMISES
    assert specs.world("lonely") == World(actors={"writer": 1})
    assert specs.about("worlds", "lonely") == "one writer"
    assert {each.source for name in ("lonely", "quota") for each in explain(name)} == {"the extension quotas"}
    assert specs.protocol("at-night") == Protocol(scheduling="nightly")
    assert "at-night" in specs.protocol_names()
    assert Model(specs.world("lonely"), Protocol(quota="one")).enabled(0)
    assert extensions.files() == [str(file)]
    assert extensions.sources() == QUOTA.encode()


@pytest.mark.usefixtures("nothing_loaded")
def test_an_extension_of_an_installed_package_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "quotas_installed.py").write_text(QUOTA)
    info = tmp_path / "quotas-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: quotas\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[nbcc.extensions]\nquotas = quotas_installed\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    extensions.load_all()
    assert "quotas" in mechanisms.every()
    extensions.load_all()
    assert [*extensions.loaded()] == ["quotas"]


@pytest.mark.usefixtures("nothing_loaded")
@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("nothing", "X = 1\n", "defines none of MECHANISM, LOCKSTEP, PROMISES, WORLDS, PROTOCOLS"),
        ("broken", "import no_such_module\n", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("wrong", "MECHANISM = 1\n", "MECHANISM must be a Mechanism"),
        ("crashes", QUOTA, "nbcc has a mechanism 'crashes'; give the file another name"),
        ("twice", QUOTA.replace("quota:", "slicing:"), "slicing and twice both declare 'slicing'"),
        ("absent", QUOTA.replace('"scheduling", "n', '"schedule", "n'), "the option 'schedule', which does not exist"),
        ("known", QUOTA.replace("CALM", "SNAP"), "promises with new names, found 'SNAP'"),
        ("misspelled", RULES.format("plan_take"), r"Mine.plan_take is not a rule; did you mean plan_takes\?"),
        ("helping", RULES.format("zzz"), "Mine.zzz is not a rule; begin the name of a helper with _"),
    ],
)
def test_a_wrong_extension_is_one_sentence_and_leaves_nothing_behind(
    tmp_path: Path, name: str, text: str, sentence: str
) -> None:
    before = {**choices()}, {*PROMISES}
    file = tmp_path / f"{name}.py"
    file.write_text(text)
    with pytest.raises(ValueError, match=f"cannot be loaded: .*{sentence}"):
        extensions.load(file)
    assert ({**choices()}, {*PROMISES}) == before
    assert not extensions.loaded()


@pytest.mark.usefixtures("nothing_loaded")
def test_a_file_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"mine\.py' does not exist; name a Python file"):
        extensions.load(tmp_path / "mine.py")
    (tmp_path / "mine.txt").write_text(QUOTA)
    with pytest.raises(ValueError, match=r"is not a Python file; its name must end in \.py"):
        extensions.load(tmp_path / "mine.txt")


REPLACING = """
from nbcc.model.machine.mechanism import Mechanism

def compose(composition):
    composition.find(*(each.action for each in composition.transitions.values())).replace(lambda each: each)

MECHANISM = Mechanism(compose=compose, after=AFTER)
"""
"""Replaces every transition: that commutes with no other refinement."""


@pytest.mark.usefixtures("nothing_loaded")
@pytest.mark.parametrize("after", ["()", '("*",)', '("occ",)'])
def test_an_extension_needs_no_order_among_the_mechanisms_of_nbcc(tmp_path: Path, after: str) -> None:
    (tmp_path / "replacing.py").write_text(REPLACING.replace("AFTER", after))
    extensions.load(tmp_path / "replacing.py")
    cases = [(name, "default") for name in specs.world_names()] + [("demo", name) for name in specs.protocol_names()]
    for world, protocol in ((specs.world(name), specs.protocol(protocol)) for name, protocol in cases):
        if is_modelled(world, protocol):
            assert compose(world, protocol).transitions


@pytest.mark.usefixtures("nothing_loaded")
def test_two_extensions_that_change_one_transition_say_which_line_orders_them(tmp_path: Path) -> None:
    for name, after in (("replacing", "()"), ("swapping", "()")):
        (tmp_path / f"{name}.py").write_text(REPLACING.replace("AFTER", after))
        extensions.load(tmp_path / f"{name}.py")
    with pytest.raises(Unordered, match=r"write after=\('replacing',\) in the Mechanism of swapping"):
        compose(specs.world("demo"), Protocol())
