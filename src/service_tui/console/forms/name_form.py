"""A form for the name of a filter or of a list of markets."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from rich.text import Text

from service_tui.console.fields import Field
from service_tui.console.forms.form import Form, Shown
from service_tui.console.saved import LABEL_MAX
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

NAME: Final = Field("name-line", "name", str, letters=LABEL_MAX, css_class="text")


@dataclass(frozen=True, slots=True)
class ChosenName:
    """A name that can be kept."""

    text: str


class NameForm(Form[ChosenName]):
    """Returns a name.

    Args:
        state: the newest.
        now: wall time.
        read: parses what was typed; raises FieldError with the reason.
        about: what gets the name.
    """

    heading: ClassVar[str] = "Name"
    body = ("form-question", NAME)

    def __init__(
        self, state: DeskState, now: Timestamp, read: Callable[[str], str], about: Text
    ) -> None:
        super().__init__(state, now)
        self._read = read
        self._about = about

    def validate(self) -> ChosenName:
        """The typed name."""
        return ChosenName(self._read(self.typed(NAME.name)))

    def describe(self, result: ChosenName | None) -> Mapping[str, Shown]:
        """What gets the name."""
        del result
        return {"form-question": self._about}
