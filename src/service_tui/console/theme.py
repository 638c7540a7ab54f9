"""Colours: theme files become Textual themes, and names of meanings become styles."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeGuard

from rich.style import Style
from rich.text import Text
from textual.color import Color
from textual.content import Content, Span
from textual.style import Style as VisualStyle
from textual.theme import Theme

from service_tui.console.meanings import (
    ATTRIBUTES,
    DERIVED,
    FALLBACKS,
    INKS,
    MEANINGS,
    PAPERS,
    ROWS,
    SECTIONS,
)
from service_tui.plain_files import read_plain
from service_tui.toml_lines import decoded

CONTRAST_MIN: Final = 4.5
"""Ratio of luminances below which text is hard to read. Source: WCAG 2.1, 1.4.3."""

_LINEAR_BELOW: Final = 0.04045
"""Where the transfer function of sRGB changes its branch. Source: IEC 61966-2-1."""

_COLOUR: Final = re.compile(r"#[0-9a-fA-F]{6}")
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,30}")


class ThemeError(ValueError):
    """A theme file that cannot be used; names file, line, key and reason."""

    def __init__(self, path: Path, key: str, why: str, *, line: int | None = None) -> None:
        place = f"{path}" if line is None else f"{path}, line {line}"
        super().__init__(f"{place}: {key}: {why}" if key else f"{place}: {why}")
        self.path = path
        self.key = key
        self.line = line


@dataclass(frozen=True, slots=True)
class Themes:
    """The loaded themes. A later folder's theme replaces an earlier one of the same name."""

    themes: tuple[Theme, ...]
    problems: tuple[ThemeError, ...]


def shipped_folder() -> Path:
    """The folder of this program's themes: in the installed package, else in the checkout."""
    package = Path(__file__).parent.parent
    packed = package / "themes"
    return packed if packed.is_dir() else package.parent.parent / "themes"


def load_themes(*folders: Path) -> Themes:
    """Every theme of the folders, in order of folder and file name.

    Returns:
        Themes and problems: a bad file leaves the other themes working. A folder that does not
        exist has no themes.
    """
    result: dict[str, Theme] = {}
    problems: list[ThemeError] = []
    for folder in folders:
        for path in sorted(folder.glob("*.toml")):
            try:
                theme = load_theme(path)
            except ThemeError as problem:
                problems.append(problem)
            else:
                result[theme.name] = theme
    return Themes(tuple(result.values()), tuple(problems))


def load_theme(path: Path) -> Theme:
    """One theme file as a Textual theme; our names become its variables.

    Returns:
        The theme, complete and parsed; `weak_pairs` checks its contrast.

    Raises:
        ThemeError: the file cannot be read, is no TOML, lacks a key, has one too many, or has an
        invalid value.
    """
    try:
        text = decoded(read_plain(path))
        table: Mapping[str, object] = tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise ThemeError(path, "", f"cannot be read: {error}") from error
    except RecursionError:
        raise ThemeError(path, "", "cannot be read: too many brackets in each other") from None
    sheet = _Sheet(path, text, table)
    colours = sheet.colours()
    name, dark = table.get("name"), table.get("dark")
    if not (isinstance(name, str) and _NAME.fullmatch(name)):
        raise sheet.wrong("name", 'wants small letters, digits and dashes, such as "night"')
    if not isinstance(dark, bool):
        raise sheet.wrong("dark", "wants true or false")
    return _theme(name, colours, dark=dark)


def variable_defaults(theme: Theme) -> dict[str, str]:
    """Our names under a foreign theme; for `App.get_theme_variable_defaults`."""
    generated = theme.to_color_system().generate()
    return {name: generated[meant] for name, meant in FALLBACKS.items()}


