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
from service_tui.console.forms.confirm_many import ConfirmMany
from service_tui.console.forms.explain import Explain
from service_tui.console.needs import needs
from service_tui.console.parts.view_memory import VIEW, ViewMemory
from service_tui.console.screens.reactor.detail import describe, explain_row, state_text
from service_tui.console.screens.reactor.forms import (
    ChoosePolicy,
    FollowForm,
    LabelForm,
    ReactorForm,
)
from service_tui.console.screens.reactor.mirror import MirrorForm, Preview, ended_text
from service_tui.console.screens.reactor.screen import ReactorScreen
from service_tui.console.screens.reactor.table import ReactorRow, key_of
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets import fall
from service_tui.console.widgets.banner import lasting_conditions
from service_tui.desk.commands.reactor import (
    DismissSignal,
    FollowWallet,
    LabelWallet,
    MirrorSignal,
    ResetBreaker,
    SetReactorConfig,
    SetWalletPolicy,
    UnfollowWallet,
)
from service_tui.desk.commands.trading import RequestQuote
from service_tui.desk.slices.halt import HaltView
from service_tui.desk.slices.quote import QuoteView
from service_tui.desk.slices.reactor import (
    BreakerView,
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
        for words in ("mirror", "drift", "-2.0", "0.480", "✓ mirrored", "✗ failed", "? unknown"):
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
async def test_the_state_key_narrows_the_feed_and_comes_round() -> None:
    async with reactor() as view:
        everything = view.shown()
        await view.press("c")
        assert {row.state for row in view.rows() if isinstance(row, SignalView)} == {
            SignalState.PENDING,
            SignalState.MIRRORING,
        }
        assert "only waiting" in view.part("#reactor-filter")
        await view.press("c")
        assert {row.state for row in view.rows() if isinstance(row, SignalView)} == {
            SignalState.MIRRORED
        }
        await view.press("c", "c", "c")
        assert view.shown() == everything


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
async def test_only_the_signals_of_one_wallet_are_shown_and_escape_brings_all_back() -> None:
    async with reactor() as view:
        first = view.here
        assert isinstance(first, SignalView)
        await view.press("w")
        assert {row.wallet for row in view.rows() if isinstance(row, SignalView)} == {first.wallet}
        await view.press("escape")
        assert len(view.rows()) == len(STATE.reactor.signals)


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
    # However long the machine takes from the fall of the cursor to the key.
    monkeypatch.setattr(fall, "DEAD_S", 60.0)
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
async def test_a_mirror_that_was_not_previewed_is_shown_first() -> None:
    async with reactor(TWO) as view:
        await view.press("f")
        form = view.app.screen
        assert isinstance(form, MirrorForm)
        await until(view.pilot, lambda: form.is_armed)
        await view.press("enter")
        assert view.orders == []
        assert "mirrors when quoted" in view.part("#form-hint")
        for key in ("enter", "escape"):
            await view.press(key)
            assert "mirrors when quoted" not in view.part("#form-hint"), key
            assert view.app.screen is form
            await view.press("enter")
        assert "mirrors when quoted" in view.part("#form-hint")
        await view.answer()
        assert view.orders == [MirrorSignal(CHEAP.signal_id, CHEAP.question)]


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
async def test_an_old_preview_of_another_signal_mirrors_nothing_at_once() -> None:
    async with reactor(TWO) as view:
        await view.answer()
        await view.press("j")
        await view.press("f")
        assert view.orders == []
        assert isinstance(view.app.screen, MirrorForm)


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


@pytest.mark.slow
async def test_a_mirror_that_cannot_be_says_why() -> None:
    barred = (
        (replace(TWO, service=replace(TWO.service, read_only=True)), "read-only"),
        (replace(TWO, service=replace(TWO.service, phase=Phase.OFFLINE)), "cannot be reached"),
        (replace(TWO, halt=HaltView(NOW)), "halted"),
        (
            with_reactor(TWO, breaker=BreakerView(5, 5, NOW, Timestamp(NOW + 3_000))),
            "breaker open. b resets it",
        ),
        (with_signals(replace(CHEAP, state=SignalState.MIRRORED)), "already mirrored"),
        (with_signals(replace(CHEAP, state=SignalState.FAILED)), "sent once only"),
        (with_signals(replace(CHEAP, state=SignalState.UNKNOWN)), "sent once only"),
    )
    async with reactor(TWO) as view:
        for state, words in barred:
            view.app.bring(state)
            await view.press("f")
            assert view.orders == [], words
            assert words in view.app.said.pop(), words
        assert view.app.dialogs == []


@pytest.mark.slow
async def test_all_that_waits_from_a_wallet_is_named_and_mirrored_oldest_first() -> None:
    async with reactor(TWO) as view:
        await view.press("F")
        asked = view.app.screen
        assert isinstance(asked, ConfirmMany)
        assert "2 signals" in view.text
        assert "play money" in view.text
        # One more comes while the question stands: it was not confirmed.
        view.app.bring(with_signals(waiting(4, STATE, age_s=0.0), CHEAP, OTHER))
        await view.press("enter")
        assert view.orders == []
        await view.press("g", "F")
        asked = view.app.screen
        assert isinstance(asked, ConfirmMany)
        view.app.bring(with_signals(waiting(5, STATE, age_s=0.0), *view.app.state.reactor.signals))
        await view.confirm()
        assert [one.signal_id for one in view.orders if isinstance(one, MirrorSignal)] == [
            OTHER.signal_id,
            CHEAP.signal_id,
            waiting(4, STATE).signal_id,
        ]


@pytest.mark.slow
async def test_marked_signals_are_mirrored_or_dismissed_together() -> None:
    async with reactor(TWO) as view:
        await view.press("space", "space", "f")
        assert isinstance(view.app.screen, ConfirmMany)
        await view.press("escape", "d")
        assert view.orders == [DismissSignal(CHEAP.signal_id), DismissSignal(OTHER.signal_id)]
        assert not view.screen.table.order.marked


@pytest.mark.slow
async def test_only_what_waits_can_be_dismissed() -> None:
    async with reactor(with_signals(replace(CHEAP, state=SignalState.MIRRORED))) as view:
        await view.press("d")
        assert view.orders == []
        assert "signal already mirrored" in view.app.said[-1]


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
async def test_a_known_wallet_is_chosen_by_a_part_of_its_name() -> None:
    async with reactor() as view:
        await view.press("n")
        assert isinstance(view.app.screen, FollowForm)
        await view.press(*"ferris", "tab", *"Mine")
        assert "Ferris Row" in view.part("#form-preview")
        assert "Tin Whistle" not in view.part("#form-preview")
        await view.press("enter")
        assert view.orders == [FollowWallet(WALLETS[7], "Mine")]
        await view.press("u")
        assert view.orders[-1] == UnfollowWallet(WALLETS[7], "Mine")


@pytest.mark.slow
async def test_arrows_choose_among_the_known_wallets() -> None:
    async with reactor() as view:
        await view.press("n", "down", "enter")
        (order,) = view.orders
        assert isinstance(order, FollowWallet)
        assert order.address in WALLETS[5:]
        assert order.label == ""
        assert order.describe() == f"follow {STATE.reactor.label_of(order.address)}"
        await view.press("n", "enter")
        assert order != view.orders[-1]


STRANGER = "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359"


@pytest.mark.slow
async def test_a_typed_address_is_followed_with_its_checksum() -> None:
    async with reactor() as view:
        ways = (STRANGER, STRANGER.lower(), f"  {STRANGER} ", f"0x{STRANGER[2:].upper()}")
        for count, typed in enumerate(ways, start=1):
            await view.press("n")
            await view.write("follow-address", typed)
            assert STRANGER in view.part("#form-preview"), typed
            await view.press("enter")
            assert view.orders == [FollowWallet(STRANGER, "")] * count, typed


@pytest.mark.slow
async def test_what_is_no_address_to_follow_is_refused_in_words() -> None:
    bad = {
        "0x12": "40 hex digits (2 given)",
        STRANGER[:-1]: "40 hex digits (39 given)",
        STRANGER.replace("fB69", "Fb69"): "Wrong checksum",
        "0x" + "g" * 40: "An address is 0x and 40 hex digits",
        WALLETS[0]: "already followed",
        "[/red][@click=app.quit]": "An address is 0x and 40 hex digits",
        WALLETS[0].lower(): "already followed",
    }
    said: dict[str, str] = {}
    async with reactor() as view:
        await view.press("n")
        for typed in bad:
            await view.write("follow-address", typed)
            await view.press("enter")
            said[typed] = view.part("#form-problem")
            assert view.orders == []
    assert {typed: one for typed, one in said.items() if bad[typed] not in one} == {}


@pytest.mark.slow
async def test_a_wallet_is_named_unfollowed_and_brought_back() -> None:
    async with reactor() as view:
        await view.press("o", "e")
        assert isinstance(view.app.screen, LabelForm)
        await view.press(*"abc", "enter")
        assert view.orders[-1] == LabelWallet(WALLETS[0], "abc")
        await view.press("u")
        assert view.orders[-1] == LabelWallet(WALLETS[0], "")
        await view.press("d")
        assert isinstance(view.orders[-1], UnfollowWallet)
        await view.press("u")
        assert view.orders[-1] == (back := FollowWallet(WALLETS[0]))
        assert view.orders[-1].describe() != back.describe()


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


@pytest.mark.slow
async def test_what_was_on_auto_is_never_brought_back_to_it_by_undo() -> None:
    async with reactor() as view:
        await view.press("o", "j", "l")
        await view.confirm("3")
        before = list(view.orders)
        await view.press("u")
        assert view.orders == before


# -- the config -------------------------------------------------------------------------------


@pytest.mark.slow
async def test_only_what_was_changed_is_sent_and_undo_brings_it_back() -> None:
    async with reactor(with_reactor(choices={})) as view:
        await view.press("f2")
        assert isinstance(view.app.screen, ReactorForm)
        assert "no change yet" in view.part("#form-problem")
        await view.write("reactor-fraction", "25")
        await view.write("reactor-cap", "250.5")
        assert "125.00 shares" not in view.part("#form-preview")
        assert "100.00" in view.part("#form-preview")
        await view.press("enter")
        changed = SetReactorConfig(mirror_fraction=0.25, daily_cap=Micros(250_500_000))
        assert view.orders == [changed]
        await view.press("u")
        assert view.orders[-1] == SetReactorConfig(
            mirror_fraction=config().mirror_fraction, daily_cap=config().daily_cap
        )


REFUSED = [
    ("fraction", "101", "0 to 100 percent"),
    ("fraction", "-1", "0 to 100 percent"),
    ("fraction", "nan", "0 to 100 percent"),
    ("fraction", "", "0 to 100 percent"),
    ("fraction", "1e2", "0 to 100 percent"),
    ("buffer", "20.1", "0 to 20 percent"),
    ("buffer", "inf", "0 to 20 percent"),
    ("cap", "-5", "enter 0 or more"),
    ("cap", "", "enter a figure"),
    ("cap", "1,000", "Not a number"),
    ("cap", "0.001", "At most 2 decimals"),
    ("min", "-0", "enter 0 or more"),
    ("max", "9" * 16, "Too large"),
    ("max", "[b]", "Not a number"),
]


@pytest.mark.slow
async def test_a_figure_out_of_its_range_is_refused_in_words() -> None:
    found: list[tuple[str, str, str]] = []
    async with reactor() as view:
        await view.press("f2")
        for line, typed, words in REFUSED:
            known = view.app.screen.query_one(f"#reactor-{line}", Input).value
            await view.write(f"reactor-{line}", typed)
            await view.press("enter")
            problem = view.part("#form-problem")
            found.append((line, typed, words if words in problem else problem))
            assert view.orders == []
            await view.write(f"reactor-{line}", known)
            assert "no change yet" in view.part("#form-problem")
    assert found == REFUSED


@pytest.mark.slow
async def test_zero_is_a_figure() -> None:
    async with reactor() as view:
        for line, typed in (("cap", "0"), ("min", "0.0"), ("fraction", "0")):
            await view.press("f2")
            await view.write(f"reactor-{line}", typed)
            await view.press("enter")
            assert len(view.orders) == 1, line
            view.app.given.clear()


@pytest.mark.slow
async def test_caps_of_a_wallet_on_auto_are_loosened_only_after_a_second_look() -> None:
    async with reactor() as view:
        await view.press("f2")
        await view.write("reactor-cap", "500")
        await view.press("enter")
        assert view.orders == []
        assert "1 wallet is on auto" in view.part("#form-problem")
        await view.press("escape", "escape", "f2")
        await view.write("reactor-cap", "50")
        await view.press("enter")
        assert view.orders == [SetReactorConfig(daily_cap=Micros(50 * ONE))]


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
async def test_stopping_asks_nothing_and_starting_asks() -> None:
    async with reactor() as view:
        await view.press("H")
        assert view.orders == [SetReactorConfig(enabled=False)]
    off = with_reactor(config=replace(config(), enabled=False))
    async with reactor(off) as view:
        assert "Reactor off" in view.part("#reactor-urgent")
        await view.press("H", "enter")
        assert view.orders == []
        await view.press("H")
        assert "1 on auto, mirrored" in view.text
        await view.confirm()
        assert view.orders == [SetReactorConfig(enabled=True)]


@pytest.mark.slow
async def test_an_open_breaker_counts_down_and_is_reset_after_a_question() -> None:
    until_then = Timestamp(NOW + 2_590)
    broken = with_reactor(breaker=BreakerView(5, 5, Timestamp(NOW - 1_010), until_then, 7))
    async with reactor(broken, HUGE) as view:
        line = view.part("#reactor-urgent")
        assert "breaker open, 43m 10s left. b resets it" in line
        assert "5 failures in a row, 7 signals skipped" in line
        view.app.bring(later_s=10.0)
        await view.pilot.pause()
        assert "43m 00s" in view.part("#reactor-urgent")
        assert "■ paused" in view.part("#reactor-state")
        await view.press("b", "enter")
        assert view.orders == []
        await view.press("b")
        await view.confirm()
        assert view.orders == [ResetBreaker()]
        view.app.bring(later_s=3_000.0)
        await view.pilot.pause()
        assert "● running" in view.part("#reactor-state")
        assert "breaker" not in view.part("#reactor-urgent")
    told = lasting_conditions(broken, NOW, started_at=NOW, closed="")
    assert "breaker" in [each.word for each in told]
    assert "breaker" in [each.word for each in needs(broken, NOW)]


@pytest.mark.slow
async def test_a_closed_breaker_has_nothing_to_reset() -> None:
    async with reactor() as view:
        await view.press("b")
        assert view.orders == []
        assert "breaker not open" in view.app.said[-1]


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


@pytest.mark.slow
async def test_masked_amounts_and_addresses_stand_nowhere() -> None:
    private = replace(TWO, preferences={"privacy": "on"})
    async with reactor(private, HUGE) as view:
        for keys in ((), ("o",), ("o", "l"), ("escape", "F")):
            await view.press(*keys)
            text = view.text
            for secret in ("43.21", WALLETS[0][:6], f"{CHEAP.amount / ONE:.2f}"):
                assert secret not in text


@pytest.mark.slow
async def test_numbers_are_explained_and_a_row_is_copied() -> None:
    async with reactor(TWO) as view:
        await view.press("i")
        assert isinstance(view.app.screen, Explain)
        assert "source price x (1 + buffer)" in view.text
        await view.press("escape", "Y")
        assert CHEAP.tx_hash in view.app.copied[-1]
        await view.press("o", "i")
        assert isinstance(view.app.screen, Explain)
        await view.press("escape", "y")
        assert view.app.copied[-1] == WALLETS[0]


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
    assert found["drift, points"] == ("+10.0", {"price now": "0.600", "source price": "0.500"})
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


@pytest.mark.slow
@pytest.mark.parametrize("size", [(60, 18), (70, 20), (250, 70), (50, 14)])
async def test_it_lives_at_every_size(size: tuple[int, int]) -> None:
    async with reactor(size=size) as view:
        await view.press("j", "enter", "escape", "o", "j", "enter", "escape", "o")
        assert view.rows()


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
