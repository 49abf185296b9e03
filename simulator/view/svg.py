"""The breaking frame as one static picture, for paper and for browsers without scripts: same encodings, light colours.

Coordinates are pixels: lanes on the left, files on the right, the two answers above them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from itertools import pairwise
from typing import Any, NamedTuple

from .style import RED, SERVICE, SURFACES, Hue, hues

LANE = 62
TOP = 104
SLICE = 92
SHOWN_STEPS = 40
MONO = "ui-monospace, Menlo, Consolas, 'Liberation Mono', monospace"
PAPER, PANEL, INK, MUTED, LINE, FAINT, HATCH, MARK = (light for light, _ in SURFACES.values())
Told = Mapping[str, Any]


class Layout(NamedTuple):
    """Where the lanes end, the files begin and both end; how wide an answer is. All in pixels."""

    lanes: int
    files: int
    width: int
    answer: int


WIDE = Layout(lanes=640, files=690, width=1224, answer=252)
NARROW = Layout(lanes=500, files=540, width=980, answer=210)
"""For a column of text, as forges have it: what is small stays legible when the picture is fitted into it."""


def figure(told: Told, layout: Layout = WIDE) -> str:
    """An SVG element; every text in it is escaped."""
    return _Figure(told, layout).draw()


def value_at(history: list[list[Any]], step: int) -> Any:
    """What a history says after `step` steps; None: nothing yet."""
    return next((value for at, value in reversed(history) if at <= step), None)


def element(tag: str, text: str = "", **given: Any) -> str:
    """One SVG element; `_` in names stands for `-`."""
    attributes = "".join(f' {name.strip("_").replace("_", "-")}="{escape(str(v))}"' for name, v in given.items())
    return f"<{tag}{attributes}>{escape(text)}</{tag}>"


def words(x: float, y: float, text: str, size: float = 12, fill: str = INK, **given: Any) -> str:
    """A line of text."""
    return element("text", text, x=x, y=y, font_size=size, fill=fill, **given)


def short(text: str, most: int = 20) -> str:
    """The text, or its beginning and an ellipsis."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def cells(rows: list[list[Any]], ranked: bool = False) -> str:
    """``k1=B``, ``delete k1``; where ordering values decide something, ``k1=B ord 2``."""
    return " ".join(
        (f"delete {short(key)}" if value is None else f"{short(key)}={short(value)}") + (f" ord {order}" * ranked)
        for key, value, order, *_ in rows[:2]
    )


def cross(x: float, y: float) -> str:
    """Where an actor crashed."""
    return element("path", d=f"M{x - 5} {y - 5}l10 10m0 -10l-10 10", stroke=INK, stroke_width=2.5)


