"""The redemption screen: the queue, its steps, and its actions."""

from dataclasses import replace
from typing import get_args

import pytest

from kit.console.doors import Running, running, seen_before
from kit.samples.desk import NOW, sample_state
from kit.samples.wallet import ADDRESS, call_of, redemption_of, row_of, run_of, wallet_of
from service_tui.console import formats
from service_tui.console.forms.trade_form import TradeForm
from service_tui.console.forms.typed_word import TypedWord
from service_tui.console.qr import qr_lines
from service_tui.console.screens.redemption.detail import describe, steps_text, sums_text
from service_tui.console.screens.redemption.forms import RedeemDialog
from service_tui.console.screens.redemption.screen import RedemptionScreen
from service_tui.console.screens.redemption.table import QUEUE
from service_tui.console.screens.wallet.forms import SecretInput, StoredKeys, WalletCode
from service_tui.console.screens.wallet.panel import WalletPanel
from service_tui.console.screens.wallet.text import checklist_text
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets import dialog as dialogs
from service_tui.console.widgets.dialog import ARMED_AFTER_S
from service_tui.desk.chain.translate import wallet_view
from service_tui.desk.commands.settings import SetPreference
from service_tui.desk.commands.wallet import (
    GAP_WORD,
    LockWallet,
    PrepareRedemption,
    Redeem,
    SetLive,
    UnlockWallet,
)
from service_tui.desk.slices.redemption import (
    AutoView,
    ChainRunState,
    RedemptionRow,
    RunProblem,
    Stage,
    Step,
    StepView,
)
from service_tui.desk.slices.topics import Topic
from service_tui.desk.slices.wallet import KeyState, Ownership, StoredKeyView, WalletView
from service_tui.desk.state import DeskState
from service_tui.terms import Venue
from service_tui.units import Micros, Timestamp
from service_tui.wire.wallet import RequirementBody, WalletBody

FULL = sample_state()
STATE = seen_before(
    replace(
        FULL,
        redemption=redemption_of(),
        wallet=wallet_of(),
        seen={**FULL.seen, Topic.REDEMPTIONS: NOW, Topic.WALLET: NOW},
    )
)
ONE = row_of(1)


def given(seen: Running) -> list[object]:
    return [one for one in seen.doors.submitted if not isinstance(one, SetPreference)]


def with_run(whole: DeskState, **other: object) -> DeskState:
    run = run_of(1, side=ONE.side, **other)
    view = replace(whole.redemption, rows=(ONE,), runs=(run,))
    return replace(whole, redemption=view)


READY = replace(STATE, redemption=replace(STATE.redemption, rows=(ONE,), runs=()))


@pytest.mark.slow
@pytest.mark.parametrize("size", [(60, 18), (80, 24), (120, 40), (160, 50), (250, 70)])
async def test_the_queue_is_seen_at_every_size(size: tuple[int, int]) -> None:
    async with running(STATE, first="redemption", size=size) as seen:
        text = seen.text
        for word in ("Ready to Redeem", "Awaiting Settlement", "Active", "Redeemed", "Lost"):
            assert word in text
        if size[1] >= 24:
            for step in ("requested", "checked", "signed", "broadcast", "confirming", "reported"):
                assert step in text
        if size[0] >= 120:
            assert "1.840 POL" in text


@pytest.mark.slow
async def test_what_is_under_way_is_counted_as_such() -> None:
    async with running(READY, first="redemption", size=(160, 50)) as seen:
        assert "1 ready" in seen.text
        assert "under way" not in seen.text
        await seen.bring(with_run(STATE))
        assert "0 ready" in seen.text
        assert "1 pending" in seen.text


def test_a_step_of_another_day_tells_its_day() -> None:
    steps = (
        StepView(Step.REQUESTED, Timestamp(NOW - 86_400)),
        StepView(Step.CHECKED, Timestamp(NOW - 9)),
    )
    run = run_of(1, state=ChainRunState.UNCONFIRMED, steps=steps)
    requested, checked, *_ = steps_text(run, NOW, masked=False).plain.splitlines()
    assert requested == "✓ requested   14 Jan 08:00:00"
    assert checked == "✓ checked     07:59:51"


def test_a_hash_is_told_by_its_ends_and_masked_with_the_amounts() -> None:
    run = run_of(1)
    sent, checked = run.steps[3].words, "payout 50.00, balance 50.00"
    clear = steps_text(run, NOW, masked=False).plain
    assert f"{sent[:6]}…{sent[-4:]}" in clear
    assert sent not in clear
    assert checked in clear
    masked = steps_text(run, NOW, masked=True).plain
    assert sent[:6] not in masked
    assert "50.00" not in masked
    assert "▶ " in clear
    assert "▶ " not in steps_text(replace(run, state=ChainRunState.DONE), NOW, masked=False).plain


