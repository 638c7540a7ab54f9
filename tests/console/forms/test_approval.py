"""The dialog of a waiting trade: what it says, what stays in sight, and how it is answered."""

from dataclasses import replace

import pytest
from textual import events

from kit.console.doors import RecordingDoors, Running, running, seen_before
from kit.console.opened import opened
from kit.console.painted import strips_of
from kit.samples.desk import NOW, sample_state
from kit.samples.fleet import fleet_state, leash_of, pending_trade_of, sample_supervision
from service_tui.console.forms.approval import (
    GONE,
    NEXT,
    NEXT_S,
    ApprovalForm,
    exact_text,
    over_means,
    real_question,
    why_text,
)
from service_tui.console.forms.confirm import Confirm
from service_tui.console.key_queue import REST_S
from service_tui.console.shell.approval_pages import TYPED_AHEAD
from service_tui.console.shell.command_sender import DECIDED_S, CommandSender
from service_tui.console.signs import signs_text
from service_tui.console.widgets.light_button import LightButton
from service_tui.console.widgets.plain_input import PlainInput
from service_tui.console.widgets.text_block import TextBlock
from service_tui.desk.commands.agents import ApproveTrade, RefuseTrade
from service_tui.desk.commands.halt import Halt
from service_tui.desk.slices.agents import VenueMoneyView
from service_tui.desk.slices.notices import Notice, NoticeKind
from service_tui.desk.slices.supervision import LeashView, OtherSideView, PendingTradeView
from service_tui.desk.state import DeskState
from service_tui.terms import Action, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

FULL = replace(seen_before(sample_state()), supervision=sample_supervision())
ROOM = leash_of(budget=None)


def waiting(pending: PendingTradeView) -> DeskState:
    return replace(
        FULL, supervision=replace(FULL.supervision, leashes=(ROOM,), pending_trades=(pending,))
    )


def given(seen: Running, kind: type) -> list[object]:
    return [command for command in seen.doors.submitted if isinstance(command, kind)]


def told(seen: Running, part: str) -> str:
    return str(seen.app.screen.query_one(part, TextBlock).render())


def screen_text(seen: Running) -> str:
    strips = strips_of(seen.app.screen)
    return "\n".join(strip.text for strip in strips)


@pytest.mark.slow
async def test_a_refusal_asks_for_its_reason_and_enter_sends_it() -> None:
    async with running(waiting(pending_trade_of())) as seen:
        await seen.press("ampersand", "f4")
        assert isinstance(seen.app.screen, ApprovalForm)
        assert given(seen, RefuseTrade) == []
        assert "refuse  enter" in screen_text(seen)
        await seen.press("n", "o", "enter")
        (order,) = given(seen, RefuseTrade)
        assert (order.pending_id, order.reason) == ("h1", "no")
        assert given(seen, ApproveTrade) == []


@pytest.mark.slow
async def test_the_worst_price_is_offered_and_what_is_typed_leaves() -> None:
    pending = pending_trade_of(
        asked=0.4, other_side=(OtherSideView("a-9", "moss", Micros(30_210_000)),)
    )
    async with running(waiting(pending)) as seen:
        await seen.press("ampersand")
        shown = screen_text(seen)
        assert "not above" in shown
        assert "moss holds NO 30.21" in shown
        bound = seen.app.screen.query_one("#approval-bound", PlainInput)
        assert bound.value == "0.408"
        # The price of now is beyond it: that is said at once, and no enter sends.
        problem = 'Price 0.420 is beyond 0.408: nothing would be traded. Change "not above"'
        assert told(seen, "#form-problem").startswith(problem)
        assert "Approval buys" not in shown
        await seen.press("enter", "enter")
        assert given(seen, ApproveTrade) == []
        await seen.press("tab", "ctrl+u", *"0.47")
        assert "not above 0.47 on average" in screen_text(seen)
        await seen.press("enter")
        (order,) = given(seen, ApproveTrade)
        assert (order.not_above, order.amount) == (0.47, None)


