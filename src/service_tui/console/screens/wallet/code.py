"""The wallet's address as a code for a camera, whole on one page, also on eighty columns."""

from typing import ClassVar, Final

from rich.text import Text
from textual.binding import Binding, BindingType

from service_tui.console.forms.page import Page
from service_tui.console.keys import cap
from service_tui.console.messages import Copied
from service_tui.console.qr import qr_text

_SENDS: Final = "Only USDC.e and POL of chain 137 are of use here; native USDC is not."


class WalletCode(Page):
    """The code, and below it the address in letters, to be compared with what the camera read."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("y", "copy_address", "copy", show=False)]

    def __init__(self, address: str, *, on_dark: bool) -> None:
        super().__init__("Address of the wallet", f"y copies, {cap('dialog.close')} closes")
        self._address = address
        self._on_dark = on_dark

    def text(self) -> Text:
        """The code and the address."""
        code = qr_text(self._address, on_dark=self._on_dark)
        return Text.assemble(code, "\n", (self._address, "bold"), (f"\n{_SENDS}", "muted"))

    def action_copy_address(self) -> None:
        """Copy the address, because the person asked for that."""
        self.post_message(Copied(self._address, "the wallet's address"))