def test_a_redemption_is_masked_in_every_part_and_has_the_transaction_of_its_run() -> None:
    view = ViewContext.of(READY, NOW, 120)
    running_ = ViewContext.of(with_run(READY), NOW, 120)
    old = replace(ONE, tx_hash="0x" + "0d1d" * 16)

    def told(row: RedemptionRow, view: ViewContext) -> str:
        detail = describe(row, view)
        return f"{detail.head.plain}\n{detail.body.plain}\n{detail.more.plain}"

    def ends(text: str) -> str:
        return formats.address(text).plain

    # The transaction of the run under way counts before that of an earlier one.
    (run,) = running_.state.redemption.runs
    clear, done = told(old, running_), told(old, view)
    assert ends(run.tx_hash) in clear
    assert ends(old.tx_hash) not in clear
    assert ends(old.tx_hash) in done
    assert "50.00 USDC.e to the wallet" in done
    assert "31.00 USDC.e" in done
    for where in (view, running_):
        masked = told(old, replace(where, masked=True))
        for one in ("50.00", "31.00", ends(run.tx_hash), ends(old.tx_hash)):
            assert one not in masked
    shown = describe(ONE, replace(view, masked=True)).more.plain
    assert ends(ONE.condition_id) not in shown
    assert ends(ONE.condition_id) in describe(ONE, view).more.plain


@pytest.mark.parametrize("stage", [Stage.READY, Stage.AWAITING, Stage.REDEEMED])
def test_every_age_is_by_the_wall_and_the_detail_names_the_clock(stage: Stage) -> None:
    ours, worlds = Timestamp(NOW - 7_200), Timestamp(NOW + 864_000 - 1_800)
    assert STATE.world is not None
    state = replace(STATE, world=replace(STATE.world, now=Timestamp(NOW + 864_000), wall_at=NOW))
    view = ViewContext.of(state, NOW)
    column = next(one for one in QUEUE.columns if one.id == "age")
    row = row_of(1, stage=stage, since=ours)
    assert str(column.cell(row, view)) == "2h"
    assert ", wall time" in describe(row, view).more.plain
    # Of a moment of the world no wall time is made up.
    row = replace(row, since=worlds, in_world=True)
    assert str(column.cell(row, view)) == formats.age(None, NOW).plain
    assert ", world time" in describe(row, view).more.plain
    # A service with one clock has one time.
    alone = replace(state, service=replace(state.service, embedded=False))
    row = replace(row, since=ours)
    assert str(column.cell(row, ViewContext.of(alone, NOW))) == "2h"


@pytest.mark.slow
async def test_every_amount_on_the_way_to_money_names_its_unit() -> None:
    state = replace(READY, redemption=replace(READY.redemption, auto=AutoView()))
    async with running(state, first="redemption", size=(160, 50)) as seen:
        for told in (
            "1 ready  50.00 USDC.e",
            "pays        50.00 USDC.e",
            "cost        31.00 USDC.e",
        ):
            assert told in seen.text
        head = next(line for line in seen.text.splitlines() if " pays  " in line and "age" in line)
        assert "pays  ccy" in head
        assert "50.00  USDC.e" in seen.text
        await seen.press("t")
        assert "50.00 USDC.e to " in seen.text
        await seen.press("escape", "T")
        assert "1 position, total 50.00 USDC.e:" in " ".join(seen.text.split())
    async with running(state, first="attention", size=(160, 50)) as seen:
        assert "stays unredeemed (in USDC.e)" in seen.text


def test_what_is_paid_in_two_kinds_of_money_is_not_summed() -> None:
    rows = (row_of(0), row_of(1), row_of(2, venue=Venue.SOL, amount=Micros(7_000_000)))
    view = ViewContext.of(STATE, NOW)
    assert sums_text(rows, view).plain == "100.00 USDC.e, 7.00 USDC"
    assert "100" not in sums_text(rows, replace(view, masked=True)).plain
    assert sums_text((), view).plain == ""


@pytest.mark.slow
async def test_what_can_be_redeemed_stands_first() -> None:
    async with running(STATE, first="redemption") as seen:
        screen = seen.app.front
        assert isinstance(screen, RedemptionScreen)
        order = screen.table.order
        stages = [order[place].stage.value for place in range(len(order))]
        assert stages[:2] == ["Ready to Redeem"] * 2
        assert order[len(order) - 1].stage.value == "Redeemed"
        screen.narrow("amount:>100")
        assert [order[place].amount for place in range(len(order))] == [120_000_000]