@pytest.mark.slow
async def test_a_decision_brings_the_next_trade_and_no_key_falls_behind() -> None:
    first, second = pending_trade_of("h1"), pending_trade_of("h2", question="the second one")
    both = replace(
        FULL, supervision=replace(FULL.supervision, leashes=(ROOM,), pending_trades=(first, second))
    )
    async with running(both, first="portfolio") as seen:
        # Enter twice, and keys of the screen behind, as quickly as they can be typed.
        await seen.press("ampersand", "enter")
        for key in ("enter", "enter", "x", "2"):
            seen.app.post_message(events.Key(key, key if len(key) == 1 else None))
        await seen.until(lambda: "the second one" in told(seen, "#form-question"))
        assert [one.pending_id for one in given(seen, ApproveTrade)] == ["h1"]
        assert isinstance(seen.app.screen, ApprovalForm)
        assert "the second one" in told(seen, "#form-question")
        assert seen.app.front.name_in_keys == "approvals"
        # A first enter, once a person has had time to see it, decides nothing.
        button = seen.app.screen.query_one("#form-set", LightButton)
        await seen.until(lambda: not button.disabled)
        assert (told(seen, "#form-problem"), "decide" in screen_text(seen)) == (NEXT, True)
        await seen.press("enter")
        assert [one.pending_id for one in given(seen, ApproveTrade)] == ["h1"]
        assert NEXT not in told(seen, "#form-problem")
        amount = seen.app.screen.query_one("#approval-amount", PlainInput)
        assert amount.value == exact_text(second.amount)
        await seen.press("f4", "enter")
        assert [one.pending_id for one in given(seen, RefuseTrade)] == ["h2"]
        await seen.until(lambda: not isinstance(seen.app.screen, ApprovalForm))
        await seen.pilot.pause(REST_S)
        # What was decided a moment ago does not come back while the service has not told.
        await seen.press("ampersand")
        assert not isinstance(seen.app.screen, ApprovalForm)
        assert any("no approvals pending" in one for one in seen.toasts)


def decided_of(*notices: Notice, at: float = 1.0) -> int:
    """How many trades wait when one was approved, and the desk then says this."""
    outbox, state = CommandSender(), waiting(pending_trade_of("h1"))
    outbox.open(RecordingDoors(state))
    outbox.give(ApproveTrade("h1", "buy YES"), state, NOW)
    later = replace(state, notices=(*state.notices, *notices))
    return len(outbox.laid_over(later, Timestamp(NOW + at)).supervision.pending_trades)


def test_a_trade_whose_decision_failed_waits_again_at_once() -> None:
    after = 1 + max((one.notice_id for one in FULL.notices), default=0)
    assert decided_of() == 0
    assert decided_of(Notice(after, "good", "approve: buy YES", NoticeKind.APPROVAL)) == 0
    other = Notice(after, "warn", "an agent asks: buy NO", NoticeKind.APPROVAL)
    assert decided_of(other) == 0
    assert decided_of(Notice(after, "bad", "approve: buy YES: 503", NoticeKind.APPROVAL)) == 1
    assert decided_of(other, Notice(after + 1, "warn", "approve: buy YES: read-only")) == 1
    assert decided_of(Notice(after - 1, "bad", "approve: buy YES: 503")) == 0
    assert decided_of(at=DECIDED_S) == 1


def pressed(*keys: str) -> list[events.Key]:
    """Keys as a terminal reads them, all pressed now."""
    return [events.Key(key, key if len(key) == 1 else None) for key in keys]


def hand_over(seen: Running, keys: list[events.Key]) -> None:
    """Keys as a terminal hands them over: nobody waits between two."""
    for key in keys:
        seen.app.post_message(key)


@pytest.mark.slow
async def test_the_keys_behind_the_last_decision_are_refused_and_say_so() -> None:
    async with running(waiting(pending_trade_of()), first="portfolio") as seen:
        late = pressed("2", "x", "b")
        hand_over(seen, pressed("ampersand", "enter", "2", "x"))
        await seen.until(lambda: not isinstance(seen.app.screen, ApprovalForm))
        # However late they come, these were typed for the dialog.
        await seen.pilot.pause(2 * REST_S)
        hand_over(seen, late)
        await seen.pilot.pause()
        assert len(seen.app.screen_stack) == 1
        assert seen.app.front.name_in_keys == "portfolio"
        assert [one for one in seen.toasts if TYPED_AHEAD in one] == [f"! {TYPED_AHEAD}"]
        # The world runs on, and a moment later the keys are for what stands there.
        await seen.pilot.pause(REST_S)
        await seen.press("2")
        assert seen.app.front.name_in_keys == "markets"


