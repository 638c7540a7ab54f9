"""Forms of the reactor: its config, a wallet to follow, a wallet's name and its policy."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Final, TypeVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Button, Static

from service_tui.addresses import checked_address, is_address
from service_tui.console import formats
from service_tui.console.fields import (
    PERCENT,
    Fault,
    Field,
    FieldError,
    Number,
    amount_rule,
    parse_number,
    parse_percent,
    percent_text,
    write_number,
)
from service_tui.console.forms.form import Form, OptionsRow, OptionsState, Shown
from service_tui.console.keys import bindings_of, cap
from service_tui.console.theme import content
from service_tui.console.widgets.dialog import Dialog
from service_tui.desk.commands.reactor import SetReactorConfig
from service_tui.desk.slices.reactor import (
    KnownWalletView,
    Policy,
    ReactorConfigView,
    SourceWalletView,
)
from service_tui.desk.state import DeskState
from service_tui.folding import folded
from service_tui.pasted import wallet as pasted_wallet
from service_tui.terms import (
    MIRROR_PRICE_MAX,
    MONEY_DECIMALS,
    PRICE_BUFFER_MAX,
    SHARE_DECIMALS,
    WALLETS_MAX,
    Venue,
)
from service_tui.units import ONE, Micros, Timestamp

Value = TypeVar("Value")

FRACTION_MAX: Final = 100.0
BUFFER_MAX: Final = PRICE_BUFFER_MAX * PERCENT
"""Percent. Source: spec, "Reactor config"."""

LABEL_MAX: Final = 32
"""Letters of a wallet's name that fit beside its trades."""

_VENUES: Final = tuple(Venue)
_SIZE: Final = Micros(500 * ONE)
_PRICE: Final = 0.60
"""The source trade of the example."""

LISTED_MAX: Final = 8
"""Known wallets listed below the line; typing filters them."""

POLICIES: Final = (
    (Policy.ASK, "mirror or dismiss each signal before it expires"),
    (Policy.AUTO, "mirror each signal automatically"),
    (Policy.OFF, "skip its signals"),
)
"""In the order of their digits."""


# -- the config ---------------------------------------------------------------------------------


def read_size(text: str, what: str, *, decimals: int) -> Micros:
    """Parse shares or money.

    Returns:
        Micros, 0 or more.

    Raises:
        FieldError: it is no such figure; `what` names it.
    """
    amount = amount_rule(decimals)
    messages = {
        **{fault: f"{what}: {line}" for fault, line in amount.messages.items()},
        Fault.EMPTY: f"{what}: enter a figure, 0 or more",
        Fault.SIGNED: f"{what}: enter 0 or more",
    }
    signs = ("-", "+", "\N{MINUS SIGN}")
    return parse_number(text, replace(amount, messages=messages, least=Micros(0), signs=signs))


def read_percent(text: str, what: str, most: float) -> float:
    """Parse a percentage into a fraction.

    Returns:
        The fraction, 0 to `most` percent.

    Raises:
        FieldError: it is none; `what` names it.
    """
    span = f"{what}: 0 to {most:.0f} percent"
    messages = {Fault.NOT_PLAIN: f"{span}, such as {most / 10:g}", Fault.TOO_LARGE: span}
    return parse_percent(text, Number(messages, most=Micros(round(most * ONE)), unit="%"))


def size_text(amount: Micros, *, decimals: int) -> str:
    """Shares or money as a person would type it."""
    return write_number(amount, decimals)


def _part(name: str, label: str, unit: str, most: float) -> Field[float]:
    """A fraction in percent."""
    parse = partial(read_percent, what=label, most=most)
    return Field(f"reactor-{name}", label, parse, f"{unit}, 0 to {most:.0f}", letters=16)


def _size(name: str, label: str, unit: str, decimals: int) -> Field[Micros]:
    """Shares or money."""
    parse = partial(read_size, what=label, decimals=decimals)
    return Field(f"reactor-{name}", label, parse, f"{unit}, 0 or more", letters=16)