@pytest.mark.slow
async def test_redeeming_shows_what_is_signed_and_enter_signs_nothing() -> None:
    async with running(READY, first="redemption", size=(120, 40)) as seen:
        await seen.press("t")
        assert isinstance(seen.app.screen, RedeemDialog)
        assert given(seen) == [PrepareRedemption(ONE.market_id, ONE.side, ONE.venue, ONE.question)]
        await seen.press("y")
        assert len(given(seen)) == 1
        await seen.bring(with_run(READY, state=ChainRunState.PREPARED, steps=(), tx_hash=""))
        for part in ("conditional tokens", "redeemPositions", "195,000", "0.01170 POL", "137"):
            assert part in seen.text
        await seen.pilot.pause(2 * ARMED_AFTER_S)
        await seen.press("enter")
        assert len(given(seen)) == 1
        await seen.press("y")
        assert given(seen)[1:] == [Redeem(ONE.market_id, ONE.side, ONE.venue, "d1", ONE.question)]
        assert len(seen.app.screen_stack) == 1


@pytest.mark.slow
async def test_places_that_nobody_explains_want_a_typed_word() -> None:
    async with running(READY, first="redemption", size=(120, 40)) as seen:
        await seen.press("t")
        call = replace(run_of(1, side=ONE.side).call, nonce=15, gap=3)
        unsure = with_run(READY, state=ChainRunState.PREPARED, steps=(), tx_hash="", call=call)
        await seen.bring(unsure)
        for word, count in (("REDEEM", 1), (GAP_WORD, 2)):
            await seen.pilot.pause(2 * ARMED_AFTER_S)
            await seen.press("y")
            assert isinstance(seen.app.screen, TypedWord)
            assert "3 earlier nonces of this wallet" in seen.text
            await seen.pilot.pause(2 * ARMED_AFTER_S)
            await seen.press(*word, "enter")
            if count == 1:
                assert isinstance(seen.app.screen, TypedWord)
                await seen.press("escape")
            assert len(given(seen)) == count
        assert isinstance(given(seen)[-1], Redeem)


@pytest.mark.slow
async def test_another_transaction_than_the_one_seen_has_to_be_seen_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running(READY, first="redemption", size=(120, 40)) as seen:
        await seen.press("t")
        await seen.bring(with_run(READY, state=ChainRunState.PREPARED, steps=(), tx_hash=""))
        await seen.pilot.pause(2 * ARMED_AFTER_S)
        monkeypatch.setattr(dialogs, "ARMED_AFTER_S", 60.0)
        other = call_of(digest="d2", nonce=42)
        await seen.bring(with_run(READY, state=ChainRunState.PREPARED, steps=(), call=other))
        await seen.press("y")
        assert len(given(seen)) == 1
        dialog = seen.app.screen
        assert isinstance(dialog, RedeemDialog)
        dialog._arm()
        await seen.press("y")
        assert given(seen)[-1] == Redeem(ONE.market_id, ONE.side, ONE.venue, "d2", ONE.question)


@pytest.mark.slow
async def test_a_refusal_is_told_in_the_dialog_and_cannot_be_confirmed() -> None:
    async with running(READY, first="redemption", size=(120, 40)) as seen:
        await seen.press("t")
        words = "not signed: it redeems another market"
        await seen.bring(
            with_run(
                READY,
                state=ChainRunState.REFUSED,
                call=None,
                reason=RunProblem.OUTSIDE_POLICY,
                words=words,
            )
        )
        assert words in seen.text
        await seen.pilot.pause(2 * ARMED_AFTER_S)
        await seen.press("y")
        assert len(given(seen)) == 1
        await seen.press("escape")
        assert len(seen.app.screen_stack) == 1


@pytest.mark.slow
async def test_a_locked_key_cannot_say_yes() -> None:
    locked = replace(READY, wallet=wallet_of(key_state=KeyState.LOCKED))
    async with running(locked, first="redemption", size=(120, 40)) as seen:
        await seen.press("t")
        await seen.bring(with_run(locked, state=ChainRunState.PREPARED, steps=(), tx_hash=""))
        assert "key locked" in seen.text
        await seen.pilot.pause(2 * ARMED_AFTER_S)
        await seen.press("y")
        assert len(given(seen)) == 1


@pytest.mark.slow
async def test_what_is_by_hand_says_where() -> None:
    async with running(STATE, first="redemption", size=(120, 40)) as seen:
        screen = seen.app.front
        assert isinstance(screen, RedemptionScreen)
        screen.focus_row("evm-5:yes")
        await seen.press("t")
        assert given(seen) == []
        assert any("by hand only" in toast for toast in seen.toasts)


