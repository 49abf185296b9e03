"""The colours and shapes that trace pages, static figures and plots share.

The hues of writers come from the palette of Okabe and Ito, which colour-blind people can distinguish. Vermilion is
excluded, because red marks the lost row. Every state of a file or instant is also shown by a shape or a word, so that
colours are never essential.
"""

from __future__ import annotations

from typing import Final, NamedTuple

RED: Final = ("#d0112b", "#ff6673")
"""The lost row and its path, on light and on dark."""


class Hue(NamedTuple):
    """A colour and the colour of text on it, each for the light and the dark theme. `ink` is a darker shade of the
    colour, for text on white.

    Text has a contrast of at least 4.5, as WCAG 2 requires for small text (AA).
    """

    light: str
    light_text: str
    dark: str
    dark_text: str
    ink: str


WRITERS: Final[tuple[Hue, ...]] = (
    Hue("#0072b2", "#ffffff", "#58a9de", "#08121a", "#0072b2"),  # blue
    Hue("#e69f00", "#241900", "#f0b73e", "#1c1300", "#8f5f00"),  # orange
    Hue("#00845f", "#ffffff", "#34c79b", "#04140f", "#007a58"),  # bluish green
    Hue("#a8508a", "#ffffff", "#dd93bf", "#1d0a15", "#a04a7e"),  # reddish purple
    Hue("#56b4e9", "#07131a", "#93d0f3", "#07131a", "#1f74a3"),  # sky blue
)
SERVICE: Final = Hue("#59626c", "#ffffff", "#a3adb8", "#0f1215", "#59626c")
READER: Final = Hue("#22262b", "#ffffff", "#dfe4e9", "#0f1215", "#22262b")

SURFACES: Final[dict[str, tuple[str, str]]] = {
    "paper": ("#ffffff", "#14171b"),
    "panel": ("#f7f8f9", "#1b1f24"),
    "ink": ("#1b1f24", "#e8ebee"),
    "muted": ("#545d67", "#a0aab5"),
    "line": ("#dfe3e7", "#333a42"),
    "faint": ("#c3c9cf", "#47505a"),
    "hatch": ("#e4e7eb", "#2c333a"),
    "mark": ("#fff3c9", "#3a3316"),
}

_OCTAGON: Final = "M6 1L14 1L19 6L19 14L14 19L6 19L1 14L1 6Z"
_CIRCLE: Final = "M10 1C15 1 19 5 19 10C19 15 15 19 10 19C5 19 1 15 1 10C1 5 5 1 10 1Z"
VERDICTS: Final[dict[str, tuple[str, str]]] = {
    "VIOLATED": (_OCTAGON, "M6.5 6.5L13.5 13.5M13.5 6.5L6.5 13.5"),
    "DISAGREED": (_OCTAGON, "M5.5 7.5L14.5 7.5M5.5 12.5L14.5 12.5M12.5 4.5L7.5 15.5"),
    "HOLDS": (_CIRCLE, "M5.5 10.5L8.5 13.5L14.5 6.5"),
    "AGREED": (_CIRCLE, "M5.5 10.5L8.5 13.5L14.5 6.5"),
    "UNDETERMINED": ("M10 1L19.5 18L0.5 18Z", "M10 7L10 12M10 14.6L10 15"),
}
"""Verdict -> outline and sign as SVG paths in a box of 20; an unknown verdict looks undetermined.

Paths have absolute M, L, C and Z commands only, so that every painter reads them.
"""


def hue_of(kind: str, number: int) -> Hue:
    """Return the hue of an actor. `number` is the actor's index among the actors of its kind."""
    return WRITERS[number % len(WRITERS)] if kind == "writer" else READER if kind == "reader" else SERVICE


def hues(kinds: list[str]) -> list[Hue]:
    """Return a hue for each actor, given the kinds of the actors."""
    return [hue_of(kind, kinds[:place].count(kind)) for place, kind in enumerate(kinds)]


def by_variables(markup: str, kinds: list[str]) -> str:
    """Return SVG markup in which the colours of the light theme are the variables of `css_variables(kinds)`, so that a
    picture in a page follows the theme.
    """
    names = {light: name for name, (light, _) in {**SURFACES, "red": RED}.items()}
    for place, hue in enumerate(hues(kinds)):
        names = {hue.light: f"hue-{place}", hue.ink: f"ink-{place}", **names}
    for color, name in names.items():
        markup = markup.replace(f'"{color}"', f'"var(--{name})"')
    return markup


def css_variables(kinds: list[str], page: str | None = None) -> str:
    """Return the CSS variables of the light and the dark theme: ``--paper``, ``--ink``, ``--red``, ..., and for each
    actor ``--hue-N``, ``--on-N`` and ``--ink-N``. If the text of the page is given, only those that it uses.
    """
    values = {**SURFACES, "red": RED}
    for place, hue in enumerate(hues(kinds)):
        values[f"hue-{place}"] = (hue.light, hue.dark)
        values[f"on-{place}"] = (hue.light_text, hue.dark_text)
        values[f"ink-{place}"] = (hue.ink, hue.dark)
    used = {name: pair for name, pair in values.items() if page is None or f"var(--{name})" in page}
    light, dark = ("".join(f"--{name}:{pair[theme]};" for name, pair in used.items()) for theme in (0, 1))
    return (
        f":root{{color-scheme:light;{light}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{color-scheme:dark;{dark}}}}}\n"
        f"@media screen{{:root[data-theme=dark]{{color-scheme:dark;{dark}}}}}\n"
    )