FRACTION: Final = _part("fraction", "mirror", "% of the source", FRACTION_MAX)
MIN: Final = _size("min", "min size", "source shares", SHARE_DECIMALS)
MAX: Final = _size("max", "max size", "shares per mirror", SHARE_DECIMALS)
CAP: Final = _size("cap", "day's cap", "money per day", MONEY_DECIMALS)
BUFFER: Final = _part("buffer", "price", "% above source", BUFFER_MAX)
VENUE: Final = OptionsRow("reactor-venue", "venue")


class ReactorForm(Form[SetReactorConfig]):
    """Returns the change; the watchlist and the switch have keys of their own."""

    heading: ClassVar[str] = "Reactor"
    body = (FRACTION, MIN, MAX, CAP, BUFFER, VENUE, "form-preview", "form-hint")

    def __init__(self, state: DeskState, now: Timestamp, config: ReactorConfigView) -> None:
        super().__init__(state, now)
        self._before = config
        self._venue = config.venue
        self.first = {
            FRACTION.name: percent_text(config.mirror_fraction),
            MIN.name: size_text(config.min_size, decimals=SHARE_DECIMALS),
            MAX.name: size_text(config.max_size, decimals=SHARE_DECIMALS),
            CAP.name: size_text(config.daily_cap, decimals=MONEY_DECIMALS),
            BUFFER.name: percent_text(config.price_buffer),
        }

    def validate(self) -> SetReactorConfig:
        """The change."""
        result = changes(self._before, self._typed_config())
        if result == SetReactorConfig():
            raise FieldError("no change yet")
        return result

    def describe(self, result: SetReactorConfig | None) -> Mapping[str, Shown]:
        """The mirror of an example trade."""
        del result
        try:
            text = example(self._typed_config())
        except FieldError:
            text = Text(formats.NOT_KNOWN, "muted")
        return {
            VENUE.name: OptionsState(
                tuple(venue.value for venue in _VENUES), _VENUES.index(self._venue)
            ),
            "form-preview": text,
            "form-hint": self._hint(),
        }

    def choose(self, name: str, index: int) -> None:
        """Select a venue."""
        del name
        self._venue = _VENUES[index]

    def objection(self, result: SetReactorConfig) -> str:
        """Looser caps of a wallet on `auto` need a second enter."""
        count = sum(
            self.state.reactor.policy_of(wallet) is Policy.AUTO for wallet in self._before.wallets
        )
        if not count or not loosens(self._before, result):
            return ""
        whose = f"{count} wallets are" if count > 1 else "1 wallet is"
        return f"{whose} on auto: looser caps apply without asking you. Enter again to confirm"

    def _typed_config(self) -> ReactorConfigView:
        """Parse the lines; an untouched one keeps its figure to the last digit.

        Returns:
            The config, whether it differs or not.

        Raises:
            FieldError: a line is no such figure.
        """
        before = self._before
        return replace(
            before,
            mirror_fraction=self._kept(FRACTION, before.mirror_fraction),
            min_size=self._kept(MIN, before.min_size),
            max_size=self._kept(MAX, before.max_size),
            daily_cap=self._kept(CAP, before.daily_cap),
            price_buffer=self._kept(BUFFER, before.price_buffer),
            venue=self._venue,
        )

    def _kept(self, field: Field[Value], before: Value) -> Value:
        is_untouched = self.typed(field.name).strip() == self.first[field.name]
        return before if is_untouched else self.read(field)

    def _hint(self) -> Text:
        if self._venue is not Venue.SIM:
            return Text("A real venue: nothing is mirrored there.", "warn")
        return Text("Applies to new signals, within seconds.", "muted")


def loosens(before: ReactorConfigView, change: SetReactorConfig) -> bool:
    """True if more may be spent, or elsewhere, than before."""
    pairs = (
        (change.max_size, before.max_size),
        (change.mirror_fraction, before.mirror_fraction),
        (change.daily_cap, before.daily_cap),
        (change.price_buffer, before.price_buffer),
    )
    raised = (new is not None and float(new) > float(old) for new, old in pairs)
    return change.venue is not None or any(raised)