@pytest.mark.slow
async def test_the_wallet_is_told_with_a_code_and_a_list() -> None:
    async with running(STATE, first="redemption", size=(120, 40)) as seen:
        await seen.press("W")
        assert isinstance(seen.app.screen, WalletPanel)
        await seen.until(lambda: "█" in seen.text)
        for part in (ADDRESS, "214.00", "1.840 POL", "1 of 3 missing", "turn live trading on"):
            assert part in seen.text


@pytest.mark.slow
async def test_privacy_masks_address_and_code() -> None:
    masked = replace(STATE, preferences={**STATE.preferences, "privacy": "on"})
    async with running(masked, first="redemption", size=(120, 40)) as seen:
        await seen.press("W")
        assert ADDRESS not in seen.text
        assert "▀▀▀" not in seen.text
        assert "214.00" not in seen.text


@pytest.mark.slow
async def test_the_passphrase_is_never_shown_and_goes_up_once() -> None:
    locked = replace(STATE, wallet=wallet_of(key_state=KeyState.LOCKED))
    async with running(locked, first="redemption", size=(120, 40)) as seen:
        await seen.press("W", "U")
        await seen.press(*"canary99")
        assert "canary99" not in seen.text
        line = seen.app.screen.query_one(SecretInput)
        await seen.press("enter")
        assert line.value == ""
        assert given(seen) == [UnlockWallet("canary99", ADDRESS)]
        assert "canary99" not in repr(given(seen))
        await seen.bring(replace(STATE, wallet=wallet_of()))
        await seen.press("U")
        assert given(seen)[-1] == LockWallet()


@pytest.mark.slow
async def test_a_key_that_nobody_can_read_is_not_removed() -> None:
    hidden = replace(
        STATE,
        wallet=wallet_of(stored=(StoredKeyView(ADDRESS),)),
        preferences={**STATE.preferences, "privacy": "on"},
    )
    async with running(hidden, first="redemption", size=(120, 40)) as seen:
        await seen.press("W", "s")
        assert ADDRESS not in seen.text
        await seen.press("d")
        assert isinstance(seen.app.screen, StoredKeys)
        await seen.bring(replace(hidden, wallet=wallet_of()))
        assert "No key stored" in seen.text
        await seen.press("d", "enter")
        assert isinstance(seen.app.screen, StoredKeys)
        assert given(seen) == []


@pytest.mark.slow
async def test_a_key_that_is_not_linked_is_not_to_be_paid_into() -> None:
    alone = wallet_of(ownership=Ownership.MANAGED, address="", key_address=ADDRESS)
    async with running(replace(STATE, wallet=alone), first="redemption", size=(120, 40)) as seen:
        await seen.press("W")
        assert "not linked yet: do not deposit here" in seen.text
        assert "USDC.e  " not in seen.text
        assert qr_lines(ADDRESS, on_dark=True)[0] not in seen.text
        await seen.press("o")
        assert not isinstance(seen.app.screen, WalletCode)
        assert "not linked yet: do not deposit here" in seen.toasts[-1]
        await seen.press("y")
        assert "key address, not linked yet" in seen.toasts[-1]


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), (160, 50)])
async def test_the_banner_names_the_keys_that_switch_real_money_off(size: tuple[int, int]) -> None:
    on = replace(STATE, wallet=wallet_of(live=True))
    async with running(on, first="portfolio", size=size) as seen:
        assert "REAL MONEY" in seen.text
        if size[0] > 120:
            assert "Turn live trading off (5, W, L)" in seen.text
        await seen.press("5", "W", "L")
        assert given(seen) == [SetLive(on=False)]
        await seen.bring(replace(STATE, wallet=wallet_of(live=False)))
        assert "REAL MONEY" not in seen.text


@pytest.mark.slow
async def test_the_ticket_names_the_keys_that_switch_real_money_on() -> None:
    off = replace(STATE, wallet=wallet_of(live=False))
    async with running(off, first="portfolio", size=(120, 40)) as seen:
        await seen.press("x")
        assert isinstance(seen.app.screen, TradeForm)
        await seen.press("f7")
        assert "Turn it on in Wallet (5, W, L)" in seen.toasts[-1]
        await seen.press("escape", "5", "W", "L")
        await seen.pilot.pause(2 * ARMED_AFTER_S)
        await seen.press(*"LIVE", "enter")
        assert given(seen)[-1] == SetLive(on=True, word="LIVE")