class _Figure:
    """Drawing of one document; remembers where things are for the thread that joins them."""

    def __init__(self, told: Told, layout: Layout) -> None:
        self.told = told
        self.layout = layout
        self.view: dict[str, Any] = told["views"][0]
        self.step: int = told["breaking"]
        self.first: int = max(0, self.step - SHOWN_STEPS)
        self.hue: dict[str, Hue] = dict(zip(told["actors"], hues(told["kinds"]), strict=True))
        self.lane = {actor: TOP + LANE * (place + 0.5) for place, actor in enumerate(told["actors"])}
        self.at: dict[str, tuple[float, float]] = {}
        self.lost: set[int] = set()
        self.answer = value_at(self.view["answers"], self.step) or [None, None, None]
        self.story = None if self.answer[2] is None else self.view["stories"][self.answer[2]]

    def draw(self) -> str:
        body = [*self.lanes(), *self.readers(), *self.instants(), *self.files(), *self.answers(), *self.thread()]
        height = max(TOP + LANE * len(self.lane), self.at["bottom"][1]) + 14
        stripes = (
            f'<defs><pattern id="hatch" width="8" height="8" patternUnits="userSpaceOnUse" '
            f'patternTransform="rotate(45)"><rect width="8" height="8" fill="{PANEL}"/>'
            f'<rect width="1.5" height="8" fill="{FAINT}"/></pattern></defs>'
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.layout.width + 20} {height:.0f}" role="img" '
            f'font-family="Inter, Segoe UI, Roboto, Helvetica Neue, Arial, sans-serif">{stripes}'
            f"{element('rect', width='100%', height='100%', fill=PAPER)}{''.join(body)}</svg>"
        )

    def x(self, step: int) -> float:
        count = max(1, self.step - self.first)
        return 60.0 + min(40.0, (self.layout.lanes - 70) / count) * (max(step, self.first) - self.first)

    def actor_of(self, time: Any) -> str:
        history = self.view["instants"].get(str(time))
        return str(history[0][1][3]) if history else ""

    # time

    def lanes(self) -> Iterator[str]:
        end = TOP + LANE * len(self.lane)
        yield element("rect", x=self.x(self.step) - 11, y=TOP - 34, width=22, height=end - TOP + 34, rx=4, fill=MARK)
        for step in range(self.first + 1, self.step + 1):
            bold = "700" if step == self.step else "400"
            yield words(self.x(step), TOP - 20, str(step), 10, MUTED, text_anchor="middle", font_weight=bold)
        for actor, y in self.lane.items():
            yield element("line", x1=40, x2=self.layout.lanes, y1=y, y2=y, stroke=LINE)
            yield words(2, y + 4, actor, 13, self.hue[actor].ink, font_weight="650")

    def readers(self) -> Iterator[str]:
        """A reader has no instant: its steps, joined, each with its sentence."""
        for place, (actor, kind) in enumerate(zip(self.told["actors"], self.told["kinds"], strict=True)):
            steps = [n for n, step in enumerate(self.told["steps"], 1) if step[0] == place and n <= self.step]
            if kind != "reader" or not steps:
                continue
            y, hue = self.lane[actor], self.hue[actor].light
            first, last = self.x(steps[0]), self.x(steps[-1])
            yield element("line", x1=first, x2=last, y1=y, y2=y, stroke=hue, stroke_width=2)
            for number, step in enumerate(steps):
                x, text = self.x(step), self.told["says"][self.told["steps"][step - 1][1]]
                yield element("circle", cx=x, cy=y, r=3.5, fill=hue)
                anchor = "start" if x < (first + self.layout.lanes) / 2 else "end"
                yield words(x, y - 10 if number % 2 else y + 18, text, 11, MUTED, text_anchor=anchor)

    def instants(self) -> Iterator[str]:
        for time, history in self.view["instants"].items():
            seen = [entry for entry in history if entry[0] <= self.step and entry[1] is not None]
            if not seen or (seen[-1][1][1] == "completed" and seen[-1][0] <= self.first):
                continue
            yield from self.instant(time, seen)

    def instant(self, time: str, seen: list[list[Any]]) -> Iterator[str]:
        _, state, completed, actor = seen[-1][1]
        ended = state in ("completed", "crashed")
        x1, x2, y = self.x(seen[0][0]), self.x(seen[-1][0] if ended else self.step), self.lane[actor]
        hue = self.hue[actor].light
        service = self.told["services"].get(actor)
        walls = service is not None and service.barrier
        if walls:
            end = TOP + LANE * len(self.lane)
            dashes: dict[str, Any] = {"stroke": MUTED, "stroke_width": 1.5, "stroke_dasharray": "6 3 1.5 3"}
            yield element("line", x1=x1, x2=x1, y1=TOP - 2, y2=end, **dashes)
            yield words(x1, TOP - 6, f"barrier t{time}", 11, INK, text_anchor="middle")
        dash: dict[str, Any] = (
            {"stroke_dasharray": "3 5", "stroke_width": 2} if state != "completed" else {"stroke_width": 8}
        )
        start, top = x1, self.lane[seen[0][1][3]]
        for (died, before), (taken, after) in pairwise(seen):
            if before[1] == "crashed":
                yield from self.passed_on(self.x(died), self.x(taken), before[3], after[3])
                yield element("line", x1=x1, x2=self.x(died), y1=top, y2=top, stroke=hue, stroke_width=4)
                x1 = self.x(taken)
        yield element("line", x1=x1, x2=x2, y1=y, y2=y, stroke=hue, stroke_linecap="round", **dash)
        yield element("circle", cx=start, cy=top, r=6, fill=PAPER, stroke=hue, stroke_width=2.5)
        yield words(start + (12 if walls else 0), top - 12, f"t{time}", 11, INK, text_anchor="middle")
        if state == "completed":
            yield element("circle", cx=x2, cy=y, r=7, fill=hue)
            yield words(x2, y - 12, f"t{completed}", 11, INK, text_anchor="middle")
        if state == "crashed":
            yield cross(x2, y)
        self.at[f"write {time}"] = (x2, y)
        rows = [v[0][1][2] for n, v in self.view["files"].items() if n.startswith("log ") and f"/{time}." in n]
        text = service.word if service else cells([row for each in rows for row in each], self.told["ranked"])
        yield words(start + 8, top + 22, text, 12, MUTED if service else INK, font_family=MONO)

    def passed_on(self, died: float, taken: float, dead: str, heir: str) -> Iterator[str]:
        """A plan whose compactor died goes over to another one."""
        y = self.lane[dead]
        yield element("path", d=f"M{taken} {y}V{self.lane[heir]}", stroke=MUTED, stroke_width=2, stroke_dasharray="3 5")
        yield cross(died, y)

    # files

    def files(self) -> Iterator[str]:
        groups: dict[str, dict[int, list[tuple[str, list[Any]]]]] = {}
        for name, history in self.view["files"].items():
            value = value_at(history, self.step)
            if value is not None:
                kind, place = name.split(" ")
                group, _, file = place.partition("/")
                barrier = value[3] if kind == "log" else int(file)
                groups.setdefault(group, {}).setdefault(barrier, []).append((name, value))
        column = (self.layout.width - self.layout.files) / max(1, len(self.told["groups"])) - 12
        self.at["bottom"] = (0, TOP)
        for group, slices in groups.items():
            x, y = self.layout.files + int(group) * (column + 12), float(TOP - 12)
            yield words(x, y - 8, self.told["groups"][int(group)], 11, MUTED)
            oldest = min((barrier for barrier in slices if barrier), default=0)
            for barrier in sorted(slices, reverse=True)[:6]:
                title = f"slice t{barrier}" if barrier else f"before barrier t{oldest}" if oldest else "no barrier yet"
                yield from self.slice(x, y, column, (group, barrier, title), dict(slices[barrier]))
                y = self.at[f"slice {group}/{barrier} end"][1] + (26 if barrier else 8)
            self.at["bottom"] = (0, max(self.at["bottom"][1], y))

    def slice(
        self, x: float, y: float, width: float, place: tuple[str, int, str], parts: Mapping[str, list[Any]]
    ) -> Iterator[str]:
        group, barrier, title = place
        name = f"slice {group}/{barrier}"
        status, reason = parts.get(name, ["read", ""])
        fill = "url(#hatch)" if status == "hidden" else PANEL
        files = list(self.laid(x, y, width, {file: value for file, value in parts.items() if file != name}))
        bottom = max([y + SLICE, *(self.at[f"{file} end"][1] + 6 for file in parts if file != name)])
        yield element("rect", x=x, y=y, width=width, height=bottom - y, rx=6, fill=fill)
        said = f"{reason} · {title}" if reason else title
        back = 6.1 * len(said) + 16
        yield element("rect", x=x + width - back, y=y + 5, width=back - 6, height=18, rx=3, fill=PANEL)
        yield words(x + width - 12, y + 18, said, 11, INK, text_anchor="end")
        yield from files
        self.at[name] = self.at[f"{name} end"] = (x + width, bottom)
        if barrier:
            line = bottom + 13
            self.at[f"wall {group}/{barrier}"] = (x, line)
            yield element("line", x1=x, x2=x + width - 64, y1=line, y2=line, stroke=MUTED, stroke_width=1.5,
                          stroke_dasharray="6 3 1.5 3")  # fmt: skip
            yield words(x + width, line + 4, f"barrier t{barrier}", 11, INK, text_anchor="end")

    def laid(self, x: float, y: float, width: float, parts: Mapping[str, list[Any]]) -> Iterator[str]:
        """The files of a slice: the base, the thread's file, the others; a row more where they do not fit."""
        right, top, low = x + 10, y + 28, 0.0
        lead = self.story["file"] if self.story else ""
        for file in sorted(parts, key=lambda n: (not n.startswith("base"), n != lead, n)):
            drawn = list(self.file(file, parts[file], right, top))
            if self.at[f"{file} end"][0] > x + width and right > x + 10:
                right, top = x + 10, low + 8
                drawn = list(self.file(file, parts[file], right, top))
            yield from drawn
            right, bottom = self.at[f"{file} end"]
            right, low = right + 10, max(low, bottom)

    def file(self, name: str, value: list[Any], x: float, y: float) -> Iterator[str]:
        status, reason, rows = value[:3]
        base = name.startswith("base")
        time, _, version = name.rpartition("/")[2].partition(".")
        hue = SERVICE if base else self.hue.get(self.actor_of(time), SERVICE)
        solid = not base and status in ("read", "hidden")
        text = cells(rows, self.told["ranked"]) or self.without_rows(base)
        text = f"base t{time}" if base and status == "pending" else text
        notes = [f"base t{time}" if base else f"t{time}.log.{version}", *([reason] if reason else [])]
        width = max(8.0 * len(text), *(5.7 * len(note) for note in notes)) + 22 + (80 if base else 0)
        height = 30 + 13.5 * len(notes)
        stroke = INK if base else hue.light
        dashes = {"stroke_dasharray": "4 3"} if status == "pending" else {}
        yield element("rect", x=x, y=y, width=width, height=height, rx=6, fill=hue.light if solid else PAPER,
                      stroke=stroke, stroke_width=2 if base else 1.5, **dashes)  # fmt: skip
        ink = hue.light_text if solid else INK
        writer = self.actor_of(rows[0][3]) if base and rows else ""
        shade = self.hue[writer].ink if writer else ink
        yield words(x + 10, y + 19, text, 13, shade, font_family=MONO, font_weight="650")
        for number, note in enumerate(notes):
            yield words(x + 10, y + 34 + 13.5 * number, note, 10.5, ink)
        self.at[name] = (x, y + height / 2)
        self.at[f"{name} end"] = (x + width, y + height)

    def without_rows(self, base: bool) -> str:
        return f"no {short(self.told['key'])}" if base and self.told["key"] else "other keys"

    # answers

    def answers(self) -> Iterator[str]:
        rows: list[dict[str, list[Any]]] = [{row[0]: row for row in each or []} for each in self.answer[:2]]
        keys = sorted({key for each in rows for key in each}, key=lambda key: (key != self.told["key"], key))[:1]
        for place, (title, answer) in enumerate(zip(("must answer", "reader got"), rows, strict=True)):
            wide = self.layout.answer
            x = self.layout.files + place * (wide + 20)
            yield words(x, 16, f"{title} · {self.told['reading']}", 12, INK, font_weight="600")
            for key in keys:
                _, value, time, _ = answer.get(key, [key, None, None, None])
                lost = key == self.told["key"]
                edge = RED[0] if lost and place else INK if lost else LINE
                yield element("rect", x=x, y=26, width=wide, height=32, rx=5, fill="none", stroke=edge,
                              stroke_width=2)  # fmt: skip
                shown = "no row" if value is None else value
                for place_x, text in ((x + 12, short(key, 9)), (x + wide * 0.38, short(shown, 11))):
                    yield words(place_x, 47, text, 14, INK, font_family=MONO, font_weight="650")
                if actor := self.actor_of(time):
                    hue = self.hue[actor].ink
                    yield words(x + wide - 12, 47, actor, 13, hue, text_anchor="end", font_weight="650")
                self.at[f"cell {place}"] = (x + wide, 42)

    def thread(self) -> Iterator[str]:
        if (story := self.story) is None:
            return
        on_base = story["stop"].startswith("base")
        giver = story["giver"] or (story["stop"] if on_base else story["file"])
        names = (f"write {story['instant']}", story["file"], giver, "cell 1")
        if any(name not in self.at for name in (*names, story["stop"])):
            return
        (wx, wy), (fx, fy), (gx, gy), (cx, cy) = (self.at[name] for name in names)
        low, edge = self.at[f"{story['file']} end"][1], self.layout.width + 10
        group = story["slice"].removeprefix("slice ").partition("/")[0]
        wall = self.at.get(f"wall {group}/{story['wall']}", (0, low))[1]
        sy = self.at[f"{story['stop']} end"][1] if on_base else wall
        beside = fx + (24 if len(self.told["groups"]) > 1 else 60)
        sx = beside if sy < fy else self.at[f"{story['file']} end"][0] - 12
        over = f"M{sx} {2 * fy - low}V{sy}" if sy < fy else ""
        top = 2 * gy - self.at[f"{giver} end"][1]
        over += f"M{gx + 36} {top}V{top - 3}H{edge}V{cy}H{cx}"
        bend = min(70.0, abs(fx - wx) / 2)
        path = f"M{wx} {wy}C{wx + bend} {wy} {fx - bend} {fy} {fx} {fy}{over}"
        yield element("path", d=path, fill="none", stroke=PAPER, stroke_width=6, opacity=0.8)
        yield element("path", d=path, fill="none", stroke=RED[0], stroke_width=2.5)
        for number, (x, y) in enumerate(((wx, wy), (fx, fy), (sx, sy), (cx, cy)), start=1):
            yield element("circle", cx=x, cy=y, r=8.5, fill=RED[0], stroke=PAPER, stroke_width=1.5)
            yield words(x, y + 3.8, str(number), 10.5, PAPER, text_anchor="middle", font_weight="700")