def example(config: ReactorConfigView) -> Text:
    """The mirror of an example trade."""
    shares = Micros(min(int(_SIZE * config.mirror_fraction), config.max_size))
    spends = Micros(min(round(shares * _PRICE), config.daily_cap))
    most = min(MIRROR_PRICE_MAX, _PRICE * (1 + config.price_buffer))
    unit = formats.unit(config.venue)
    start = f"a buy of {formats.shares(_SIZE).plain} shares at {formats.price(_PRICE).plain}"
    if config.min_size > _SIZE:
        return Text(f"{start} is below the min size: no signal", "muted")
    return Text.assemble(
        (f"{start}: the mirror spends ", "muted"), formats.money(spends),
        (f" {unit} for about ", "muted"), formats.shares(shares), (" shares, at ", "muted"),
        formats.price(most), (" or below", "muted"),
    )  # fmt: skip


def changes(before: ReactorConfigView, after: ReactorConfigView) -> SetReactorConfig:
    """The command that turns one config into the other: only changed fields are sent."""
    return SetReactorConfig(
        min_size=_new(before.min_size, after.min_size),
        max_size=_new(before.max_size, after.max_size),
        mirror_fraction=_new(before.mirror_fraction, after.mirror_fraction),
        daily_cap=_new(before.daily_cap, after.daily_cap),
        venue=_new(before.venue, after.venue),
        enabled=_new(before.enabled, after.enabled),
        price_buffer=_new(before.price_buffer, after.price_buffer),
    )


def _new(before: Value, after: Value) -> Value | None:
    return None if after == before else after


def reverse(change: SetReactorConfig, before: ReactorConfigView) -> SetReactorConfig:
    """The command that restores the fields a change replaced."""
    return SetReactorConfig(
        min_size=None if change.min_size is None else before.min_size,
        max_size=None if change.max_size is None else before.max_size,
        mirror_fraction=None if change.mirror_fraction is None else before.mirror_fraction,
        daily_cap=None if change.daily_cap is None else before.daily_cap,
        venue=None if change.venue is None else before.venue,
        price_buffer=None if change.price_buffer is None else before.price_buffer,
    )


# -- wallets ------------------------------------------------------------------------------------


def read_wallet(text: str, followed: frozenset[str]) -> str:
    """Parse a wallet's address, with its checksum.

    Args:
        text: the line.
        followed: checksummed addresses of followed wallets.

    Returns:
        The address, checksummed.

    Raises:
        FieldError: it is none, its checksum is wrong, it is followed, or there are too many.
    """
    given = pasted_wallet(text)
    if not given:
        raise FieldError("Choose a wallet with the arrows, or type its address")
    if not is_address(given):
        digits = given.removeprefix("0x").removeprefix("0X")
        line = f" ({len(digits)} given)" if given[:2] in {"0x", "0X"} else ""
        raise FieldError(f"An address is 0x and 40 hex digits{line}")
    try:
        address = checked_address(given)
    except ValueError as refused:
        raise FieldError("Wrong checksum: check each digit and capital") from refused
    if address in followed:
        raise FieldError("Wallet already followed")
    if len(followed) >= WALLETS_MAX:
        raise FieldError(f"At most {WALLETS_MAX} wallets. Unfollow one first")
    return address


def read_label(text: str) -> str:
    """Parse a name for a wallet.

    Returns:
        The name on one line; empty for none.

    Raises:
        FieldError: it is too long.
    """
    label = " ".join(text.split())
    if len(label) > LABEL_MAX:
        raise FieldError(f"A name has at most {LABEL_MAX} letters")
    return label


ADDRESS: Final = Field(
    "follow-address", "wallet", str.strip, placeholder="address, or part of a name",
    letters=80, css_class="wide",
)  # fmt: skip
LABEL: Final = Field(
    "follow-label", "name", read_label, placeholder="your name for it; empty: the service's",
    letters=LABEL_MAX + 8, css_class="wide",
)  # fmt: skip
NEW_LABEL: Final = replace(LABEL, placeholder="empty: the service's name")


