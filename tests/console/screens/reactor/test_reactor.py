"""The reactor screen: signals, wallets, mirrors, and its forms."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static

from kit.console.host import Host, until
from kit.console.painted import strips_of
from kit.samples.desk import NOW
from kit.samples.reactor import HOSTILE, WALLETS, reactor_state, signal, waiting
from service_tui.console import formats
from service_tui.console.forms.confirm import Confirm
from service_tui.console.needs import needs
from service_tui.console.parts.view_memory import VIEW, ViewMemory
from service_tui.console.screens.reactor.detail import describe, explain_row, state_text
from service_tui.console.screens.reactor.forms import ChoosePolicy
from service_tui.console.screens.reactor.mirror import MirrorForm, Preview, ended_text
from service_tui.console.screens.reactor.screen import ReactorScreen
from service_tui.console.screens.reactor.table import ReactorRow, key_of
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets import cursor_loss
from service_tui.desk.commands.reactor import (
    DismissSignal,
    MirrorSignal,
    SetReactorConfig,
    SetWalletPolicy,
)
from service_tui.desk.commands.trading import RequestQuote
from service_tui.desk.slices.quote import QuoteView
from service_tui.desk.slices.reactor import (
    Policy,
    ReactorConfigView,
    ReactorView,
    SignalsSeen,
    SignalState,
    SignalView,
    SourceWalletView,
    Tally,
    reduce_reactor,
)
from service_tui.desk.slices.service import Phase
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.terms import Mode, Venue
from service_tui.units import ONE, Micros, Timestamp

STATE = reactor_state()
SMALL, WIDE, HUGE = (80, 24), (120, 40), (160, 50)
CHEAP = replace(waiting(1, STATE, age_s=9.0), price=0.5, price_max=0.51, price_now=0.48)
OTHER = replace(waiting(2, STATE, age_s=20.0), price=0.4, price_max=0.41, price_now=0.40)


def with_reactor(state: DeskState = STATE, **changes: object) -> DeskState:
    return replace(state, reactor=replace(state.reactor, **changes))  # pyright: ignore[reportArgumentType]


def with_signals(*signals: SignalView) -> DeskState:
    return with_reactor(signals=signals)


TWO = with_signals(CHEAP, OTHER, *STATE.reactor.signals[3:])


def config(state: DeskState = STATE) -> ReactorConfigView:
    assert state.reactor.config is not None
    return state.reactor.config


class View:
    """The screen, seen from outside."""

    def __init__(self, pilot: Pilot[None], app: Host, screen: ReactorScreen) -> None:
        self.pilot = pilot
        self.app = app
        self.screen = screen

    def rows(self) -> list[ReactorRow]:
        order = self.screen.table.order
        return [order[place] for place in range(len(order))]

    def shown(self) -> list[str]:
        return [key_of(row) for row in self.rows()]

    @property
    def here(self) -> ReactorRow:
        row = self.screen.table.selected()
        assert row is not None
        return row

    def part(self, selector: str) -> str:
        return str(self.app.screen.query_one(selector, Static).content)

    @property
    def orders(self) -> list[object]:
        return [each for each in self.app.given if not isinstance(each, RequestQuote)]

    @property
    def asked(self) -> list[RequestQuote]:
        return [each for each in self.app.given if isinstance(each, RequestQuote)]

    @property
    def text(self) -> str:
        return "\n".join(strip.text for strip in strips_of(self.app.screen))

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def write(self, name: str, text: str) -> None:
        self.app.screen.query_one(f"#{name}", Input).value = text
        await self.pilot.pause()

    async def answer(self, average: float = 0.49, *, ok: bool = True, problem: str = "") -> None:
        """The service answers the newest question for a quote."""
        await until(self.pilot, lambda: bool(self.asked))
        asked = self.asked[-1]
        quote = QuoteView(
            asked.request_id,
            ok=ok,
            shares=Micros(round(asked.order.amount / average)),
            money=asked.order.amount,
            average=average,
            price_before=0.48,
            price_after=0.50,
            problem=problem,
        )
        self.app.bring(replace(self.app.state, quote=quote))
        await self.pilot.pause()

    async def confirm(self, key: str = "y") -> None:
        asked = self.app.screen
        assert isinstance(asked, Confirm | ChoosePolicy)
        await until(self.pilot, lambda: asked.is_armed)
        await self.press(key)
        await until(self.pilot, lambda: self.app.screen is not asked)


@asynccontextmanager
async def reactor(state: DeskState = STATE, size: tuple[int, int] = WIDE) -> AsyncGenerator[View]:
    app = Host(state, ReactorScreen)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        assert isinstance(app.front, ReactorScreen)
        yield View(pilot, app, app.front)


# -- the feed ---------------------------------------------------------------------------------


@pytest.mark.slow
async def test_the_feed_stands_in_the_order_in_which_the_desk_tells_it() -> None:
    async with reactor() as view:
        assert view.shown() == [one.signal_id for one in STATE.reactor.signals]


@pytest.mark.slow
async def test_a_row_says_who_bought_what_and_what_the_mirror_would_cost() -> None:
    async with reactor(TWO, HUGE) as view:
        text = view.text
        assert "Quiet Abacus" in text
        for words in ("mirror", "moved", "-2.0", "0.480", "✓ mirrored", "✗ failed", "? unknown"):
            assert words in text
        assert "51s" in text
        assert "2 signals pending, next expires in 40s" in text


@pytest.mark.slow
async def test_the_state_line_shows_sizes_and_how_much_of_the_day_is_used() -> None:
    async with reactor(size=HUGE) as view:
        line = view.part("#reactor-state")
        assert "● running" in line
        assert "mirror 10%, min 20, max 100 sh, +2%" in line
        assert "43.21 of 100.00 $" in line
        assert "1 of 5 failures in a row, then mirrors pause" in line


@pytest.mark.parametrize(
    ("cap", "spent", "words"),
    [
        (100, 0, "day ────────── 0.00 of 100.00 $"),
        (100, 50, "day ━━━━━───── 50.00 of 100.00 $"),
        (100, 100, "day ━━━━━━━━━━ 100.00 of 100.00 $"),
        (0, 0, "day ━━━━━━━━━━ 0.00 of 0.00 $"),
        (0, None, "day's cap 0.00 $"),
    ],
)
def test_the_part_of_the_day_that_is_used_up(cap: int, spent: int | None, words: str) -> None:
    state = with_reactor(
        config=replace(config(), daily_cap=Micros(cap * ONE)),
        day_spent=None if spent is None else Micros(spent * ONE),
    )
    assert words in state_text(ViewContext.of(state, NOW, 200)).plain


@pytest.mark.slow
async def test_a_signal_whose_time_passed_says_so_without_a_newer_state() -> None:
    async with reactor(TWO) as view:
        assert "○ expired" not in view.text
        view.app.bring(later_s=55.0)
        await view.pilot.pause()
        assert "· expired" in view.text
        await view.press("f")
        assert view.orders == []
        assert "signal expired" in view.app.said[-1]


@pytest.mark.slow
async def test_hostile_text_is_shown_as_plain_text_and_runs_nothing() -> None:
    strange = replace(CHEAP, question=HOSTILE, label=HOSTILE, detail=HOSTILE)
    async with reactor(with_signals(strange), HUGE) as view:
        text = view.text
        assert "[/red] [@click=app.quit]free money[/]" in text
        assert "\x1b" not in text
        assert "\u202e" not in text
        await view.press("enter", "escape", "l", "escape", "F", "escape")
        await view.pilot.click("#reactor-detail", offset=(12, 2))
        assert view.app.is_running


@pytest.mark.slow
@pytest.mark.parametrize("size", [SMALL, WIDE, HUGE])
async def test_absurd_figures_are_shown_and_break_nothing(size: tuple[int, int]) -> None:
    absurd = replace(
        CHEAP,
        size=Micros(10**15),
        amount=Micros(10**15),
        expires_at=Timestamp(NOW + 1e12),
        at=Timestamp(NOW + 1e9),
        market_id="m-nowhere",
        price_now=None,
    )
    async with reactor(with_signals(absurd), size) as view:
        for price in (1e-12, 0.999999, 1.0):
            view.app.bring(with_signals(replace(absurd, price=price, price_max=price)))
            await view.pilot.pause()
            assert len(view.rows()) == 1
            await view.press("j", "i")
            await view.press("escape")


# -- what is in front -------------------------------------------------------------------------


@pytest.mark.slow
async def test_the_filters_of_a_former_start_hide_signals_and_no_wallets() -> None:
    memory = ViewMemory(choices={"state": "waiting"})
    state = replace(TWO, preferences={**TWO.preferences, f"{VIEW}reactor": memory.to_text()})
    async with reactor(state) as view:
        waits = {SignalState.PENDING, SignalState.MIRRORING}
        signals = state.reactor.signals
        assert view.shown() == [key_of(one) for one in signals if one.state in waits]
        assert "only waiting" in view.text
        await view.press("o")
        assert len(view.rows()) == len(state.reactor.wallets())
        await view.press("o", "escape")
        assert len(view.rows()) == len(signals)


@pytest.mark.slow
async def test_a_wallet_in_the_list_of_wallets_leads_to_its_signals() -> None:
    async with reactor() as view:
        await view.press("o", "w")
        rows = view.rows()
        assert rows
        assert all(isinstance(row, SignalView) and row.wallet == WALLETS[0] for row in rows)


@pytest.mark.slow
async def test_search_takes_words_and_comparisons_of_the_feed() -> None:
    async with reactor(TWO) as view:
        await view.press("slash", *"amount:>0")
        assert len(view.rows()) == len(TWO.reactor.signals)
        await view.press("escape", "slash", *"drift:<-1")
        assert CHEAP.signal_id in view.shown()
        assert OTHER.signal_id not in view.shown()
        await view.press("escape", "slash", *"skipped")
        assert {row.state for row in view.rows() if isinstance(row, SignalView)} == {
            SignalState.SKIPPED
        }


@pytest.mark.slow
async def test_a_frozen_feed_keeps_its_rows_shows_their_ends_and_counts_what_came() -> None:
    async with reactor(TWO) as view:
        before = view.shown()
        await view.press("p")
        ended = replace(CHEAP, state=SignalState.MIRRORED, detail="bought")
        newer = waiting(3, STATE, age_s=1.0)
        view.app.bring(with_signals(newer, ended, OTHER))
        await view.pilot.pause()
        assert view.shown() == before
        first = view.rows()[0]
        assert isinstance(first, SignalView)
        assert first.state is SignalState.MIRRORED
        assert "frozen, 1 newer" in view.part("#reactor-filter")
        await view.press("p")
        assert view.shown() == [newer.signal_id, CHEAP.signal_id, OTHER.signal_id]


@pytest.mark.slow
async def test_new_signals_leave_the_cursor_on_its_own_row() -> None:
    async with reactor(TWO) as view:
        await view.press("j")
        assert view.here == OTHER
        many = tuple(waiting(10 + place, STATE, age_s=1.0) for place in range(30))
        view.app.bring(with_signals(*many, CHEAP, OTHER))
        await view.pilot.pause()
        assert view.here == OTHER
        await view.press("d")
        assert view.orders == [DismissSignal(OTHER.signal_id)]


@pytest.mark.slow
@pytest.mark.parametrize("key", ["f", "d", "F", "l", "e"])
async def test_a_key_for_a_signal_that_vanished_hits_no_other_row(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However long the machine takes from the loss of the row to the key.
    monkeypatch.setattr(cursor_loss, "DEAD_S", 60.0)
    async with reactor(TWO) as view:
        view.app.bring(with_signals(OTHER))
        await view.pilot.pause()
        await view.press(key)
        assert view.orders == []
        assert view.app.dialogs == []
        assert "nothing sent" in view.app.said[-1]


@pytest.mark.slow
async def test_200_signals_of_one_poll_are_all_shown_in_their_order() -> None:
    at = Timestamp(NOW - 1.0)
    told = tuple(
        replace(waiting(100 + place, STATE, wallet=place % 3), at=at, expires_at=Timestamp(at + 60))
        for place in range(200)
    )
    async with reactor(with_signals(CHEAP)) as view:
        await view.press("d")
        fact = SignalsSeen(NOW, (CHEAP, *told))
        view.app.bring(replace(TWO, reactor=reduce_reactor(view.app.state.reactor, fact)))
        await view.pilot.pause()
        newest_first = [one.signal_id for one in reversed(told)]
        assert view.shown() == [*newest_first, CHEAP.signal_id]
        # The signal that the person reads stays in hand: a key mirrors it and no newer one.
        assert view.screen.table.selected().signal_id == CHEAP.signal_id
        assert "201 signals pending" in view.part("#reactor-urgent")


# -- mirroring --------------------------------------------------------------------------------


@pytest.mark.slow
async def test_a_signal_is_previewed_and_mirrored_with_one_key() -> None:
    async with reactor(TWO) as view:
        await view.answer()
        asked = view.asked[-1].order
        assert (asked.market_id, asked.side, asked.amount) == (
            CHEAP.market_id,
            CHEAP.side,
            CHEAP.amount,
        )
        text = view.text
        assert "indicative quote" in text
        assert "above source" in text
        assert "f mirrors, d dismisses" in text
        await view.press("f")
        assert view.orders == [MirrorSignal(CHEAP.signal_id, CHEAP.question)]
        assert view.app.dialogs == []


@pytest.mark.slow
async def test_a_quote_is_requested_where_the_cursor_rests_and_renewed_by_time() -> None:
    async with reactor(TWO) as view:
        view.app.bring(TWO, later_s=0.1)
        assert "requesting quote" in view.text
        assert len(view.asked) == 1
        await view.press("j")
        await until(view.pilot, lambda: len(view.asked) == 2)
        assert [one.order.market_id for one in view.asked] == [CHEAP.market_id, OTHER.market_id]
        view.app.bring(TWO, later_s=30.0)
        await view.pilot.pause()
        assert len(view.asked) == 3
        view.app.bring(with_signals(replace(OTHER, state=SignalState.MIRRORED)), later_s=60.0)
        await view.press("o")
        assert len(view.asked) == 3, "nobody needs one of what has ended, nor of a wallet"


@pytest.mark.slow
async def test_a_mirror_is_clicked_masked_and_quoted_anew_for_another_amount() -> None:
    shown = formats.money(CHEAP.amount).plain
    async with reactor(TWO) as view:
        await view.press("f")
        form = view.app.screen
        assert isinstance(form, MirrorForm)
        await until(view.pilot, lambda: form.is_armed)
        await view.pilot.click("#form-set")
        assert "mirrors when quoted" in view.part("#form-hint")
        await view.press("escape")
        assert "mirrors when quoted" not in view.part("#form-hint")
        await view.answer()
        assert shown in view.part("#form-preview")
        view.app.bring(replace(view.app.state, preferences={"privacy": "on"}))
        assert shown not in view.part("#form-preview")
        more = replace(CHEAP, amount=Micros(CHEAP.amount + ONE))
        view.app.bring(replace(with_signals(more, OTHER), quote=view.app.state.quote))
        await until(view.pilot, lambda: view.asked[-1].order.amount == more.amount)
        assert view.orders == []


@pytest.mark.slow
async def test_a_signal_that_vanishes_under_its_dialog_cannot_be_mirrored() -> None:
    async with reactor(TWO) as view:
        await view.press("f")
        form = view.app.screen
        assert isinstance(form, MirrorForm)
        await view.answer()
        await until(view.pilot, lambda: form.is_armed)
        view.app.bring(with_signals(OTHER))
        await view.press("enter")
        assert view.orders == []
        assert "signal gone" in view.part("#form-problem")
        await view.press("escape")
        assert view.app.screen is not form


@pytest.mark.slow
async def test_a_signal_that_ends_under_its_dialog_says_how() -> None:
    async with reactor(TWO) as view:
        await view.press("f")
        form = view.app.screen
        assert isinstance(form, MirrorForm)
        await until(view.pilot, lambda: form.is_armed)
        gone = replace(CHEAP, state=SignalState.SKIPPED, detail="dismissed", ticket_id="x")
        view.app.bring(with_signals(gone, OTHER))
        await view.press("enter")
        assert "skipped, dismissed" in view.part("#form-problem")
        view.app.bring(TWO, later_s=60.0)
        await view.press("enter")
        assert view.orders == []
        assert "signal expired" in view.part("#form-problem")


@pytest.mark.parametrize(
    ("state", "detail", "words"),
    [
        (SignalState.PENDING, "anything", "signal expired"),
        (SignalState.FAILED, "", "failed"),
        (SignalState.FAILED, "no money", "failed, no money"),
    ],
)
def test_the_end_of_a_signal_is_told_in_a_few_words(
    state: SignalState, detail: str, words: str
) -> None:
    assert ended_text(replace(CHEAP, state=state, detail=detail)) == words


@pytest.mark.slow
async def test_real_money_wants_its_own_key_and_enter_does_nothing() -> None:
    live = replace(TWO, service=replace(TWO.service, mode=Mode.LIVE))
    async with reactor(live) as view:
        await view.answer()
        await view.press("f")
        form = view.app.screen
        assert isinstance(form, MirrorForm)
        await until(view.pilot, lambda: form.is_armed)
        await view.answer()
        await view.press("enter")
        assert view.orders == []
        assert "LIVE real money" in view.part("#form-about")
        assert view.part("#form-set") == "mirror  y"
        await view.press("y")
        assert view.orders == [MirrorSignal(CHEAP.signal_id, CHEAP.question)]


@pytest.mark.slow
async def test_keys_typed_ahead_mirror_nothing() -> None:
    async with reactor(TWO) as view:
        await view.pilot.press("f", "enter", "y")
        assert view.orders == []


@pytest.mark.slow
async def test_what_is_too_dear_or_refused_says_so_instead() -> None:
    dear = replace(CHEAP, price_now=0.60)
    async with reactor(with_signals(dear)) as view:
        await view.answer()
        assert "price above the limit" in view.text
        await view.press("f")
        assert view.app.dialogs == []
        assert "Price above the mirror's limit" in view.app.said[-1]
    async with reactor(TWO) as view:
        await view.answer(ok=False, problem="the market takes no orders now")
        assert "the market takes no orders now" in view.text
        await view.press("f")
        assert view.orders == []


@pytest.mark.slow
async def test_a_mirror_that_would_push_the_price_beyond_its_limit_is_off() -> None:
    tight = replace(CHEAP, price_max=0.495)
    async with reactor(with_signals(tight, OTHER)) as view:
        await view.answer()
        await view.press("f")
        form = view.app.screen
        assert isinstance(form, MirrorForm)
        await until(view.pilot, lambda: form.is_armed)
        await view.answer()
        assert "would push the price above its limit" in view.part("#form-problem")
        await view.press("enter")
        assert view.orders == []
        assert "It would buy nothing" in view.app.said[-1]


@pytest.mark.slow
async def test_a_mirror_that_becomes_too_dear_under_its_dialog_answers_enter() -> None:
    async with reactor(TWO) as view:
        await view.press("f")
        form = view.app.screen
        assert isinstance(form, MirrorForm)
        await until(view.pilot, lambda: form.is_armed)
        assert "enter" in view.part("#form-set")
        view.app.bring(with_signals(replace(CHEAP, price_now=0.60), OTHER))
        await view.pilot.pause()
        assert "enter" not in view.part("#form-set")
        assert "Price above the mirror's limit" in view.part("#form-problem")
        await view.press("enter")
        assert view.orders == []
        assert view.app.said[-1].startswith("nothing mirrored: Price above the mirror's limit")
        assert "loading" not in view.part("#form-hint")


# -- wallets ----------------------------------------------------------------------------------


@pytest.mark.slow
async def test_the_wallets_show_policy_statistics_and_their_own_record() -> None:
    async with reactor(size=HUGE) as view:
        await view.press("o")
        rows = [row for row in view.rows() if isinstance(row, SourceWalletView)]
        assert [row.is_followed for row in rows] == sorted(
            (row.is_followed for row in rows), reverse=True
        )
        text = view.text
        for words in ("● auto", "· off", "○ ask", "Vane [b]", "77% of 39", "slip pt", "+420.00"):
            assert words in text
        first = rows[0]
        assert first.tally.signals_count >= 31
        assert first.address in view.part(".detail-head")


@pytest.mark.slow
async def test_what_was_mirrored_is_measured_against_the_source() -> None:
    done = replace(
        signal(3, STATE),
        price=0.50,
        price_now=0.60,
        shares=Micros(100 * ONE),
        cost=Micros(52 * ONE),
        wallet=WALLETS[7],
        label="",
    )
    async with reactor(with_signals(done)) as view:
        row = view.screen.state.reactor.wallet(WALLETS[7])
        assert row.tally.mirrored_count == 1
        assert row.tally.slippage == pytest.approx(0.02)
        assert row.tally.pnl == 8 * ONE
        assert "+8.00" in view.text
        assert "+2.0" in view.text


@pytest.mark.slow
async def test_auto_is_authorised_with_its_caps_shown() -> None:
    async with reactor() as view:
        await view.press("o", "l")
        assert isinstance(view.app.screen, ChoosePolicy)
        text = view.text
        assert "auto mirrors without asking you" in text
        assert "100.00 shares" in text
        assert "SIM play money on sim" in text
        await view.press("enter")
        assert view.orders == []
        await view.press("l")
        await view.confirm("2")
        (order,) = view.orders
        assert order == SetWalletPolicy(WALLETS[0], Policy.AUTO, "Quiet Abacus")
        await view.press("u")
        assert view.orders[-1] == SetWalletPolicy(WALLETS[0], Policy.ASK, "Quiet Abacus")


# -- the config -------------------------------------------------------------------------------


@pytest.mark.slow
async def test_another_venue_is_chosen_and_told_to_be_real_money() -> None:
    async with reactor(with_reactor(choices={})) as view:
        await view.press("f2")
        view.app.screen.query_one("#reactor-venue").focus()
        await view.press("right")
        assert "A real venue: nothing is mirrored" in view.part("#form-hint")
        await view.press("ctrl+j")
        assert view.orders == [SetReactorConfig(venue=Venue.EVM)]


# -- on, off, breaker, plan -------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("embedded", [True, False])
async def test_a_plan_without_a_reactor_says_so_and_what_to_do(*, embedded: bool) -> None:
    bare = ReactorView(barred="the reactor needs the Pro plan; this agent is on Free [/red]")
    state = replace(STATE, reactor=bare, service=replace(STATE.service, embedded=embedded))
    for size in (SMALL, WIDE):
        async with reactor(state, size) as view:
            text = view.text
            assert "the reactor needs the Pro plan" in text
            assert "[/red]" in text
            wanted = "then P" if embedded else "on the service's dashboard"
            assert wanted in text
            for key in ("n", "E", "H", "f", "R"):
                await view.press(key)
            assert view.orders == []
            assert view.app.dialogs == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("state", "words"),
    [
        (with_reactor(signals=(), config=replace(config(), wallets=())), "No wallet followed"),
        (
            with_reactor(signals=(), config=replace(config(), enabled=False)),
            "Reactor off: no signals come",
        ),
        (with_signals(), "No signals"),
        (
            replace(STATE, reactor=ReactorView(), seen={Topic.MARKETS: NOW}),
            "Not loaded yet: reactor",
        ),
        (
            replace(
                with_signals(), service=replace(STATE.service, phase=Phase.OFFLINE, problem="gone")
            ),
            "cannot be reached: gone",
        ),
        (
            replace(
                with_signals(),
                service=replace(STATE.service, phase=Phase.UNAUTHORIZED, problem="bad key"),
            ),
            "refuses this key: bad key.",
        ),
    ],
)
async def test_an_empty_feed_says_why_and_what_to_do(state: DeskState, words: str) -> None:
    async with reactor(state, SMALL) as view:
        assert words in view.text


@pytest.mark.slow
async def test_old_news_of_the_reactor_says_how_old_it_is() -> None:
    async with reactor() as view:
        assert "STALE" not in view.text
        view.app.bring(later_s=9.0)
        await view.pilot.pause()
        assert "signals may have changed" in view.part("#reactor-urgent")


@pytest.mark.slow
async def test_what_of_a_listing_could_not_be_used_is_said() -> None:
    async with reactor(with_reactor(dropped=3, broken="no market [/x]")) as view:
        assert "3 signals of the last response are invalid: no market [/x]" in view.text


# -- the rest ---------------------------------------------------------------------------------


def explained(row: ReactorRow) -> dict[str, tuple[str, dict[str, str]]]:
    """Each figure of a row, with what it is made of."""
    return {
        one.name: (str(one.value), {name: str(value) for name, value in one.inputs})
        for one in explain_row(row, ViewContext.of(TWO, NOW))
    }


def test_the_figures_of_a_wallet_are_explained_by_what_they_are_made_of() -> None:
    tally = Tally(
        mirrored_count=3,
        spent=Micros(52 * ONE),
        shares=Micros(100 * ONE),
        source_cost=Micros(50 * ONE),
        pnl=Micros(8 * ONE),
    )
    row = replace(STATE.reactor.wallet(WALLETS[7]), tally=tally)
    assert explained(row) == {
        "P&L, $": ("+8.00", {"mirrored": "3", "spent, $": "52.00"}),
        "slippage, points": (
            "+2.0",
            {"spent, $": "52.00", "at the source's prices, $": "50.00", "shares": "100.00"},
        ),
    }


def test_the_figures_of_a_signal_are_explained_by_what_they_are_made_of() -> None:
    bought = replace(CHEAP, price=0.5, price_max=0.51, price_now=0.6, size=Micros(70 * ONE))
    bought = replace(bought, shares=Micros(100 * ONE), cost=Micros(52 * ONE))
    found = explained(bought)
    assert found["mirror, $"][1] == {"shares bought": "100.00"}
    assert found["price limit"] == ("0.510", {"source price": "0.500", "buffer": "2.00%"})
    assert found["moved, points"] == ("+10.0", {"price now": "0.600", "source price": "0.500"})
    assert found["P&L, $"] == (
        "+8.00",
        {
            "shares bought": "100.00",
            "cost, $": "52.00",
            "shares sold": "0.00",
            "brought, $": "0.00",
            "price now": "0.600",
        },
    )
    waits = explained(replace(bought, shares=Micros(0)))["mirror, $"][1]
    assert waits["source size"] == "70.00"
    assert waits["left of the day, $"] == "56.79"


async def test_a_signal_that_waits_for_a_person_needs_him_and_one_on_auto_does_not() -> None:
    found = [each for each in needs(TWO, NOW) if each.word == "signal"]
    assert {each.row for each in found} == {CHEAP.signal_id, OTHER.signal_id}
    auto = with_signals(replace(CHEAP, wallet=WALLETS[1]))
    assert not [each for each in needs(auto, NOW) if each.word == "signal"]


@pytest.mark.slow
async def test_a_wallet_with_a_past_and_no_signals_keeps_its_statistics() -> None:
    past = {WALLETS[8]: Tally(signals_count=4, skipped_count=4, last_at=NOW)}
    async with reactor(with_reactor(past=past)) as view:
        await view.press("o")
        assert any(
            isinstance(row, SourceWalletView) and row.tally.signals_count == 4
            for row in view.rows()
        )


@pytest.mark.parametrize(
    ("venue", "unit"), [(Venue.SIM, "$"), (Venue.EVM, "USDC.e"), (Venue.SOL, "USDC")]
)
def test_each_amount_has_the_unit_of_its_venue(venue: Venue, unit: str) -> None:
    config = STATE.reactor.config
    assert config is not None
    bought = replace(
        CHEAP, venue=venue, state=SignalState.MIRRORED, shares=Micros(10 * ONE), cost=Micros(ONE)
    )
    state = with_reactor(signals=(bought,), config=replace(config, venue=venue))
    view = ViewContext.of(state, NOW, 120)
    wallet = state.reactor.wallet(bought.wallet)
    labels = [one.name for row in (bought, wallet) for one in explain_row(row, view)]
    assert {label for label in labels if label.startswith(("mirror,", "P&L"))} == {
        f"mirror, {unit}",
        f"P&L, {unit}",
    }
    text = describe(bought, view, Preview()).body.plain
    assert f"for {unit}" in text
    assert f"P&L {unit}" in text
