"""Renders a specification, or the differences of two, as one HTML file that needs no network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from re import sub
from string import Template

from ..style import css_variables
from .differences import RuleDifference
from .entries import Chapter, Code, SpecEntry

PAGE = Template("""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>$title</title>
<style>
$variables
* { box-sizing: border-box }
body { background: var(--paper); color: var(--ink); font: 15px/1.55 system-ui, sans-serif; margin: 0 }
.page { display: grid; grid-template-columns: 17rem minmax(0, 1fr); max-width: 88rem; margin: 0 auto }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.4rem 1rem; font-size: 13px;
  border-right: 1px solid var(--line) }
nav a { display: block; padding: .1rem 0; overflow-wrap: anywhere }
nav details > a { padding-left: .9rem; color: var(--muted) }
nav summary { padding: .15rem 0; cursor: pointer }
nav summary a { display: inline }
main { padding: 1.4rem 2.2rem 6rem; min-width: 0 }
a { color: inherit; text-decoration-color: var(--faint) }
h1 { font-size: 1.6rem; margin: 0 0 .4rem; text-wrap: balance }
h2 { font-size: 1.25rem; margin: 3rem 0 .3rem; padding-top: .6rem; border-top: 2px solid var(--ink) }
article { border-top: 1px solid var(--line); padding: 1rem 0 1rem; scroll-margin-top: 0 }
article:target { background: var(--mark); margin: 0 -1rem; padding: 1rem }
h3 { font: 600 1rem/1.4 ui-monospace, monospace; margin: 0; overflow-wrap: anywhere }
h3 a { text-decoration: none }
p { margin: .35rem 0; max-width: 46rem }
.muted, dt { color: var(--muted) }
dl { display: grid; grid-template-columns: 7rem minmax(0, 1fr); gap: .15rem 1rem; margin: .6rem 0; max-width: 60rem }
dt { font-size: 13px } dd { margin: 0; overflow-wrap: anywhere }
pre { background: var(--panel); border: 1px solid var(--line); padding: .7rem .9rem; overflow-x: auto;
  font: 12.5px/1.5 ui-monospace, monospace; margin: .3rem 0 }
code { font: .92em ui-monospace, monospace; overflow-wrap: anywhere }
details.code > summary { cursor: pointer; font-size: 13px; color: var(--muted) }
ul.links { list-style: none; display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; padding: 0; margin: .5rem 0 0;
  font-size: 13px }
ins, del { text-decoration: none; display: block; padding: 0 .3rem; border-left: 3px solid }
ins { border-color: #12966a; background: color-mix(in srgb, #12966a 14%, transparent) }
del { border-color: var(--red); background: color-mix(in srgb, var(--red) 13%, transparent) }
.sides { display: grid; grid-template-columns: 1fr 1fr; gap: 0 1rem }
@media (max-width: 60rem) {
  .page { display: block } nav { position: static; height: auto; columns: 2; border: 0;
    border-bottom: 1px solid var(--line) }
  main { padding: 1rem 1rem 4rem } dl { grid-template-columns: 1fr; gap: 0 } dd { margin-bottom: .3rem }
  .sides { grid-template-columns: 1fr } article:target { margin: 0 -.5rem; padding: 1rem .5rem }
}
</style></head><body><div class="page">
<nav>$navigation</nav>
<main><h1>$title</h1>$about$chapters</main>
</div></body></html>
""")


def page(title: str, about: Sequence[str], chapters: Sequence[Chapter]) -> str:
    """Return the specification as HTML text. `about` are paragraphs under the title."""
    return PAGE.substitute(
        title=escape(title), variables=css_variables([]), about=_paragraphs(about),
        navigation="".join(_summary(each, each.entries) for each in chapters),
        chapters="".join(map(_chapter, chapters)),
    )  # fmt: skip


def difference_page(
    title: str, about: Sequence[str], differences: Sequence[tuple[Chapter, Sequence[RuleDifference]]]
) -> str:
    """Return the differences of two specifications as HTML text, chapter by chapter."""
    navigation = "".join(_summary(chapter, [each.entry for each in some]) for chapter, some in differences)
    body = "".join(
        f'<h2 id="{chapter.address}">{escape(chapter.title)}</h2>{"".join(map(_difference, some))}'
        for chapter, some in differences
    )
    return PAGE.substitute(
        title=escape(title), variables=css_variables([]), about=_paragraphs(about), navigation=navigation,
        chapters=body,
    )  # fmt: skip


def _paragraphs(texts: Iterable[str]) -> str:
    return "".join(f"<p>{_prose(text)}</p>" for text in texts)


def _prose(text: str) -> str:
    """Return a text as HTML. What a docstring has in backticks becomes code."""
    return sub(r"``?([^`]+)``?", r"<code>\1</code>", escape(text))


def _summary(chapter: Chapter, entries: Iterable[SpecEntry]) -> str:
    links = "".join(f'<a href="#{each.address}">{escape(each.title)}</a>' for each in entries)
    title = f'<a href="#{chapter.address}">{escape(chapter.title)}</a>'
    return f"<details><summary>{title}</summary>{links}</details>"


def _chapter(chapter: Chapter) -> str:
    head = f'<h2 id="{chapter.address}">{escape(chapter.title)}</h2><p class="muted">{_prose(chapter.about)}</p>'
    return head + "".join(map(_entry, chapter.entries))


def _entry(entry: SpecEntry) -> str:
    code = "".join(map(_code, entry.code))
    folded = f'<details class="code"><summary>code</summary>{code}</details>' if code else ""
    return f"{_head(entry)}{_lines(entry.lines)}{folded}{_links(entry)}</article>"


def _head(entry: SpecEntry) -> str:
    name = f'<h3><a href="#{entry.address}">{escape(entry.title)}</a></h3>'
    return f'<article id="{entry.address}">{name}<p>{_prose(entry.about)}</p>'


def _lines(lines: Iterable[tuple[str, str]]) -> str:
    return "<dl>" + "".join(f"<dt>{escape(word)}</dt><dd>{_prose(text)}</dd>" for word, text in lines) + "</dl>"


def _code(code: Code) -> str:
    return f'<p class="muted">{escape(code.role)} <code>{escape(code.place)}</code></p><pre>{escape(code.text)}</pre>'


def _links(entry: SpecEntry) -> str:
    items = (
        f'<a href="{escape(address)}">{escape(text)}</a>' if address else f"<code>{escape(text)}</code>"
        for text, address in entry.links
    )
    found = "".join(f"<li>{item}</li>" for item in items)
    return f'<ul class="links">{found}</ul>' if found else ""


def _difference(difference: RuleDifference) -> str:
    sides = "".join(f"<{tag}>{_prose(text)}</{tag}>" for tag, text in difference.lines)
    code = "".join(_marked(tag, line) for tag, line in difference.code)
    return f'{_head(difference.entry)}<p class="muted">{escape(difference.word)}</p>{sides}' + (
        f"<pre>{code}</pre></article>" if code else "</article>"
    )


def _marked(tag: str, line: str) -> str:
    text = escape(line)
    return f"<{tag}>{text or ' '}</{tag}>" if tag else f"{text}\n"
