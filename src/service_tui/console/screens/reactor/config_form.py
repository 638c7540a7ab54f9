"""How large mirrors are, where they are bought and what they may cost in a day."""

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, Final

from rich.text import Text
from textual import on
from textual.containers import Horizontal
from textual.widget import Widget

from service_tui.console import formats
from service_tui.console.forms.form import Form
from service_tui.console.forms.order_draft import MONEY_DECIMALS, DraftError
from service_tui.console.forms.reactor_draft import (
    BUFFER_MAX,
    FRACTION_MAX,
    LINES,
    Line,
    Value,
    changes,
    percent_text,
    read_percent,
    read_size,
    size_text,
)
from service_tui.console.widgets.choice import Choice
from service_tui.console.widgets.plain_input import PlainInput
from service_tui.console.widgets.words import Words
from service_tui.desk.commands.reactor import SetReactorConfig
from service_tui.desk.slices.reactor import Policy, ReactorConfigView
from service_tui.desk.state import DeskState
from service_tui.terms import Venue
from service_tui.units import ONE, Micros, Timestamp

_VENUES: Final = tuple(Venue)
_SIZE: Final = Micros(500 * ONE)
_PRICE: Final = 0.60
"""The source trade by which the sizes are explained."""

_SHARE_DECIMALS: Final = 5


class ReactorForm(Form[SetReactorConfig]):
    """Returns what changes; the watchlist and the switch have keys of their own."""

    heading: ClassVar[str] = "Reactor"

    def __init__(self, state: DeskState, now: Timestamp, config: ReactorConfigView) -> None:
        super().__init__(state, now)
        self._before = config
        self._venue = config.venue

    def parts(self) -> Iterator[Widget]:
        """Five figures with their units and ranges, the venue, and an example."""
        texts = line_texts(self._before)
        for line in LINES:
            yield self._line(line, texts[line.name])
        yield Horizontal(
            Words("venue", classes="label"), Choice(id="reactor-venue"), classes="line"
        )
        yield Words(id="form-preview")
        yield Words(id="form-hint")

    def judged(self) -> SetReactorConfig | str:
        """What changes, or what is against it."""
        try:
            wanted = self._wanted()
        except DraftError as refused:
            return str(refused)
        found = changes(self._before, wanted)
        return "nothing is changed yet" if found == SetReactorConfig() else found

    def preview(self, result: SetReactorConfig | None) -> None:
        """What a mirror of a plain source trade would be."""
        del result
        labels = tuple(venue.value for venue in _VENUES)
        self.query_one("#reactor-venue", Choice).show(labels, _VENUES.index(self._venue))
        try:
            said = example(self._wanted())
        except DraftError:
            said = Text(formats.NOT_KNOWN, "muted")
        self.query_one("#form-preview", Words).tell(said)
        self.query_one("#form-hint", Words).tell(self._hint())

    def objection(self, result: SetReactorConfig) -> str:
        """What loosens the caps of a wallet on `auto` is asked twice."""
        count = sum(
            self.state.reactor.policy_of(wallet) is Policy.AUTO for wallet in self._before.wallets
        )
        if not count or not loosens(self._before, result):
            return ""
        whose = f"{count} wallets are" if count > 1 else "1 wallet is"
        return f"{whose} on auto: more may then be spent without asking; enter again sets it"

    @on(Choice.Asked)
    def _venue_asked(self, event: Choice.Asked) -> None:
        event.stop()
        self._venue = _VENUES[event.index]
        self.refresh_form()

    def _wanted(self) -> ReactorConfigView:
        """What stands in the lines.

        Returns:
            The config, whether it differs or not.

        Raises:
            DraftError: a line is no such figure.
        """
        return read_config(
            self._before, {line.name: self.typed(f"reactor-{line.name}") for line in LINES},
            self._venue,
        )  # fmt: skip

    def _line(self, line: Line, text: str) -> Horizontal:
        return Horizontal(
            Words(line.label, classes="label"),
            PlainInput(
                text, compact=True, max_length=16, id=f"reactor-{line.name}", classes="number"
            ),
            Words(f"{line.unit}, {line.span}", classes="unit"),
            classes="line",
        )

    def _hint(self) -> Text:
        if self._venue is not Venue.SIM:
            return Text("This venue trades real money: mirrors there need LIVE.", "warn")
        return Text("It holds within seconds, for signals to come.", "muted")