@pytest.mark.slow
async def test_what_ends_something_is_refused_at_no_moment() -> None:
    state = waiting(pending_trade_of())
    at_rest = replace(state, supervision=replace(state.supervision, runs=()))
    async with running(at_rest, first="portfolio") as seen:
        await seen.press("ampersand", "enter")
        await seen.press("f9")
        assert given(seen, Halt)
        await seen.press("ctrl+q")
        assert seen.app.return_code == 0


@pytest.mark.slow
async def test_a_dialog_that_closes_by_itself_leaves_its_keys_to_nobody() -> None:
    state = waiting(pending_trade_of())
    async with running(state, first="portfolio") as seen:
        await seen.press("ampersand")
        # The deadline, or somebody else, decides while an amount is typed.
        late = pressed("2", "0", "enter")
        await seen.bring(replace(state, supervision=replace(state.supervision, pending_trades=())))
        hand_over(seen, late)
        await seen.pilot.pause()
        assert seen.app.front.name_in_keys == "portfolio"
        assert given(seen, ApproveTrade) == []
        assert any(GONE in one for one in seen.toasts)


@pytest.mark.slow
async def test_a_click_that_leads_back_asks_for_nothing_and_loses_nothing() -> None:
    async with running(waiting(pending_trade_of())) as seen:
        await seen.press("ampersand", "f4", *"thin")
        form = seen.app.screen
        await seen.pilot.click("#form-cancel")
        assert seen.app.screen is form
        assert "again" not in told(seen, "#form-problem")
        await seen.press("escape")
        assert seen.app.screen is form
        assert "again" in told(seen, "#form-problem")


@pytest.mark.slow
@pytest.mark.parametrize("size", [(60, 18), (80, 24)])
async def test_however_much_an_agent_says_the_answers_stay_in_sight(size: tuple[int, int]) -> None:
    long = pending_trade_of(
        reasoning="the river rises. " * 200,
        question="Will it rain on every one of the " + "very " * 40 + "many days?",
        signal_data={f"gauge_{place}": 0.25 for place in range(60)},
    )
    async with running(waiting(long), size=size) as seen:
        await seen.press("ampersand")
        for words in ("approve  enter", "refuse  F4", "later  esc", "25.00", "then refused"):
            assert words in screen_text(seen)
        body = seen.app.screen.query_one("#form-body")
        await seen.press("pagedown")
        assert body.scroll_y > 0
        assert body.max_scroll_y > body.scroll_y
        await seen.press("pageup")
        assert body.scroll_y == 0
        await seen.press("f4")
        for words in ("Refuse this trade?", "refuse  enter", "back  esc", "reason"):
            assert words in screen_text(seen)


def test_a_probability_says_whose_it_is_and_a_reference_fills_no_line() -> None:
    signs = {"client_ref": "17db4e0f", "probability": 0.5634, "tx_hash": "0x" + "ab" * 32}
    pending = pending_trade_of(side=Side.NO, price=0.425, signal_data=signs)
    said = why_text(pending, waiting(pending)).plain
    assert "probability of YES: 0.5634" in said
    # 1 - 0.5634 - 0.425
    assert "NO price 0.425, edge now +1.2 pt" in said
    assert "17db4e0f" not in said
    assert "tx_hash: 0xabab…abab" in said
    assert (
        signs_text({"edge": 0.06, "note": "a"}, ("note", "edge", "gone"))
        == "note: a, edge: +6.0 pt"
    )