@dataclass(frozen=True, slots=True)
class NamedWallet:
    """A wallet, checksummed, and its new name; empty: the service's name."""

    address: str
    label: str


class FollowForm(Form[NamedWallet]):
    """Arrows select a known wallet, or its address is typed; enter follows it."""

    heading: ClassVar[str] = "Follow a wallet"
    hint: ClassVar[str] = "arrows choose, tab edits the name, enter follows, {form.cancel} cancels"
    set_word: ClassVar[str] = "follow"

    body = (ADDRESS, LABEL, "form-preview", "form-hint")

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "choose(-1)", show=False),
        Binding("down", "choose(1)", show=False),
    ]

    def __init__(self, state: DeskState, now: Timestamp, address: str = "") -> None:
        super().__init__(state, now)
        self._selected = address

    def validate(self) -> NamedWallet:
        """The wallet and its name."""
        text, result = self.read(ADDRESS), self._matching()
        self._keep_choice(result)
        requested = self._selected if result and not is_address(pasted_wallet(text)) else text
        label = self.read(LABEL)
        return NamedWallet(read_wallet(requested, self._followed()), label)

    def describe(self, result: NamedWallet | None) -> Mapping[str, Shown]:
        """The matching known wallets, the selected one marked; the description of an address."""
        match = self._matching()
        text = "Buys of a followed wallet become signals. New wallets are on ask."
        return {
            "form-preview": self._list(match) if match else self._unknown(result),
            "form-hint": Text(text, "muted"),
        }

    def changed(self, name: str) -> None:
        """Select the first match of the typed text."""
        if name == ADDRESS.name:
            self._selected = ""

    def action_choose(self, by: int) -> None:
        """Select the next known wallet, or the former one."""
        result = self._matching()
        if not result:
            return
        addresses = [wallet.address for wallet in result]
        place = addresses.index(self._selected) + by if self._selected in addresses else 0
        self._selected = addresses[place % len(addresses)]
        self.refresh_form()

    def _followed(self) -> frozenset[str]:
        config = self.state.reactor.config
        return frozenset(() if config is None else config.wallets)

    def _matching(self) -> tuple[KnownWalletView, ...]:
        """Known wallets that are not followed and match the typed text, the best record first."""
        typed = folded(self.read(ADDRESS))
        followed = self._followed()
        wallets = (
            wallet
            for wallet in self.state.reactor.known.values()
            if wallet.address not in followed
            and (typed in folded(wallet.label) or typed in wallet.address.casefold())
        )
        return tuple(sorted(wallets, key=lambda wallet: (-wallet.realized, wallet.address)))

    def _keep_choice(self, matches: tuple[KnownWalletView, ...]) -> None:
        addresses = [wallet.address for wallet in matches]
        if self._selected not in addresses and addresses:
            self._selected = addresses[0]

    def _list(self, matches: tuple[KnownWalletView, ...]) -> Text:
        place = next((i for i, one in enumerate(matches) if one.address == self._selected), 0)
        first = max(0, min(place - LISTED_MAX // 2, len(matches) - LISTED_MAX))
        lines = [
            known_line(wallet, is_selected=wallet.address == self._selected, masked=self.masked)
            for wallet in matches[first : first + LISTED_MAX]
        ]
        head = Text(f"  {'wallet':<20} {'address':<12}{'won':>11}{'P&L':>12}  venue", "muted")
        rest = len(matches) - LISTED_MAX
        tail = [Text(f"  {rest} more: type part of a name", "muted")] if rest > 0 else []
        return Text("\n").join([head, *lines, *tail])

    def _unknown(self, result: NamedWallet | None) -> Text:
        if result is None:
            return Text("no matching wallet", "muted")
        return Text.assemble(("checksummed  ", "muted"), result.address)


class LabelForm(Form[NamedWallet]):
    """Names a wallet; an empty line removes the name."""

    heading: ClassVar[str] = "Rename wallet"
    body = ("form-question", NEW_LABEL, "form-hint")

    def __init__(self, state: DeskState, now: Timestamp, wallet: SourceWalletView) -> None:
        super().__init__(state, now)
        self._wallet = wallet
        self.first = {NEW_LABEL.name: self._own()}

    def validate(self) -> NamedWallet:
        """The name."""
        label = self.read(NEW_LABEL)
        if label == self._own():
            raise FieldError("no change yet")
        return NamedWallet(self._wallet.address, label)

    def describe(self, result: NamedWallet | None) -> Mapping[str, Shown]:
        """The wallet of the name."""
        del result
        shown = formats.MASK if self.masked else self._wallet.address
        return {"form-question": shown, "form-hint": "Stored on this machine only."}

    def _own(self) -> str:
        selected = self.state.reactor.choices.get(self._wallet.address)
        return "" if selected is None else selected.label


def known_line(wallet: KnownWalletView, *, is_selected: bool, masked: bool) -> Text:
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
        ("▸ " if is_selected else "  ", "accent"), name, " ", (address.plain, "muted")
    )
    line.append(f"{won:>11}")
    line.append(" " * max(1, 12 - made.cell_len))
    line.append_text(made)
    line.append(f"  {wallet.venue.value}", "muted")
    if is_selected:
        line.stylize("bold")
    return line


# -- the policy ---------------------------------------------------------------------------------


class ChoosePolicy(Dialog[Policy | None]):
    """A digit, or a click, chooses; enter chooses none, and keys typed ahead neither.

    Args:
        wallet_name: the wallet's name.
        now: the present policy.
        auto: the authorisation of `auto`, with its caps.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of("dialog"),
        Binding("left", "app.focus_previous", show=False),
        Binding("right", "app.focus_next", show=False),
        *(
            Binding(f"{place}", f"take({place - 1})", show=False)
            for place in range(1, len(POLICIES) + 1)
        ),
    ]
    AUTO_FOCUS = "#policy-stay"

    def __init__(self, wallet_name: str, now: Policy, auto: Text) -> None:
        super().__init__()
        self._name = wallet_name
        self._now = now
        self._auto = auto

    def compose(self) -> ComposeResult:
        """The meaning of each policy, the caps of `auto`, and a button for each."""
        with Vertical(id="frame", classes="dialog") as frame:
            frame.border_title = content(Text(f" Signals of {self._name} "))
            frame.border_subtitle = content(Text(f" {cap('dialog.close')} keeps the policy "))
            lines = [
                Text.assemble(
                    ("● " if policy is self._now else "○ ", "accent"),
                    (f"{policy.value:<6}", "bold" if policy is self._now else ""),
                    (meaning, "muted"),
                )
                for policy, meaning in POLICIES
            ]
            yield Static(content(Text("\n").join(lines)), markup=False, id="policy-lines")
            yield Static(content(self._auto), markup=False, id="policy-auto")
            with Horizontal(id="policy-doors"):
                for place, (policy, _) in enumerate(POLICIES, start=1):
                    door = Text(f"{place} {policy.value}")
                    yield Button(content(door), compact=True, id=f"policy-{policy.value}-door")
                yield Button(
                    content(Text(f"cancel  {cap('dialog.close')}")), compact=True, id="policy-stay"
                )

    def on_mount(self) -> None:
        """Accept digits in a moment, once the caps have been seen."""
        for door in self.query(Button):
            door.can_focus = door.id == "policy-stay"
        self.arm_soon()

    def action_take(self, place: int) -> None:
        """Choose a policy by its place."""
        if self.is_seen():
            self.dismiss(POLICIES[place][0])

    def action_close(self) -> None:
        """Keep the present policy."""
        self.dismiss(None)

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        names = [f"policy-{policy.value}-door" for policy, _ in POLICIES]
        if event.button.id in names:
            self.action_take(names.index(event.button.id))
        else:
            self.action_close()
