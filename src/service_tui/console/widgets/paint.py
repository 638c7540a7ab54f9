"""Names of meanings as styles, made once a theme; for widgets that draw their own lines."""

from collections.abc import Mapping

from rich.style import Style
from textual.app import App
from textual.color import Color, ColorParseError
from textual.widget import Widget

from service_tui.console.meanings import ATTRIBUTES
from service_tui.console.theme import variable_defaults


class Paint:
    """The styles of one widget. A name that no theme has is drawn as plain text."""

    def __init__(self, widget: Widget) -> None:
        self._widget = widget
        self._variables: Mapping[str, str] = {}
        self._defaults: Mapping[str, str] = {}
        self._base = Style()
        self._background = Color(0, 0, 0)
        self._styles: dict[tuple[str | Style, str], Style] = {}
        self.ground = Style()

    @property
    def is_animated(self) -> bool:
        """False if the operator has turned all animations off."""
        return self._app().animation_level != "none"

    def prepare(self) -> bool:
        """Read the theme and the widget's ground; True if every style has changed."""
        variables, base = self._app().theme_variables, self._widget.rich_style
        if variables is self._variables and base == self._base:
            return False
        self._variables, self._base = variables, base
        self._defaults = variable_defaults(self._app().current_theme)
        self._background = self._widget.background_colors[1]
        self.ground = Style(bgcolor=self._background.rich_color)
        self._styles.clear()
        return True

    def style(self, ink: str | Style = "", paper: str = "") -> Style:
        """A complete style.

        Args:
            ink: names and attributes, such as `bold profit`; or a style of Rich's own.
            paper: the name of the ground under the text; empty is the widget's own ground.

        Returns:
            Colour and ground, both set.
        """
        key = (ink, paper)
        style = self._styles.get(key)
        if style is None:
            style = self._styles[key] = self._made(ink, paper)
        return style

    def _app(self) -> App[object]:
        # Textual's type of an app's result is unknown; nothing here depends on it.
        return self._widget.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]

    def _made(self, ink: str | Style, paper: str) -> Style:
        made, ground = self._base, self._background
        if paper and (under := self._colour(paper)) is not None:
            ground += under
            made += Style(bgcolor=ground.rich_color)
        if isinstance(ink, Style):
            return made + ink
        for word in ink.split():
            if word in ATTRIBUTES:
                made += Style.parse(word)
            elif (colour := self._colour(word)) is not None:
                made += Style(color=(ground + colour).rich_color)
        return made

    def _colour(self, name: str) -> Color | None:
        value = self._variables.get(name) or self._defaults.get(name)
        if value is None:
            return None
        try:
            return Color.parse(value)
        except ColorParseError:
            # Textual's own themes use "auto 87%", which is no colour yet.
            return None
