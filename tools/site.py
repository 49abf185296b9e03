"""`python -m tools.site DIR`: lays out the pages of the documentation site, which MkDocs then builds (`make docs`).

The pages keep their places in the repository, so that their links stay as they are: those of docs/ and every file to
which they lead. A link to a folder leads to a list of its files. The specifications are written by `nbcc spec`.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from nbcc.simulator import specs
from nbcc.simulator.view.spec.write import write

ROOT: Final = Path(__file__).resolve().parents[1]
LINK: Final = re.compile(r"(\]\()((?!\w+:)[^)#\s]+)((?:#[^)\s]*)?\))")
DIFFERENCES: Final = (("rfc-66-as-written", "default"), ("default", "hudi-1.2.0"), ("occ", "default"))
API: Final = {
    "engine": ("The engine: tables", ("engine.table.Table", "engine.copying.copy_table", "engine.errors")),
    "model": (
        "The model: worlds, protocols and steps",
        ("model.World", "model.Protocol", "model.Model", "model.machine.composition.Composition"),
    ),
    "testing": ("Tests of your own table", ("testing.machine", "testing.driver")),
    "simulator": (
        "The search and its traces",
        ("simulator.search.explore.explore", "simulator.trace.Trace", "simulator.lockstep.replay"),
    ),
}
"""A page of the API -> its title and the objects of the package nbcc on it."""


def main(arguments: list[str] | None = None) -> int:
    """The exit code is 2 if no folder was given, and 1 if a link leads to no file."""
    if len(arguments := sys.argv[1:] if arguments is None else arguments) != 1:
        print("usage: python -m tools.site DIR", file=sys.stderr)
        return 2
    out = Path(arguments[0])
    shutil.rmtree(out, ignore_errors=True)
    dead = [*lay_out(out)]
    for old, new in DIFFERENCES:
        write(out / "spec" / f"{old}-to-{new}", old, specs.protocol(old), new, specs.protocol(new))
    for name, (title, objects) in API.items():
        _put(out / "api" / f"{name}.md", f"# {title}\n\n" + "".join(f"::: nbcc.{each}\n\n" for each in objects))
    _put(out / "index.md", _index(*((ROOT / each).read_text("utf-8") for each in ("README.md", "docs/README.md"))))
    print(*dead, sep="\n", end="\n" if dead else "", file=sys.stderr)
    return int(bool(dead))


def lay_out(out: Path, root: Path = ROOT) -> Iterator[str]:
    """Copy the pages of docs/ and all to which they lead. Yield a sentence for each link that leads to no file."""
    left = sorted((root / "docs").glob("*.md"))
    seen = {*left}
    while left:
        page = left.pop()
        place = out / page.relative_to(root)
        if page.suffix != ".md":
            _put(place, page.read_bytes())
            continue
        text = page.read_text("utf-8").replace("<details>", '<details markdown="1">')
        for _, link, _ in LINK.findall(_without_code(text)):
            target = (page.parent / link).resolve()
            if not target.exists() or not target.is_relative_to(root):
                yield f"{page.relative_to(root)}: the link {link} leads to no file of the repository"
                continue
            listed = sorted(each for each in target.iterdir() if each.is_file()) if target.is_dir() else [target]
            if target.is_dir():
                text = LINK.sub(partial(_to_list, link), text)
                items = "".join(f"- [{each.name}]({each.name})\n" for each in listed if each.suffix != ".md")
                _put(out / target.relative_to(root) / "files.md", f"# Files of {target.relative_to(root)}\n\n{items}")
            left += [each for each in listed if each not in seen and (each == target or each.suffix != ".md")]
            seen |= {*listed}
        _put(place, text)


def _without_code(text: str) -> str:
    return re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)


def _to_list(link: str, found: re.Match[str]) -> str:
    before, target, after = found.groups()
    return f"{before}{target}/files.md{after}" if target == link else found.group()


def _index(readme: str, documents: str) -> str:
    """The start page: what nbcc is, the specifications, the list of documents and the API."""
    title, first, second, *_ = readme.split("\n\n")
    pages = documents.replace("# Documents", "## Documents", 1).replace("](../", "](").replace("](", "](docs/")
    pages = re.sub(r"\]\(docs/(specs|examples)/", r"](\1/", pages)
    both = (f"- [{old} to {new}](spec/{old}-to-{new}/difference.html)" for old, new in DIFFERENCES)
    api = (f"- [{title}](api/{name}.md)" for name, (title, _) in API.items())
    whole = "- [The default protocol](spec/default-to-hudi-1.2.0/index.html), whole"
    specifications = ("## Specifications, computed from the model", "", whole, *both, "")
    intro = (title, "", first, "", second, "")
    return "\n".join([*intro, *specifications, pages, "## API", "", *api, ""])


def _put(path: Path, content: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


if __name__ == "__main__":
    sys.exit(main())
