"""Which wallet to follow: chosen from those that the service names, or typed; and its name."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Final

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widget import Widget

from service_tui.addresses import is_address
from service_tui.console import formats
from service_tui.console.forms.form import Form
from service_tui.console.forms.order_draft import DraftError
from service_tui.console.forms.reactor_draft import LABEL_MAX, read_label, read_wallet
from service_tui.console.widgets.plain_input import PlainInput
from service_tui.console.widgets.words import Words
from service_tui.desk.slices.reactor import KnownWalletView, WalletView
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

SHOWN: Final = 8
"""Known wallets that stand below the line; typing narrows them."""


@dataclass(frozen=True, slots=True)
class Named:
    """A wallet, checksummed, and what it is to be called; empty: as the service calls it."""

    address: str
    label: str


class FollowForm(Form[Named]):
    """Arrows choose a known wallet, or its address is typed; enter follows it."""

    heading: ClassVar[str] = "Follow a wallet"
    hint: ClassVar[str] = "arrows choose, tab goes to its name, enter follows, {form.cancel} leaves"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "choose(-1)", show=False),
        Binding("down", "choose(1)", show=False),
    ]

    def __init__(self, state: DeskState, now: Timestamp, address: str = "") -> None:
        super().__init__(state, now)
        self._chosen = address

    def parts(self) -> Iterator[Widget]:
        """The address, its name, and the known wallets that fit what was typed."""
        yield self._line("address", "wallet", "address, or a part of its name", 80)
        yield self._line("label", "name", "yours; empty: as the service calls it", LABEL_MAX + 8)
        yield Words(id="form-preview")
        yield Words(id="form-hint")

    def judged(self) -> Named | str:
        """The wallet and its name, or what is against it."""
        text, found = self.typed("follow-address").strip(), self._found()
        self._keep_choice(found)
        wanted = self._chosen if found and not is_address(text) else text
        try:
            label = read_label(self.typed("follow-label"))
            return Named(read_wallet(wanted, self._followed()), label)
        except DraftError as refused:
            return str(refused)

    def preview(self, result: Named | None) -> None:
        """The known wallets that fit, the chosen one marked; what an address stands for."""
        found = self._found()
        block = self.query_one("#form-preview", Words)
        block.tell(self._list(found) if found else self._unknown(result))
        said = "A followed wallet's buys become signals; until you choose otherwise you are asked."
        self.query_one("#form-hint", Words).tell(Text(said, "muted"))

    def changed(self, name: str) -> None:
        """What is typed chooses the first that fits."""
        if name == "follow-address":
            self._chosen = ""

    def action_choose(self, by: int) -> None:
        """Choose the next known wallet, or the one before."""
        found = self._found()
        if not found:
            return
        addresses = [wallet.address for wallet in found]
        place = addresses.index(self._chosen) + by if self._chosen in addresses else 0
        self._chosen = addresses[place % len(addresses)]
        self.refresh_form()

    def _followed(self) -> frozenset[str]:
        config = self.state.reactor.config
        return frozenset(() if config is None else config.wallets)

    def _found(self) -> tuple[KnownWalletView, ...]:
        """Known wallets that are not followed and fit what was typed, the best record first."""
        typed = self.typed("follow-address").strip().casefold()
        followed = self._followed()
        wallets = (
            wallet
            for wallet in self.state.reactor.known.values()
            if wallet.address not in followed
            and (typed in wallet.label.casefold() or typed in wallet.address.casefold())
        )
        return tuple(sorted(wallets, key=lambda wallet: (-wallet.realized, wallet.address)))

    def _keep_choice(self, found: tuple[KnownWalletView, ...]) -> None:
        addresses = [wallet.address for wallet in found]
        if self._chosen not in addresses and addresses:
            self._chosen = addresses[0]

    def _list(self, found: tuple[KnownWalletView, ...]) -> Text:
        place = next((i for i, one in enumerate(found) if one.address == self._chosen), 0)
        first = max(0, min(place - SHOWN // 2, len(found) - SHOWN))
        lines = [
            known_line(wallet, is_chosen=wallet.address == self._chosen, masked=self.masked)
            for wallet in found[first : first + SHOWN]
        ]
        head = Text(
            f"  {'known here':<20} {'address':<12}{'won':>11}{'made $':>12}  venue", "muted"
        )
        rest = len(found) - SHOWN
        tail = [Text(f"  {rest} more: type a part of the name", "muted")] if rest > 0 else []
        return Text("\n").join([head, *lines, *tail])

    def _unknown(self, result: Named | None) -> Text:
        if result is None:
            return Text("no known wallet fits", "muted")
        return Text.assemble(("with its checksum  ", "muted"), result.address)

    def _line(self, name: str, label: str, placeholder: str, most: int) -> Horizontal:
        return Horizontal(
            Words(label, classes="label"),
            PlainInput(
                placeholder=placeholder,
                compact=True,
                max_length=most,
                id=f"follow-{name}",
                classes="wide",
            ),
            classes="line",
        )


class LabelForm(Form[Named]):
    """Names a wallet; an empty line takes the name away."""

    heading: ClassVar[str] = "Name of a wallet"

    def __init__(self, state: DeskState, now: Timestamp, wallet: WalletView) -> None:
        super().__init__(state, now)
        self._wallet = wallet

    def parts(self) -> Iterator[Widget]:
        """The address and one line."""
        yield Words(id="form-question")
        yield Horizontal(
            Words("name", classes="label"),
            PlainInput(
                self._own(),
                placeholder="empty: as the service calls it",
                compact=True,
                max_length=LABEL_MAX + 8,
                id="follow-label",
                classes="wide",
            ),
            classes="line",
        )
        yield Words("It stays on this machine.", id="form-hint")

    def judged(self) -> Named | str:
        """The name, or what is against it."""
        try:
            label = read_label(self.typed("follow-label"))
        except DraftError as refused:
            return str(refused)
        if label == self._own():
            return "nothing is changed yet"
        return Named(self._wallet.address, label)

    def preview(self, result: Named | None) -> None:
        """Whose name it is."""
        del result
        shown = formats.MASK if self.masked else self._wallet.address
        self.query_one("#form-question", Words).tell(shown)

    def _own(self) -> str:
        chosen = self.state.reactor.choices.get(self._wallet.address)
        return "" if chosen is None else chosen.label


def known_line(wallet: KnownWalletView, *, is_chosen: bool, masked: bool) -> Text:
    """One known wallet in a line of the list."""
    name = formats.plain(wallet.label, 20)
    name.truncate(20, pad=True)
    won = formats.NOT_KNOWN
    if wallet.win_rate is not None:
        won = f"{wallet.win_rate:.0%} of {wallet.win_count + wallet.loss_count:,}"
    made = formats.pnl(wallet.realized, masked=masked)
    address = formats.address(wallet.address, masked=masked)
    address.truncate(12, pad=True)
    line = Text.assemble(
        ("▸ " if is_chosen else "  ", "accent"), name, " ", (address.plain, "muted")
    )
    line.append(f"{won:>11}")
    line.append(" " * max(1, 12 - made.cell_len))
    line.append_text(made)
    line.append(f"  {wallet.venue.value}", "muted")
    if is_chosen:
        line.stylize("bold")
    return line