@pytest.mark.slow
async def test_a_link_in_place_of_a_key_is_told_among_the_keys_and_masked_with_them() -> None:
    over = f"/data/wallets/{ADDRESS}.json is a link; move it away: key files are never links"
    state = replace(STATE, wallet=wallet_of(passed_over=(over,)))
    async with running(state, first="redemption", size=(120, 40)) as seen:
        await seen.press("W", "s")
        assert "No key stored" in seen.text
        assert "invalid files: " in seen.text
        assert "/data/wallets/" in seen.text
        assert "key files are never links" in seen.text
        private = replace(state, preferences={**STATE.preferences, "privacy": "on"})
        await seen.bring(private)
        assert "invalid files: •••" in seen.text
        assert ADDRESS not in seen.text


@pytest.mark.slow
async def test_files_that_are_no_keys_are_named_beside_the_good_ones_up_to_a_bound() -> None:
    overs = tuple(f"/data/wallets/{n}.json is garbled; move it away" for n in range(7))
    state = replace(STATE, wallet=wallet_of(stored=(StoredKeyView(ADDRESS),), passed_over=overs))
    async with running(state, first="redemption", size=(80, 24)) as seen:
        await seen.press("W", "s")
        assert ADDRESS in seen.text
        assert all(over in seen.text for over in overs[:3])
        assert overs[3] not in seen.text
        assert "and 4 more. 'service-tui keys list' lists all" in seen.text


@pytest.mark.slow
async def test_no_key_beside_files_that_are_none_says_where_they_are_named() -> None:
    over = "/data/wallets/a.json is malformed; repair it or move it away"
    for overs, is_said in (((), False), ((over,), True)):
        wallet = wallet_of(key_state=KeyState.NONE, stored=(), passed_over=overs)
        async with running(replace(STATE, wallet=wallet), first="redemption") as seen:
            await seen.press("W", "U")
            assert ("s lists invalid files" in seen.toasts[-1]) is is_said


@pytest.mark.parametrize(("masked", "shown"), [(False, "1,000.00 USDC.e"), (True, "USDC.e")])
def test_the_money_of_a_wallet_is_an_amount_that_is_masked_with_all_others(
    shown: str, *, masked: bool
) -> None:
    row = {"name": "collateral", "about": "so", "done": True}
    body = WalletBody.model_validate({"checks": (row,), "usdc": 1_000.0})
    text = checklist_text(wallet_view(body, WalletView()), 100, masked=masked).plain
    assert shown in text
    assert ("1,000" in text) is not masked


@pytest.mark.parametrize("name", get_args(RequirementBody.model_fields["name"].annotation))
def test_a_check_stands_apart_and_never_fails_in_words_of_success(name: str) -> None:
    row = {"name": name, "about": "it is there"}
    done, missing = (
        wallet_view(WalletBody.model_validate({"checks": ({**row, "done": so},)}), WalletView())
        for so in (True, False)
    )
    # Of money the console has words of its own, and the amount where it is known.
    has = "USDC.e or pUSD in the wallet" if name == "collateral" else "it is there"
    assert done.served[0].detail == has
    failed = missing.served[0]
    assert failed.detail != has
    assert f"{failed.name}  " in checklist_text(missing, 100).plain


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_the_code_stands_whole_on_one_page(size: tuple[int, int]) -> None:
    async with running(STATE, first="redemption", size=size) as seen:
        await seen.press("W", "o")
        assert isinstance(seen.app.screen, WalletCode)
        frame = seen.app.screen.query_one("#frame")
        assert frame.max_scroll_y == 0
        left, top, wide, high = frame.region
        shown = [line[left : left + wide] for line in seen.lines[top : top + high]]
        code = qr_lines(ADDRESS, on_dark=True)
        begins = next(place for place, line in enumerate(shown) if code[0] in line)
        for offset, line in enumerate(code):
            assert line in shown[begins + offset]
        assert any(ADDRESS in line for line in shown[begins + len(code) :])


@pytest.mark.slow
async def test_a_masked_address_has_no_code() -> None:
    masked = replace(STATE, preferences={**STATE.preferences, "privacy": "on"})
    async with running(masked, first="redemption", size=(80, 24)) as seen:
        await seen.press("W", "o")
        assert isinstance(seen.app.screen, WalletPanel)
        assert any("masked" in toast for toast in seen.toasts)


def test_a_code_is_read_on_dark_and_on_light() -> None:
    dark, light = qr_lines(ADDRESS, on_dark=True), qr_lines(ADDRESS, on_dark=False)
    assert len({len(line) for line in dark}) == 1
    swapped = str.maketrans(" █▀▄", "█ ▄▀")
    assert [line.translate(swapped) for line in dark][2:-2] == list(light)[2:-2]