def line_texts(config: ReactorConfigView) -> dict[str, str]:
    """What stands in each line at first."""
    return {
        "fraction": percent_text(config.mirror_fraction),
        "min": size_text(config.min_size, decimals=_SHARE_DECIMALS),
        "max": size_text(config.max_size, decimals=_SHARE_DECIMALS),
        "cap": size_text(config.daily_cap, decimals=MONEY_DECIMALS),
        "buffer": percent_text(config.price_buffer),
    }


def read_config(
    before: ReactorConfigView, texts: dict[str, str], venue: Venue
) -> ReactorConfigView:
    """What was typed.

    Returns:
        The config; a text that was not touched changes nothing.

    Raises:
        DraftError: a line is no such figure.
    """
    kept, label = line_texts(before), {line.name: line.label for line in LINES}

    def size(name: str, old: Micros, decimals: int) -> Micros:
        if texts[name].strip() == kept[name]:
            return old
        return read_size(texts[name], label[name], decimals=decimals)

    def part(name: str, old: float, most: float) -> float:
        if texts[name].strip() == kept[name]:
            return old
        return read_percent(texts[name], label[name], most)

    return ReactorConfigView(
        wallets=before.wallets,
        min_size=size("min", before.min_size, _SHARE_DECIMALS),
        max_size=size("max", before.max_size, _SHARE_DECIMALS),
        mirror_fraction=part("fraction", before.mirror_fraction, FRACTION_MAX),
        daily_cap=size("cap", before.daily_cap, MONEY_DECIMALS),
        venue=venue,
        enabled=before.enabled,
        price_buffer=part("buffer", before.price_buffer, BUFFER_MAX),
        signal_ttl_s=before.signal_ttl_s,
    )


def loosens(before: ReactorConfigView, change: SetReactorConfig) -> bool:
    """Whether more may be spent, or elsewhere, than before."""
    pairs = (
        (change.max_size, before.max_size),
        (change.mirror_fraction, before.mirror_fraction),
        (change.daily_cap, before.daily_cap),
        (change.price_buffer, before.price_buffer),
    )
    return change.venue is not None or any(new is not None and new > old for new, old in pairs)


def example(config: ReactorConfigView) -> Text:
    """What the mirror of a plain source trade would be."""
    shares = Micros(min(int(_SIZE * config.mirror_fraction), config.max_size))
    spends = Micros(min(round(shares * _PRICE), config.daily_cap))
    most = min(0.999, _PRICE * (1 + config.price_buffer))
    start = f"a buy of {formats.shares(_SIZE).plain} shares at {formats.price(_PRICE).plain}"
    if config.min_size > _SIZE:
        return Text(f"{start} is too small: no signal", "muted")
    return Text.assemble(
        (f"{start}: the mirror spends ", "muted"), formats.money(spends),
        (" $ for about ", "muted"), formats.shares(shares), (" shares, at ", "muted"),
        formats.price(most), (" or below", "muted"),
    )  # fmt: skip


def changed(before: ReactorConfigView, change: SetReactorConfig) -> ReactorConfigView:
    """The config as it is once a change holds."""
    return replace(
        before,
        min_size=_or(change.min_size, before.min_size),
        max_size=_or(change.max_size, before.max_size),
        mirror_fraction=_or(change.mirror_fraction, before.mirror_fraction),
        daily_cap=_or(change.daily_cap, before.daily_cap),
        venue=_or(change.venue, before.venue),
        price_buffer=_or(change.price_buffer, before.price_buffer),
    )


def _or(new: Value | None, old: Value) -> Value:
    return old if new is None else new
