"""Installing a skill from a folder or an archive of this machine."""

from collections.abc import Iterator
from typing import ClassVar

from rich.text import Text
from textual.containers import Horizontal
from textual.widget import Widget

from service_tui.console.forms.form import Form
from service_tui.console.widgets.plain_input import PlainInput
from service_tui.console.widgets.words import Words
from service_tui.desk.commands.agents import InstallSkill


class InstallSkillForm(Form[InstallSkill]):
    """Names what is to be installed; whole or not at all."""

    heading: ClassVar[str] = "Install a skill"
    set_word: ClassVar[str] = "install"

    def parts(self) -> Iterator[Widget]:
        """One line for the path."""
        yield Words(id="form-question")
        yield Horizontal(
            Words("path", classes="label"),
            PlainInput(compact=True, max_length=1_000, id="install-path"),
            classes="line",
        )
        yield Words(id="form-preview")

    def judged(self) -> InstallSkill | str:
        """The order that stands there, or what is against it."""
        path = self.typed("install-path").strip()
        return InstallSkill(path) if path else "name a folder, or a .zip or .tar archive"

    def preview(self, result: InstallSkill | None) -> None:
        """What is looked at first, and where it goes."""
        del result
        self.query_one("#form-question", Words).tell(
            Text("A folder with SKILL.md and its script, or an archive of one.")
        )
        said = "It is checked first, and copied whole or not at all. Nothing of it runs yet."
        self.query_one("#form-preview", Words).tell(Text(said, "muted"))
