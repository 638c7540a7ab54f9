"""A secret that is shown once: a new key, or the code that a claim page requires."""

from typing import ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType

from service_tui.console import formats
from service_tui.console.forms.page import Page
from service_tui.console.keys import cap
from service_tui.console.messages import Copied
from service_tui.desk.slices.agents import RevealedView


class Secret(Page):
    """Shows a secret, its owner, and that it is not shown again."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("y", "copy_secret", "copy", show=False)]

    def __init__(self, revealed: RevealedView) -> None:
        what = "New key" if revealed.is_key else "Claim code"
        super().__init__(
            f"{what} of {formats.plain(revealed.name, 30).plain}",
            f"y copies, {cap('dialog.close')} closes",
        )
        self._revealed = revealed

    def text(self) -> Text:
        """The secret, and what to do with it."""
        shown = self._revealed
        secret = Text(shown.secret, "bold accent")
        if shown.is_key:
            return Text.assemble(
                ("This key is shown once, here and now. ", "bold warn"),
                "It is kept nowhere: what is lost is replaced by another new key.\n\n   ",
                secret,
                "\n\nThe old key is dead already: whatever runs with it is refused from now on. "
                "Whoever holds the key trades as this agent; put it where only the agent reads it.",
            )
        return Text.assemble(
            "The page behind the agent's claim link asks for this code; it is good once",
            *self._until(),
            ".\n\n   ",
            secret,
            "\n\n",
            (formats.plain(shown.claim_url, 200).plain, "muted"),
        )

    def action_copy_secret(self) -> None:
        """Copy the secret, at the person's request."""
        what = "the key" if self._revealed.is_key else "the code"
        self.post_message(Copied(self._revealed.secret, what))

    def _until(self) -> tuple[Text, ...]:
        at = self._revealed.expires_at
        return () if at is None else (Text(", until "), formats.clock_time(at))
