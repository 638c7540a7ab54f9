"""A screen that Textual has exported, taken apart and written anew: small, whole, or moving.

`read` takes an export apart, `written` makes one file of one or several of them. A file of several
shows one after the other, by CSS alone; whoever wants no motion sees the first. What several
pictures share is written once.
"""

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len

from kit.readme.strokes import CELL, ROW, TOP, Strokes, is_drawn, number

_STYLE: Final = re.compile(r"\.terminal-[\w-]*?(r\d+) \{ fill: (#\w+);?([^}]*)\}")
_RECT: Final = re.compile(
    r'<rect fill="(#\w+)" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="[\d.]+" shape-'
)
_TEXT: Final = re.compile(
    r'<text [^>]*?class="terminal-[\w-]*?(r\d+)" x="([\d.]+)" y="([\d.]+)" textLength="[\d.]+"'
    r"[^>]*>([^<]*)</text>"
)
_SIZE: Final = re.compile(r'-clip-terminal">\s*<rect x="0" y="0" width="([\d.]+)" height="([\d.]+)')
_BASELINE: Final = 20.0
_LEFT, _ABOVE, _EDGE = 9, 41, 8
"""Room around the cells: left, above, and below or right."""


@dataclass(frozen=True)
class Picture:
    """One screen: its size in cells, its ground colour, and its elements.

    `layers` are the colours behind the cells, the drawn characters, and the text.
    """

    columns: int
    rows: int
    ground: str
    layers: tuple[tuple[str, ...], ...]


def read(svg: str, title: str = "service-tui") -> Picture:
    """Take an export apart."""
    size = _SIZE.search(svg)
    assert size is not None, "no picture of Textual's"
    columns, rows = round(float(size[1]) / CELL), round(float(size[2]) / ROW)
    fills = _ground(svg, columns, rows)
    every = [fill for line in fills for fill in line]
    ground = max(sorted(set(every)), key=every.count)
    texts, strokes = _texts(svg)
    texts.append(
        f'<text fill="#888f9b" text-anchor="middle" font-size="18" x="{number(columns * CELL / 2)}"'
        f' y="-14">{html.escape(title)}</text>'
    )
    back = tuple(_rectangles(fills, ground))
    return Picture(columns, rows, ground, (back, tuple(strokes.paths()), tuple(texts)))


def _ground(svg: str, columns: int, rows: int) -> list[list[str]]:
    """The colour behind each cell."""
    fills = [["#000000"] * columns for _ in range(rows)]
    for fill, x, y, width in _RECT.findall(svg):
        row, column = round((float(y) - TOP) / ROW), round(float(x) / CELL)
        for at in range(column, min(columns, column + round(float(width) / CELL))):
            fills[row][at] = fill
    return fills


def _rectangles(fills: list[list[str]], ground: str) -> Iterator[str]:
    for row, line in enumerate(fills):
        by_fill: dict[str, str] = {}
        start = 0
        for column in range(1, len(line) + 1):
            if column < len(line) and line[column] == line[start]:
                continue
            width = number((column - start) * CELL)
            box = (
                f"M{number(start * CELL)} {number(TOP + row * ROW)}h{width}v{ROW + 0.25}h-{width}z"
            )
            by_fill[line[start]] = by_fill.get(line[start], "") + box
            start = column
        for fill, data in by_fill.items():
            if fill != ground:
                yield f'<path fill="{fill}" shape-rendering="crispEdges" d="{data}"/>'


def _texts(svg: str) -> tuple[list[str], Strokes]:
    """The text without what is drawn, and what is drawn."""
    styles = {name: (fill, rest) for name, fill, rest in _STYLE.findall(svg)}
    strokes, texts = Strokes(), list[str]()
    for name, x, y, content in _TEXT.findall(svg):
        fill, rest = styles[name]
        row, column = round((float(y) - _BASELINE) / ROW), round(float(x) / CELL)
        left = ""
        for letter in html.unescape(content).replace("\xa0", " "):
            if is_drawn(letter):
                strokes.add(letter, column + cell_len(left), row, fill)
            left += " " if is_drawn(letter) else letter
        texts.extend(_words(left, column, row, fill=fill, style=rest))
    return texts, strokes