def contrast(ink: Color, paper: Color) -> float:
    """Ratio of luminances, 1 to 21. Source: WCAG 2.1, "contrast ratio"."""
    light, dark = sorted((_luminance(ink), _luminance(paper)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def weak_pairs(theme: Theme) -> tuple[str, ...]:
    """Pairs of a theme from a file that are hard to read, as text; empty if there are none."""
    colours = {name: Color.parse(value) for name, value in _named(theme).items()}
    return tuple(
        f"{ink} on {paper}: {ratio:.2f}, wants {CONTRAST_MIN}"
        for ink in INKS
        for paper in PAPERS
        if not (ratio := contrast(colours[ink], colours[paper])) >= CONTRAST_MIN
    )


def content(text: Text) -> Content:
    """A formatted text for Textual's own widgets, whose colours then follow the theme.

    Returns:
        The same text; names of meanings have become variables (`profit` -> `$profit`). Nothing
        is read as markup.
    """
    spans = [Span(span.start, span.end, _variables(span.style)) for span in text.spans]
    whole = [Span(0, len(text.plain), _variables(text.style))] if text.style else []
    return Content(text.plain, whole + spans)


@dataclass(frozen=True, slots=True)
class _Sheet:
    path: Path
    text: str
    table: Mapping[str, object]

    def colours(self) -> dict[str, str]:
        for key in self.table:
            if key not in {"name", "dark", *SECTIONS}:
                raise self.wrong(key, f"no such key; sections are {', '.join(SECTIONS)}")
        return {
            key: value
            for section, keys in SECTIONS.items()
            for key, value in self._section(section, keys)
        }

    def _section(self, section: str, keys: tuple[str, ...]) -> list[tuple[str, str]]:
        given = self.table.get(section)
        if not _is_table(given):
            raise self.wrong(section, f"section missing; it holds {', '.join(keys)}")
        for key in given:
            if key not in keys:
                raise self.wrong(key, f"no such key in [{section}]: {', '.join(keys)}")
        return [(key, self._colour(key, given.get(key), section)) for key in keys]

    def _colour(self, key: str, value: object, section: str) -> str:
        if value is None:
            raise self.wrong(key, f"missing in [{section}]")
        if not (isinstance(value, str) and _COLOUR.fullmatch(value)):
            raise self.wrong(key, f"{value!r} is no colour; write #rrggbb")
        return value

    def wrong(self, key: str, why: str) -> ThemeError:
        stated = re.compile(rf"\s*\[?\s*[\"']?{re.escape(key)}[\"']?\s*(?:=|\])")
        lines = enumerate(self.text.splitlines(), start=1)
        line = next((number for number, text in lines if stated.match(text)), None)
        return ThemeError(self.path, key, why, line=line)


def _is_table(value: object) -> TypeGuard[Mapping[str, object]]:
    # The keys of TOML are always strings.
    return isinstance(value, dict)


def _theme(name: str, colours: Mapping[str, str], *, dark: bool) -> Theme:
    variables = {key: colours[key] for key in ("muted", "faint", "spark", *MEANINGS, *ROWS)}
    variables |= {theirs: colours[ours] for theirs, ours in DERIVED.items()}
    return Theme(
        name=name,
        primary=colours["accent"],
        secondary=colours["muted"],
        warning=colours["warn"],
        error=colours["loss"],
        success=colours["profit"],
        accent=colours["accent"],
        foreground=colours["foreground"],
        background=colours["background"],
        surface=colours["surface"],
        panel=colours["panel"],
        dark=dark,
        variables=variables | {"block-cursor-text-style": "none"},
    )


def _named(theme: Theme) -> dict[str, str]:
    grounds = {
        "background": theme.background,
        "surface": theme.surface,
        "panel": theme.panel,
        "foreground": theme.foreground,
        "accent": theme.accent,
    }
    return {key: value for key, value in grounds.items() if value} | {
        key: theme.variables[key] for key in ("muted", *MEANINGS, *ROWS)
    }


def _variables(style: str | Style) -> str | VisualStyle:
    if isinstance(style, Style):
        return VisualStyle.from_rich_style(style)
    return " ".join(word if word in ATTRIBUTES else f"${word}" for word in style.split())


def _luminance(colour: Color) -> float:
    red, green, blue = (_linear(part) for part in colour.normalized)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: float) -> float:
    # The two branches of the sRGB transfer function, as in WCAG.
    return part / 12.92 if part <= _LINEAR_BELOW else ((part + 0.055) / 1.055) ** 2.4