def test_the_means_are_those_of_the_venue() -> None:
    pending = pending_trade_of(venue=Venue.EVM)
    zero = Micros(0)
    money = VenueMoneyView(Venue.EVM, Micros(30 * ONE), zero, zero, zero, 0, 0)
    fleet = FULL.fleet
    agents = tuple(replace(one, venues=(money,)) for one in fleet.agents)
    state = replace(waiting(pending), fleet=replace(fleet, agents=agents))
    assert over_means(pending, Micros(30 * ONE), state) == ""
    assert over_means(pending, Micros(31 * ONE), state) == (
        "Above the 30.00 USDC.e of heron on evm_venue"
    )
    assert over_means(pending_trade_of(agent_id="nobody"), Micros(31 * ONE), state) == ""
    assert pending.left_s(NOW) > 0


@pytest.mark.slow
async def test_masked_amounts_stay_masked_in_the_dialog() -> None:
    pending = pending_trade_of(amount=Micros(137_250_000), reasoning="worth 418.50 to me")
    leash = leash_of(budget=Micros(613 * ONE), spent=Micros(321 * ONE))
    shown = waiting(pending)
    state = replace(
        shown,
        supervision=replace(shown.supervision, leashes=(leash,)),
        preferences={**shown.preferences, "privacy": "on"},
    )
    async with running(state, size=(120, 40)) as seen:
        await seen.press("ampersand")
        assert isinstance(seen.app.screen, ApprovalForm)
        for amount in ("137", "418", "613", "321"):
            assert amount not in screen_text(seen)
        # A size above the limits is refused without naming them.
        await seen.press(*"9999999", "enter")
        assert given(seen, ApproveTrade) == []
        assert "613" not in screen_text(seen)
        # An empty line is the requested amount.
        await seen.press("ctrl+u", "enter")
        (order,) = given(seen, ApproveTrade)
        assert isinstance(order, ApproveTrade)
        assert order.amount is None


FLEET = fleet_state()
BUY, SALE = pending_trade_of(), pending_trade_of("h5", action=Action.SELL, shares=Micros(12 * ONE))


def leashed(*leashes: LeashView, pending: tuple[PendingTradeView, ...] = (BUY,)) -> DeskState:
    return replace(
        FLEET, supervision=replace(FLEET.supervision, pending_trades=pending, leashes=leashes)
    )


def agents_with(**changes: object) -> DeskState:
    assert FLEET.fleet is not None
    return replace(FLEET, fleet=replace(FLEET.fleet, agents=[
        replace(one, **changes) if one.agent_id == "a-2" else one for one in FLEET.fleet.agents
    ]))  # fmt: skip


def test_a_buy_may_spend_the_cash_of_its_agent_and_its_limit_to_the_last_cent() -> None:
    state = agents_with(cash=Micros(30 * ONE))
    assert over_means(BUY, Micros(30 * ONE), state) == ""
    assert over_means(BUY, Micros(30 * ONE + 1), state) == "Above the 30.00 $SIM cash of heron"
    # What is approved with it spends first, of this agent and this venue alone.
    before = [
        BUY,
        SALE,
        pending_trade_of("h7", agent_id="a-3"),
        pending_trade_of("h8", venue=Venue.EVM),
    ]
    assert over_means(BUY, Micros(5 * ONE), state, before) == ""
    assert over_means(BUY, Micros(6 * ONE), state, before) == "Above the 5.00 $SIM cash of heron"
    over = over_means(BUY, Micros(ONE), state, [BUY, BUY])
    assert over == "Above the 0.00 $SIM cash of heron"
    rich = agents_with(cash=Micros(10_000 * ONE))
    assert over_means(BUY, Micros(500 * ONE), rich) == ""
    assert over_means(BUY, Micros(501 * ONE), rich) == "Above the 500.00 $SIM limit per trade"
    real = replace(BUY, venue=Venue.EVM)
    over = over_means(real, Micros(101 * ONE), agents_with(venues=()))
    assert over == "Above the 100.00 USDC.e limit per trade"


