"""A secret that is shown once: a key, the code of a claim page, or the secret of a webhook."""

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
        what = "Secret" if revealed.is_webhook else what
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
                ("Shown only once. ", "bold warn"),
                "A lost key can only be replaced by a new one.\n\n   ",
                secret,
                "\n\nThe old key is already revoked. This key trades as the agent: store it where "
                "only the agent can read it.",
            )
        if shown.is_webhook:
            return Text.assemble(
                ("Shown only once.\n\n   ", "bold warn"),
                secret,
                "\n\nVerify each delivery with this secret: X-Service-Signature is sha256= plus "
                "the HMAC-SHA256 of the body. To replace a lost secret, remove the webhook and add "
                "it again.",
            )
        return Text.assemble(
            "Enter this code on the agent's claim page. Valid once",
            *self._until(),
            ".\n\n   ",
            secret,
            "\n\n",
            (formats.plain(shown.claim_url, 200).plain, "muted"),
        )

    def action_copy_secret(self) -> None:
        """Copy the secret, at the person's request."""
        what = "the key" if self._revealed.is_key else "the code"
        what = "the secret" if self._revealed.is_webhook else what
        self.post_message(Copied(self._revealed.secret, what))

    def _until(self) -> tuple[Text, ...]:
        at = self._revealed.expires_at
        return () if at is None else (Text(", until "), formats.clock_time(at))
