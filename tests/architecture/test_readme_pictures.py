"""The pictures of the README: charts as whole lines, one file that moves."""

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from kit.readme.picture import Picture, read, written
from kit.readme.strokes import Strokes, is_drawn

ROOT = Path(__file__).resolve().parents[2]
SCREENSHOTS = ROOT / "screenshots"
BYTES_MAX = 400_000

EXPORT = """<svg><style>
.terminal-1-r1 { fill: #111111 }
.terminal-1-r2 { fill: #222222;font-weight: bold }
</style><defs><clipPath id="terminal-1-clip-terminal">
<rect x="0" y="0" width="48.8" height="48.8" /></clipPath></defs>
<rect fill="#000000" x="0" y="1.5" width="48.8" height="24.65" shape-rendering="crispEdges"/>
<rect fill="#0000ff" x="0" y="25.9" width="24.4" height="24.65" shape-rendering="crispEdges"/>
<rect fill="#000000" x="24.4" y="25.9" width="24.4" height="24.65" shape-rendering="crispEdges"/>
<text class="terminal-1-r1" x="0" y="20" textLength="48.8" clip-path="url(#x)">a&lt;&#160;⠉</text>
<text class="terminal-1-r2" x="0" y="44.4" textLength="24.4" clip-path="url(#x)">█b</text>
</svg>"""
"""Two rows of four cells, as Textual exports them."""


def test_an_export_is_taken_apart() -> None:
    picture = read(EXPORT, "title")
    assert (picture.columns, picture.rows, picture.ground) == (4, 2, "#000000")
    back, drawn, text = picture.layers
    assert [re.findall('fill="(#.{6})"', each) for each in back] == [["#0000ff"]]
    assert 'd="M0 25.9h24.4v24.65h-24.4z"' in back[0]
    assert text[:2] == (
        '<text fill="#111111" x="0" y="20" textLength="24.4">a&lt;</text>',
        '<text fill="#222222" font-weight="bold" x="12.2" y="44.4" textLength="12.2">b</text>',
    )
    assert [re.findall('fill="(#.{6})"', each) for each in drawn] == [["#222222"], ["#111111"]]


def path_of(*cells: tuple[str, int, int]) -> str:
    strokes = Strokes()
    for letter, column, row in cells:
        strokes.add(letter, column, row, "#111111")
    (found,) = strokes.paths()
    data = re.search(r' d="([^"]+)"', found)
    assert data is not None
    return data[1]


@pytest.mark.parametrize(
    ("cells", "path"),
    [
        ([("█", 1, 0)], "M12.2 1.5h12.2v24.4h-12.2z"),
        ([("▄", 0, 1)], "M0 38.1h12.2v12.2h-12.2z"),
        ([("▌", 0, 0)], "M0 1.5h6.1v24.4h-6.1z"),
        ([("─", 0, 0), ("─", 1, 0)], "M0 13.7h24.4"),
        ([("│", 0, 0), ("│", 0, 1)], "M6.1 1.5v48.8"),
        ([("└", 0, 0)], "M6.1 13.7h6.1M6.1 1.5v12.2"),
        ([("⠁", 0, 0)], "M3.05 4.55h0"),
        ([("⠉", 0, 0), ("⠉", 1, 0)], "M3.05 4.55h18.3"),
        ([("⡇", 0, 0)], "M3.05 4.55v18.3"),
        ([("⠑", 0, 0)], "M3.05 4.55l6.1 6.1"),
        ([("⠊", 0, 0)], "M9.15 4.55l-6.1 6.1"),
        ([("⢀", 0, 0), ("⠁", 1, 1)], "M9.15 22.85l6.1 6.1"),
    ],
)  # fmt: skip
def test_neighbours_are_one_line(cells: list[tuple[str, int, int]], path: str) -> None:
    assert path_of(*cells) == path


def test_an_area_is_filled() -> None:
    assert path_of(("⠛", 0, 0)).endswith("M3.05 4.55h6.1v6.1h-6.1z")


def test_pictures_follow_each_other() -> None:
    def of(text: str) -> Picture:
        return Picture(1, 1, "#000000", ((), (), ("<text>both</text>", f"<text>{text}</text>")))

    moving = written([of("first"), of("second")], [1.0, 3.0])
    groups = {
        name: re.findall(r"<text>(\w+)</text>", content)
        for name, content in re.findall(r'<g class="(f[\d-]+)">(.*?)</g>', moving)
    }
    assert groups == {"f0-1": ["both"], "f0": ["first"], "f1": ["second"]}
    assert "@keyframes f0{0%{visibility:visible}25%{visibility:hidden}}" in moving
    assert "@keyframes f1{0%{visibility:hidden}25%{visibility:visible}}" in moving
    # Without motion the first one stays.
    assert ".f1{visibility:hidden}" in moving
    assert ".f0{visibility" not in moving


@pytest.mark.parametrize("path", sorted(SCREENSHOTS.glob("*.svg")), ids=lambda path: path.stem)
def test_a_picture_is_small_whole_and_needs_no_network(path: Path) -> None:
    svg = path.read_text(encoding="utf-8")
    assert len(svg.encode()) < BYTES_MAX
    ET.fromstring(svg)  # noqa: S314 - our own
    assert not [letter for letter in svg if is_drawn(letter)]
    assert svg.count("http") == 1
    assert "url(" not in svg


def test_the_readme_shows_one_moving_picture_and_three_still_ones() -> None:
    named = re.findall(r"!\[[^\]]+\]\((.+)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(named) == 4
    moving = [name for name in named if "@keyframes" in (ROOT / name).read_text(encoding="utf-8")]
    assert moving == named[:1]
