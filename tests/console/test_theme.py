"""Theme files: loading, errors, and readable contrasts."""

from pathlib import Path

import pytest
from rich.style import Style
from rich.text import Text
from textual.app import App, ComposeResult
from textual.color import Color
from textual.theme import BUILTIN_THEMES
from textual.widgets import Static

from kit.console.painted import strips_of
from service_tui.console import formats, theme
from service_tui.console.meanings import FALLBACKS, INKS, PAPERS, SECTIONS
from service_tui.units import Micros

SHIPPED = theme.load_themes(theme.shipped_folder())
NIGHT = theme.shipped_folder() / "night.toml"
NAMES = {"night", "paper", "contrast", "harbor", "dune"}


def written(folder: Path, text: str, name: str = "mine.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_every_shipped_theme_loads() -> None:
    assert SHIPPED.problems == ()
    assert {each.name for each in SHIPPED.themes} == NAMES
    assert {each.name for each in SHIPPED.themes if each.dark} == {"night", "contrast", "harbor"}


@pytest.mark.parametrize("shipped", SHIPPED.themes, ids=lambda each: each.name)
def test_every_text_of_a_shipped_theme_can_be_read(shipped: theme.Theme) -> None:
    assert theme.weak_pairs(shipped) == ()


@pytest.mark.parametrize("shipped", SHIPPED.themes, ids=lambda each: each.name)
def test_lines_of_a_shipped_theme_can_be_seen(shipped: theme.Theme) -> None:
    surface = Color.parse(shipped.surface or "")
    # Three to one is what a drawing needs. Source: WCAG 2.1, 1.4.11.
    assert theme.contrast(Color.parse(shipped.variables["spark"]), surface) >= 3.0
    assert theme.contrast(Color.parse(shipped.variables["faint"]), surface) >= 1.3


@pytest.mark.parametrize("shipped", SHIPPED.themes, ids=lambda each: each.name)
def test_a_shipped_theme_without_colour_can_still_be_read(shipped: theme.Theme) -> None:
    # NO_COLOR leaves the brightness: every pair is still told apart.
    variables = shipped.to_color_system().generate() | shipped.variables
    for ink in INKS:
        for paper in PAPERS:
            grey = [Color.parse(variables[name]).monochrome for name in (ink, paper)]
            assert theme.contrast(*grey) >= 4.0, (ink, paper)


def test_contrast_is_what_the_standard_says() -> None:
    black, white = Color.parse("#000000"), Color.parse("#ffffff")
    assert theme.contrast(black, white) == pytest.approx(21.0)
    assert theme.contrast(white, white) == pytest.approx(1.0)
    assert theme.contrast(Color.parse("#777777"), white) == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize(
    ("before", "after", "line", "says"),
    [
        ('profit = "#73cf9f"', 'profit = "green"', 16, "profit: 'green' is no colour"),
        ('profit = "#73cf9f"', "profit = 3", 16, "profit: 3 is no colour"),
        ('profit = "#73cf9f"\n', "", None, "profit: missing in [meaning]"),
        ('profit = "#73cf9f"', 'profits = "#73cf9f"', 16, "profits: no such key in [meaning]"),
        ("[rows]", "[row]", 27, "row: no such key; sections are ground, meaning, rows"),
        ("dark = true", "dark = 1", 3, "dark: wants true or false"),
        ('name = "night"', 'name = "Night Sky"', 2, "name: wants small letters"),
        ("[meaning]", "[meaning", None, "cannot be read: "),
    ],
)
def test_a_bad_file_says_where_and_why(
    tmp_path: Path, *, before: str, after: str, line: int | None, says: str
) -> None:
    text = NIGHT.read_text(encoding="utf-8")
    assert before in text
    path = written(tmp_path, text.replace(before, after, 1))
    with pytest.raises(theme.ThemeError) as caught:
        theme.load_theme(path)
    assert says in str(caught.value)
    assert str(path) in str(caught.value)
    assert caught.value.line == line


def test_a_missing_section_says_what_it_holds(tmp_path: Path) -> None:
    path = written(tmp_path, 'name = "mine"\ndark = true\n')
    with pytest.raises(theme.ThemeError, match="ground: section missing; it holds background"):
        theme.load_theme(path)


def test_nested_brackets_are_a_problem_and_not_a_crash(tmp_path: Path) -> None:
    (tmp_path / "deep.toml").write_text(f"name = {'[' * 50_000}")
    found = theme.load_themes(tmp_path)
    assert found.themes == ()
    assert "too many brackets" in str(found.problems[0])


def test_bytes_that_are_no_text_are_a_problem_and_not_a_crash(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_bytes(b"\xff\xfe\x00")
    found = theme.load_themes(tmp_path)
    assert found.themes == ()
    assert "cannot be read" in str(found.problems[0])


def test_the_operators_theme_replaces_the_shipped_one_and_a_bad_one_harms_none(
    tmp_path: Path,
) -> None:
    text = NIGHT.read_text(encoding="utf-8")
    written(tmp_path, text.replace("#7fbdf2", "#ffffff"))
    written(tmp_path, "name = 3", "worse.toml")
    found = theme.load_themes(theme.shipped_folder(), tmp_path, tmp_path / "not here")
    assert {each.name for each in found.themes} == NAMES
    assert next(each for each in found.themes if each.name == "night").accent == "#ffffff"
    assert [problem.path.name for problem in found.problems] == ["worse.toml"]


def test_a_theme_that_is_hard_to_read_is_told_so(tmp_path: Path) -> None:
    text = NIGHT.read_text(encoding="utf-8").replace("#73cf9f", "#20252c")
    weak = theme.weak_pairs(theme.load_theme(written(tmp_path, text)))
    assert len(weak) == len(PAPERS)
    assert weak[0].startswith("profit on background: 1.")


@pytest.mark.parametrize("name", sorted(BUILTIN_THEMES))
def test_our_names_mean_something_under_every_theme_of_textual(name: str) -> None:
    defaults = theme.variable_defaults(BUILTIN_THEMES[name])
    ours = {key for keys in SECTIONS.values() for key in keys}
    own = {"background", "surface", "panel", "foreground", "accent"}
    assert set(defaults) == set(FALLBACKS) == (ours | {"flat"}) - own
    assert all(defaults.values())


class Shown(App[None]):
    ENABLE_COMMAND_PALETTE = False
    CSS = "Screen { background: $surface; color: $loss; } Static { background: $row-cursor; }"

    def __init__(self, look: str, text: Text) -> None:
        super().__init__()
        for each in SHIPPED.themes:
            self.register_theme(each)
        self.theme = look
        self.text = text

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return theme.variable_defaults(self.current_theme)

    def compose(self) -> ComposeResult:
        yield Static(theme.content(self.text))


def colour_of(app: App[None], word: str) -> str:
    for strip in strips_of(app.screen):
        for text, style, _ in strip:
            if word in text and style is not None and style.color is not None:
                return style.color.name
    raise AssertionError(word)


@pytest.mark.slow
async def test_a_formatted_text_follows_the_theme_and_reads_no_markup() -> None:
    text = Text.assemble(formats.pnl(Micros(12_300_000)), " [bold]plain[/] ", ("left", "bold warn"))
    app = Shown("night", text)
    async with app.run_test(size=(60, 3)) as pilot:
        for look in ("night", "paper", "textual-light"):
            app.theme = look
            await pilot.pause()
            variables = app.theme_variables
            assert colour_of(app, "+12.30").lower() == variables["profit"].lower()
            assert colour_of(app, "left").lower() == variables["warn"].lower()
            assert "[bold]plain[/]" in strips_of(app.screen)[0].text


def test_a_style_of_rich_stays_what_it_is() -> None:
    content = theme.content(Text.assemble(("a", Style(bold=True)), ("b", "bold profit")))
    assert [str(span.style) for span in content.spans] == ["bold", "bold $profit"]


async def test_without_colour_signs_and_words_remain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = Shown("night", formats.pnl(Micros(-5_000_000), arrow=True))
    async with app.run_test(size=(30, 3)) as pilot:
        await pilot.pause()
        assert "▼ -5.00" in strips_of(app.screen)[0].text
        red, green, blue = Color.parse(colour_of(app, "5.00")).rgb
        assert red == green == blue


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_theme_that_another_systems_editor_saved_is_read_as_any_other(
    tmp_path: Path, encoding: str
) -> None:
    shipped = NIGHT
    text = shipped.read_text(encoding="utf-8").replace("\n", "\r\n")
    (tmp_path / "night.toml").write_bytes(text.encode(encoding))
    assert theme.load_theme(tmp_path / "night.toml") == theme.load_theme(shipped)