@pytest.mark.slow
async def test_the_dialog_for_real_money_has_the_order_that_is_approved() -> None:
    trade = replace(BUY, venue=Venue.EVM, side=Side.NO, price_limit=0.45)
    for amount, shown in ((None, "25.00"), (Micros(7 * ONE), "7.00")):
        async with opened(
            Confirm(real_question(trade, ApproveTrade("h1", "x", amount), FLEET))
        ) as t:
            for words in ("buy NO", shown, "at most", "0.450", "evm_venue", "heron"):
                assert words in t.text
            assert ("25.00" in t.text) is (amount is None)


@pytest.mark.slow
async def test_what_cannot_be_approved_now_says_why_and_bars_the_way() -> None:
    real = replace(BUY, venue=Venue.EVM)
    elsewhere = replace(FLEET.service, embedded=False)
    barred = replace(
        leashed(pending=(real,)), service=elsewhere, wallet=replace(FLEET.wallet, live=False)
    )
    async with opened(ApprovalForm(barred, NOW, real), barred) as t:
        assert t.told("form-problem").startswith("Live trading is off. Turn it on in Wallet")
        assert "for USDC.e" in t.text
        assert t.is_off("form-set")
        await t.bring(replace(barred, wallet=replace(FLEET.wallet, live=True)))
        assert not t.is_off("form-set")
    state = leashed(leash_of(budget=Micros(100 * ONE), spent=Micros(80 * ONE)))
    async with opened(ApprovalForm(state, NOW, BUY), state) as t:
        assert "for $SIM" in t.text
        assert t.told("form-problem").startswith("Over the daily budget of the agent: 80.00 of 100")
        await t.type("approval-amount", "20")
        assert not t.is_off("form-set")
        assert t.told("form-preview").startswith("4m 20s left, then refused")
        await t.bring(state, later_s=259.0)
        assert not t.is_off("form-set")
        await t.bring(state, later_s=1.0)
        assert t.told("form-problem") == "Approval expired. Trade refused"
        await t.press("enter", "f4", "f4")
        assert t.returned == []
    async with opened(ApprovalForm(state, NOW, BUY), state) as t:
        await t.type("approval-amount", "20")
        newer = replace(BUY, question="Will it snow?")
        await t.bring(
            replace(state, supervision=replace(state.supervision, pending_trades=(newer, SALE)))
        )
        assert "Will it snow?" in t.told("form-question")
        assert "1 more pending" in t.told("form-preview")
        await t.press("enter")
        assert t.returned[0].amount == 20 * ONE


@pytest.mark.slow
@pytest.mark.parametrize(("trade", "focus"), [(BUY, "approval-amount"), (SALE, "form-set")])
async def test_a_trade_that_follows_takes_a_key_only_to_unlock_it(
    trade: PendingTradeView, focus: str
) -> None:
    state = leashed(pending=(trade,))
    async with opened(ApprovalForm(state, NOW, trade, is_next=True, refuse=True), state) as t:
        await t.press("enter", "f4")
        assert (t.returned, t.told("form-problem"), t.is_off("form-set")) == ([], NEXT, True)
        await t.pilot.pause(1.5 * NEXT_S)
        assert (t.told("form-set"), t.focused) == ("decide  enter", "form-set")
        await t.press("enter")
        assert (t.returned, t.focused, t.told("form-set")) == ([], focus, "approve  enter")
        # The key that refuses opens the line for a reason, from which an escape leads back.
        await t.press("f4")
        assert "Refuse this trade?" in t.text
        assert "Nothing is traded. heron receives the reason." in t.told("form-preview")
        await t.press("escape")
        assert (t.focused, "Approve this trade?" in t.text) == (focus, True)
        await t.press("f4", *"no", "f4")
        assert [(one.pending_id, one.reason) for one in t.returned] == [(trade.pending_id, "no")]


@pytest.mark.slow
@pytest.mark.parametrize(("words", "is_long"), [("it rains. ", False), ("it rains. " * 300, True)])
async def test_the_key_that_reads_on_is_named_where_there_is_more(
    words: str,
    is_long: bool,  # noqa: FBT001
) -> None:
    async with running(waiting(pending_trade_of(reasoning=words)), size=(120, 40)) as seen:
        await seen.press("ampersand")
        await seen.until(lambda: ("PgDn read on" in screen_text(seen)) is is_long)
        assert "F4 refuse" in screen_text(seen)
