"""What each key does to a waiting trade, without an app."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from kit.console.unopened import Unopened, unopened
from kit.samples.desk import NOW
from kit.samples.fleet import fleet_state, held_of, leash_of
from service_tui.console.forms import approval
from service_tui.console.forms.approval import (
    GONE,
    NEXT,
    NEXT_S,
    ApprovalForm,
    is_real,
    over_budget,
    over_means,
    real_question,
    why_text,
)
from service_tui.console.reasons import without_amounts
from service_tui.desk.commands.agents import ApproveHeld, RefuseHeld
from service_tui.desk.slices.supervision import HeldView, LeashView, approval_text
from service_tui.desk.state import DeskState
from service_tui.terms import Action, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

STATE = fleet_state()
BUY = held_of()
SALE = held_of("h5", action=Action.SELL, shares=Micros(12 * ONE))
Approval = Unopened[ApprovalForm]


def waiting(*held: HeldView, leashes: tuple[LeashView, ...] = (), **other: Any) -> DeskState:
    view = replace(STATE.supervision, held=held, leashes=leashes)
    return replace(STATE, supervision=view, **other)


@contextmanager
def asked(
    trade: HeldView = BUY, state: DeskState | None = None, **given: Any
) -> Iterator[Approval]:
    with unopened(ApprovalForm(state or waiting(trade), NOW, trade, **given)) as seen:
        yield seen


def test_enter_approves_a_buy_as_it_was_asked_for() -> None:
    with asked() as t:
        assert t.line("approval-amount").value == "25.00"
        assert t.text("form-set") == "approve  enter"
        assert t.text("form-cancel") == "later  esc"
        t.submit("approval-amount")
        assert t.returned == [ApproveHeld("h1", approval_text(BUY), None)]


@pytest.mark.parametrize(
    ("typed", "amount"),
    [("24", 24 * ONE), ("25", None), ("25.00", None), (" 25.00 ", None), ("0.01", 10_000)],
)
def test_a_size_that_is_typed_is_approved_and_the_same_one_is_none(
    typed: str, amount: int | None
) -> None:
    with asked() as t:
        t.type("approval-amount", typed)
        t.submit("approval-amount")
        assert t.returned == [ApproveHeld("h1", approval_text(BUY), amount and Micros(amount))]


@pytest.mark.slow
@pytest.mark.parametrize("masked", [True, False])
def test_a_typed_size_beyond_the_means_is_refused_and_names_no_masked_amount(
    *, masked: bool
) -> None:
    state = replace(waiting(BUY), preferences={"privacy": "on" if masked else "off"})
    over = over_means(BUY, Micros(9_000_000 * ONE), state)
    assert over
    assert over_means(BUY, BUY.amount, state) == ""
    with asked(state=state) as t:
        t.type("approval-amount", "9000000")
        t.submit("approval-amount")
        assert t.returned == []
        assert t.text("form-problem") == without_amounts(over, masked=masked)
        assert any(letter.isdigit() for letter in t.text("form-problem")) is not masked


def test_a_sale_has_no_size_and_is_approved_by_its_button() -> None:
    with asked(SALE) as t:
        assert len(t.form.query("#approval-amount")) == 0
        assert "Approval sells the shares." in t.text("form-preview")
        t.press("form-set")
        assert t.returned == [ApproveHeld("h5", approval_text(SALE), None)]


def test_a_refusal_opens_the_line_for_its_reason_and_then_sends_it() -> None:
    for give in (lambda t: t.form.action_refuse(), lambda t: t.press("approval-refuse")):
        with asked() as t:
            give(t)
            assert (t.returned, t.focused) == ([], ["approval-reason"])
            assert (t.text("form-set"), t.text("form-cancel")) == ("refuse  enter", "back  esc")
            assert str(t.form.query_one("#form").border_title).strip() == "Refuse this trade?"
            assert t.form.has_class("-refusing")
            assert "Nothing is traded. heron receives the reason." in t.text("form-preview")
            t.type("approval-reason", " too thin ")
            give(t)
            assert t.returned == [RefuseHeld("h1", approval_text(BUY), "too thin")]


@pytest.mark.parametrize(("trade", "focus"), [(BUY, "approval-amount"), (SALE, "form-set")])
def test_an_escape_leads_back_from_the_refusal_and_then_leaves_the_trade_waiting(
    trade: HeldView, focus: str
) -> None:
    with asked(trade) as t:
        t.form.action_refuse()
        t.form.action_cancel()
        assert (t.returned, t.focused[-1]) == ([], focus)
        assert (t.text("form-set"), t.text("form-cancel")) == ("approve  enter", "later  esc")
        assert str(t.form.query_one("#form").border_title).strip() == "Approve this trade?"
        assert not t.form.has_class("-refusing")
        t.form.action_cancel()
        assert t.returned == [None]


def test_it_can_begin_at_the_reason_of_a_refusal() -> None:
    with asked(refuse=True) as t:
        assert t.form.has_class("-refusing")
        t.submit("approval-reason")
        assert t.returned == [RefuseHeld("h1", approval_text(BUY), "")]


@pytest.mark.parametrize(("trade", "focus"), [(BUY, "approval-amount"), (SALE, "form-set")])
def test_a_trade_that_opens_by_itself_takes_no_key_for_a_moment_and_then_one_to_unlock(
    trade: HeldView, focus: str
) -> None:
    with asked(trade, is_next=True, refuse=True) as t:
        assert [wait.seconds for wait in t.waits] == [NEXT_S]
        assert (t.text("form-problem"), t.text("form-set")) == (NEXT, "decide  enter")
        assert t.is_disabled("form-set")
        assert all(line.disabled for line in t.form.query("PlainInput"))
        t.press("form-set")
        t.form.action_refuse()
        assert (t.returned, t.focused, t.text("form-problem")) == ([], [], NEXT)
        t.end_waits()
        assert (t.is_disabled("form-set"), t.focused) == (False, ["form-set"])
        t.press("form-set")
        assert (t.returned, t.focused[-1]) == ([], focus)
        assert (t.text("form-problem"), t.text("form-set")) == ("", "approve  enter")
        assert not any(line.disabled for line in t.form.query("PlainInput"))
        t.press("form-set")
        assert [one.held_id for one in t.returned] == [trade.held_id]


def test_the_refusing_key_unlocks_such_a_trade_and_opens_the_reason() -> None:
    with asked(is_next=True) as t:
        t.end_waits()
        t.form.action_refuse()
        assert (t.returned, t.form.has_class("-refusing")) == ([], True)
        t.form.action_refuse()
        assert isinstance(t.returned[0], RefuseHeld)


def test_a_trade_that_is_decided_elsewhere_closes_once_and_rests_the_keys(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rested: list[str] = []
    monkeypatch.setattr(approval, "rest_keys", lambda _, why: rested.append(why))
    with asked() as t:
        t.form.take(waiting(held_of("h2")), NOW)
        t.form.take(waiting(), NOW)
        assert (t.returned, rested) == ([None], [GONE])
    rested.clear()
    with asked() as t:
        t.submit("approval-amount")
        t.form.take(waiting(), NOW)
        assert (len(t.returned), rested) == (1, [])


def test_the_trade_is_shown_as_it_is_now() -> None:
    with asked() as t:
        t.form.take(waiting(replace(BUY, question="Will it snow?"), held_of("h2")), NOW)
        assert "Will it snow?" in t.text("form-question")
        assert "1 more pending" in t.text("form-preview")


def test_the_time_left_is_shown_and_over_it_nothing_is_sent() -> None:
    with asked() as t:
        assert t.text("form-preview").startswith("4m 20s left, then refused")
        t.form.take(waiting(BUY), Timestamp(NOW + 259))
        assert not t.is_disabled("form-set")
        t.form.take(waiting(BUY), Timestamp(NOW + 260))
        assert t.text("form-problem") == "Approval expired. Trade refused"
        t.submit("approval-amount")
        t.form.action_refuse()
        t.form.action_refuse()
        assert t.returned == []


def test_the_preview_says_what_an_approval_buys_at_which_price() -> None:
    with asked() as t:
        assert "Approval buys for 25.00 $SIM on sim at about 0.420 per share, within" in t.text(
            "form-preview"
        )
        t.type("approval-amount", "1.5")
        assert "buys for 1.50 $SIM" in t.text("form-preview")
        t.type("approval-amount", "x")
        assert "buys" not in t.text("form-preview")
    with asked(replace(BUY, average=None)) as t:
        assert "on sim, within all limits" in t.text("form-preview")


def test_masked_amounts_are_asked_for_by_an_empty_line() -> None:
    trade = replace(BUY, amount=Micros(137_250_000), reasoning="worth 412.50 to me")
    with asked(trade, waiting(trade, preferences={"privacy": "on"})) as t:
        line = t.line("approval-amount")
        assert (line.value, line.placeholder) == ("", "as requested")
        for part in ("form-question", "approval-why", "form-preview"):
            assert "137" not in t.text(part)
            assert "412" not in t.text(part)
        t.submit("approval-amount")
        assert t.returned == [ApproveHeld("h1", approval_text(trade), None)]
    with asked() as t:
        t.type("approval-amount", " ")
        assert t.text("form-problem").startswith("Enter an amount, or ")


def test_scrolling_moves_by_a_page_of_the_reasoning() -> None:
    with asked() as t:
        t.form.action_read(1)
        t.form.action_read(-1)
        assert t.scrolled == [("form-body", 1.0), ("form-body", -1.0)]


def agents_with(**changes: Any) -> DeskState:
    fleet = STATE.fleet
    assert fleet is not None
    return replace(STATE, fleet=replace(fleet, agents=[
        replace(one, **changes) if one.agent_id == "a-2" else one for one in fleet.agents
    ]))  # fmt: skip


def test_a_buy_may_spend_the_cash_of_its_agent_and_its_limit_to_the_last_cent() -> None:
    state = agents_with(cash=Micros(30 * ONE))
    assert over_means(BUY, Micros(30 * ONE), state) == ""
    assert over_means(BUY, Micros(30 * ONE + 1), state) == "Above the 30.00 $SIM cash of heron"
    # What is approved with it spends first, of this agent and this venue alone.
    before = [BUY, SALE, held_of("h7", agent_id="a-3"), held_of("h8", venue=Venue.EVM)]
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


def test_a_buy_may_spend_the_budget_of_its_agent_and_of_its_skill_to_the_last_cent() -> None:
    slug = BUY.skill_slug
    own = leash_of(budget=Micros(100 * ONE), spent=Micros(80 * ONE))
    skills = leash_of(skill_slug=slug, budget=Micros(50 * ONE), spent=Micros(35 * ONE))
    for leashes, room, whose in (
        ((own,), 20, "agent"),
        ((skills,), 15, f"skill {slug}"),
        ((own, skills), 15, f"skill {slug}"),
        ((own, replace(skills, spent=Micros(0))), 20, "agent"),
    ):
        state = waiting(BUY, leashes=leashes)
        assert over_budget(BUY, Micros(room * ONE), state) == ""
        over = over_budget(BUY, Micros(room * ONE + 1), state)
        assert over.startswith(f"Over the daily budget of the {whose}: ")
    state = waiting(BUY, leashes=(own, skills))
    small = replace(BUY, amount=Micros(5 * ONE))
    others = [SALE, held_of("h7", agent_id="a-3"), replace(small, skill_slug="momentum")]
    assert over_budget(BUY, Micros(15 * ONE), state, others) == ""
    assert over_budget(BUY, Micros(15 * ONE + 1), state, others) != ""
    assert over_budget(BUY, Micros(11 * ONE), state, [*others, small]) != ""
    assert over_budget(BUY, Micros(10 * ONE), state, [*others, small]) == ""
    free = (replace(own, budget=None), replace(skills, budget=None))
    assert over_budget(BUY, Micros(1_000 * ONE), waiting(BUY, leashes=free)) == ""


def test_a_buy_above_its_means_or_its_budget_cannot_be_approved() -> None:
    tight = leash_of(budget=Micros(100 * ONE), spent=Micros(80 * ONE))
    with asked(BUY, waiting(BUY, leashes=(tight,))) as t:
        assert t.text("form-problem").startswith("Over the daily budget of the agent: 80.00 of 100")
        assert t.is_disabled("form-set")
        t.type("approval-amount", "20")
        t.submit("approval-amount")
        assert t.returned[0].amount == 20 * ONE


@pytest.mark.parametrize(
    ("changes", "embedded", "real"),
    [
        ({"venue": Venue.EVM}, False, True),
        ({"venue": Venue.EVM}, True, False),
        ({"venue": Venue.SIM}, False, False),
        ({"venue": Venue.EVM, "action": Action.SELL}, False, False),
    ],
)
def test_real_money_goes_out_only_with_live_trading_on(
    changes: dict[str, Any], *, embedded: bool, real: bool
) -> None:
    trade = replace(BUY, **changes)
    for live in (True, False):
        state = waiting(
            trade,
            service=replace(STATE.service, embedded=embedded),
            wallet=replace(STATE.wallet, live=live),
        )
        assert is_real(trade, state) is real
        with asked(trade, state) as t:
            is_barred = real and not live
            assert t.text("form-problem").startswith("Live trading is off") is is_barred


def test_the_dialog_for_real_money_has_the_order_that_is_approved() -> None:
    trade = replace(BUY, venue=Venue.EVM, side=Side.NO, price_limit=0.45)
    body: Any = real_question(trade, ApproveHeld("h1", "x"), STATE)._question.body
    for words in ("buy NO", "25.00", "at most", "0.450", "evm_venue", "heron", trade.question):
        assert words in body.plain
    body = real_question(trade, ApproveHeld("h1", "x", Micros(7 * ONE)), STATE)._question.body
    assert "7.00" in body.plain
    assert "25.00" not in body.plain


def test_the_reasons_have_the_price_its_limit_and_what_is_left_of_each_budget() -> None:
    own = leash_of(budget=Micros(100 * ONE), spent=Micros(80 * ONE))
    skills = leash_of(skill_slug=BUY.skill_slug, budget=Micros(50 * ONE), spent=Micros(35 * ONE))
    lines = why_text(replace(BUY, price_limit=0.44), waiting(BUY, leashes=(own, skills))).plain
    assert "YES price 0.410, limit 0.440" in lines
    assert "80.00 of 100.00 daily budget spent\n" in lines
    assert lines.endswith(f"35.00 of 50.00 daily budget spent by {BUY.skill_slug}")
    masked = waiting(BUY, leashes=(own, skills), preferences={"privacy": "on"})
    assert not {"80.00", "100.00", "35.00"} & set(why_text(BUY, masked).plain.split())
    hostile = why_text(replace(BUY, reasoning="a\x1b[31m\u202eb"), waiting(BUY)).plain
    assert "\x1b" not in hostile
    assert "\u202e" not in hostile
    free = (replace(own, budget=None),)
    bare = replace(BUY, reasoning="", price=None, signal_data={})
    assert why_text(bare, waiting(bare, leashes=free)).plain == "no reason given"


def test_a_click_that_leads_back_leaves_the_next_escape_what_it_was() -> None:
    with asked() as t:
        t.form.action_refuse()
        t.press("form-cancel")
        assert (t.returned, t.form.has_class("-refusing")) == ([], False)
        t.type("approval-amount", "7")
        t.form.action_cancel()
        assert (t.returned, t.text("form-problem")[:9]) == ([], "esc again")


@pytest.mark.parametrize(("venue", "money"), [(Venue.SIM, "$SIM"), (Venue.EVM, "USDC.e")])
def test_the_size_is_labelled_with_the_money_of_its_venue(venue: Venue, money: str) -> None:
    with asked(replace(BUY, venue=venue)) as t:
        labels = [str(one.render()) for one in t.form.query(".label")]
        assert f"for {money}" in labels
