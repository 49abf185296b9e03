"""The indexes of the gallery: a README for GitHub, and an HTML page in the style of the pages of traces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files
from itertools import groupby
from string import Template

from nbcc.model.promises import PROMISES
from nbcc.simulator.lockstep.systems.registry import factory
from nbcc.simulator.trace_text import render
from nbcc.simulator.view.style import VERDICTS, css_variables

from .find import Found

TITLE = "A course in runs"
ABOUT = (
    "Each run is an interleaving of writers, compactors and readers on one table, found by a search and the shortest "
    "of its kind. Read the question, decide, then look at the picture or play the run yourself."
)
HOW = (
    "Times `t1`, `t2`, ... are ticks of one clock: a circle is a requested time, a dot a completion time; `ord` is an",
    "ordering value. Red means one thing, the row that is lost or too much. With `--html FILE` a replay becomes a page",
    "that steps through the run, and with `--protocol default` a broken run is played by the rules that keep every",
    "promise. [How to read a counterexample](../../docs/reading-a-counterexample.md) explains the rest.",
)


def command(found: Found) -> str:
    """Return the command that replays the run on every system that supports its protocol."""
    systems = "" if played_by(found) == ("model",) else " --on model --on engine"
    expect = "agreed" if found.entry.keeps else "violated"
    return f"nbcc replay {found.entry.name}{systems} --expect {expect}"


def played_by(found: Found) -> tuple[str, ...]:
    """Return the systems that can play the run; the engine refuses protocols that it does not implement."""
    try:
        factory("engine")(found.entry.world, found.entry.protocol, found.trace.batches)
    except ValueError:
        return ("model",)
    return ("model", "engine")


def standing(found: Found) -> str:
    """Return a sentence: how many states were searched if the promise holds, otherwise the options that break it."""
    entry = found.entry
    if entry.keeps and entry.order:
        return "Kept in this run, whose steps are those of the document."
    if entry.keeps:
        return f"Kept in every interleaving of this world ({found.states:,} states)."
    chosen = ", ".join(f"{name} = {value}" for name, value in entry.protocol.differences().items())
    named = f" (protocol `{entry.protocol_name}`)" if entry.protocol_name else ""
    return f"Broken with `{chosen}`{named}."


# for a forge


def readme(runs: Sequence[Found]) -> str:
    """Return the text of ``README.md``."""
    return "\n".join([*_opening(runs), *(line for found in runs for line in _section(found))]).rstrip() + "\n"


def _opening(runs: Sequence[Found]) -> Iterator[str]:
    yield f"# {TITLE}"
    yield ""
    yield ABOUT
    yield ""
    yield from HOW
    for part, found in groupby(runs, key=lambda each: each.entry.part):
        yield from ("", f"**{part}**", "")
        yield from (f"- [{_number(each)}. {each.entry.title}](#{_anchor(each)})" for each in found)
    yield ""


def _section(found: Found) -> Iterator[str]:
    entry = found.entry
    promise = PROMISES[entry.promise]
    yield from (f"## {_number(found)}. {entry.title}", "", f"**Predict.** {entry.predict}", "")
    yield from ("```sh", command(found), "```", "")
    yield from (f"![{entry.title}]({entry.name}.svg)", "", entry.shows, "")
    yield from (f"**{promise.name}**: {promise.about} ({promise.source}) {standing(found)}", "")
    yield from ("<details><summary>Step by step</summary>", "", "```text", render(found.trace), "```", "")
    yield from ("</details>", "")


def _number(found: Found) -> int:
    return int(found.entry.name.partition("-")[0])


def _anchor(found: Found) -> str:
    heading = f"{_number(found)}. {found.entry.title}".lower()
    return "".join(c for c in heading if c.isalnum() or c in " -_").replace(" ", "-")


# for a browser


def index(runs: Sequence[Found], linked: bool = False) -> str:
    """Return the text of ``index.html``; if `linked` is True, with links to a page for every run."""
    parts = [
        f"<h2>{escape(part)}</h2>\n" + "\n".join(_card(each, linked) for each in found)
        for part, found in groupby(runs, key=lambda each: each.entry.part)
    ]
    contents = "".join(f'<li><a href="#{escape(each.entry.name)}">{escape(each.entry.title)}</a></li>' for each in runs)
    template = files(__package__).joinpath("index.html").read_text(encoding="utf-8")
    return Template(template).substitute(
        variables=css_variables([]), title=TITLE, about=escape(ABOUT), contents=contents, cards="\n".join(parts)
    )


def _card(found: Found, linked: bool) -> str:
    entry, promise = found.entry, PROMISES[found.entry.promise]
    outline, sign = VERDICTS["HOLDS" if entry.keeps else "VIOLATED"]
    image = f'<img src="{entry.name}.svg" alt="{escape(entry.title)}" loading="lazy">'
    shown = f'<a href="{entry.name}.html" title="step through it">{image}</a>' if linked else image
    return f"""<article id="{entry.name}">
<p class="eyebrow"><span class="verdict"><svg viewBox="0 0 20 20" aria-hidden="true"><path d="{outline}"/>\
<path class="sign" d="{sign}"/></svg>{"KEPT" if entry.keeps else "VIOLATED"}</span><b>{promise.name}</b>\
<span>{escape(standing(found).replace("`", ""))}</span></p>
<h3><span>{_number(found)}</span> {escape(entry.title)}</h3>
<p class="predict">{escape(entry.predict)}</p>
{shown}
<p>{escape(entry.shows)}</p>
<p class="quiet">{escape(promise.about)} — {escape(promise.source)}</p>
<pre class="command">{escape(command(found))}</pre>
<details><summary>Step by step</summary><pre>{escape(render(found.trace))}</pre></details>
</article>"""