def _words(text: str, column: int, row: int, *, fill: str, style: str) -> Iterator[str]:
    """Text elements without long blanks; `textLength` keeps each in its cells."""
    look = "".join(
        f' {name}="{value}"'
        for name, value in re.findall(r"([\w-]+): ?([\w-]+)", style)
        if value != "normal"
    )
    for found in re.finditer(r"\S+(?: {1,2}\S+)*", text):
        start, words = column + cell_len(text[: found.start()]), found[0]
        place = f'x="{number(start * CELL)}" y="{number(_BASELINE + row * ROW)}"'
        length = number(cell_len(words) * CELL)
        written = html.escape(words, quote=False).replace("  ", " \xa0")
        yield f'<text fill="{fill}"{look} {place} textLength="{length}">{written}</text>'


# -- one file --------------------------------------------------------------------------------------


def written(pictures: Sequence[Picture], seconds: Sequence[float] = ()) -> str:
    """One file of pictures of one size, each shown for its seconds.

    `seconds` are as many as the pictures, or none for a single one.
    """
    first = pictures[0]
    width = first.columns * CELL + _LEFT + _EDGE
    height = first.rows * ROW + TOP + _ABOVE + _EDGE
    layers = [_shared(layer) for layer in zip(*(each.layers for each in pictures), strict=True)]
    groups = [
        f'<g class="{_name(frames)}">{"".join(elements)}</g>'
        for layer in layers
        for frames, elements in layer.items()
    ]
    every = sorted({frames for layer in layers for frames in layer})
    rules = "".join(_rules(every, seconds)) if len(pictures) > 1 else ""
    content = "\n".join(groups)
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {number(width)} {number(height)}">
<style>text{{white-space:pre}}{rules}</style>
<rect fill="{first.ground}" stroke="#8886" x="1" y="1"\
 width="{number(width - 2)}" height="{number(height - 2)}" rx="8"/>
<circle cx="26" cy="22" r="7" fill="#ff5f57"/>
<circle cx="48" cy="22" r="7" fill="#febc2e"/>
<circle cx="70" cy="22" r="7" fill="#28c840"/>
<g transform="translate({_LEFT} {_ABOVE})" fill="none" font-size="20"\
 font-family="Fira Code,DejaVu Sans Mono,Menlo,Consolas,monospace">
{content}
</g>
</svg>
"""


_Frames = tuple[int, ...]


def _shared(layer: Sequence[Sequence[str]]) -> dict[_Frames, list[str]]:
    """The elements of one layer of each picture, once, by the pictures that have them."""
    frames: dict[str, list[int]] = {}
    for at, elements in enumerate(layer):
        for element in dict.fromkeys(elements):
            frames.setdefault(element, []).append(at)
    groups: dict[_Frames, list[str]] = {}
    for element, its in frames.items():
        groups.setdefault(tuple(its), []).append(element)
    return groups


def _name(frames: _Frames) -> str:
    return "f" + "-".join(map(str, frames))


def _rules(groups: Sequence[_Frames], seconds: Sequence[float]) -> Iterator[str]:
    """Animations: a group is visible during its pictures, and at rest in the first."""
    total = sum(seconds)
    for frames in groups:
        if len(frames) == len(seconds):
            continue
        if 0 not in frames:
            yield f".{_name(frames)}{{visibility:hidden}}"
        steps = "".join(_steps(frames, seconds, total))
        yield f"@keyframes {_name(frames)}{{{steps}}}"
        rule = f".{_name(frames)}{{animation:{_name(frames)} {total:g}s step-end infinite}}"
        yield f"@media (prefers-reduced-motion:no-preference){{{rule}}}"


def _steps(frames: _Frames, seconds: Sequence[float], total: float) -> Iterator[str]:
    passed = 0.0
    for at, lasts in enumerate(seconds):
        is_shown = at in frames
        if at == 0 or is_shown != (at - 1 in frames):
            share = number(100 * passed / total)
            yield f"{share}%{{visibility:{'visible' if is_shown else 'hidden'}}}"
        passed += lasts
