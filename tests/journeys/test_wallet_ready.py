"""The wallet from nothing to its first real trade, and what comes and goes: gas, offers to pay."""

import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import Input

from kit.console.painted import strips_of
from kit.console.session import KEY, PASSPHRASE, SIZE, WORK, Session
from kit.desk.faults import Line, breaking
from kit.desk.payments import limited, unpaid
from kit.desk.redeeming import CountingSigner, hold, settle
from kit.pages.steps import key_named, step_of
from kit.service.line import change
from kit.service.stage import Stage, first_state, open_stage
from kit.service.wallets import operate, ready
from service_tui.console.app import ConsoleApp
from service_tui.console.forms.confirm import Confirm
from service_tui.console.forms.form import SECOND_THOUGHT_S
from service_tui.console.forms.trade_form import TradeForm
from service_tui.console.forms.typed_word import TypedWord
from service_tui.console.screens.wallet.forms import PayForm
from service_tui.console.theme import load_themes, shipped_folder
from service_tui.console.widgets.dialog import ARMED_AFTER_S
from service_tui.credentials.wallet_keys import WalletKeys
from service_tui.desk.desk import Desk
from service_tui.desk.opening import open_desk
from service_tui.desk.ports import DeskContext
from service_tui.desk.slices.redemption import ChainRunState
from service_tui.desk.slices.tickets import TicketState
from service_tui.desk.slices.wallet import KeyState, Ownership
from service_tui.desk.vault import Vault
from service_tui.terms import Venue
from service_tui.wire.endpoints.wallet import DESK_PATCH_WALLET


def text(walk: Session) -> str:
    strips = strips_of(walk.app.screen)
    return "\n".join(strip.text for strip in strips)


async def typed(walk: Session, word: str) -> None:
    """Answer the question that is in front with its word."""
    assert isinstance(walk.app.screen, TypedWord)
    await walk.pilot.pause(2 * ARMED_AFTER_S)
    walk.app.screen.query_one(Input).value = word
    await walk.press("enter")


async def confirmed(walk: Session, key: str = "y") -> None:
    # To link, the challenge is read first.
    await walk.until(lambda _: isinstance(walk.app.screen, Confirm))
    await walk.pilot.pause(2 * ARMED_AFTER_S)
    await walk.press(key)


@asynccontextmanager
async def console(stage: Stage, vault: Vault) -> AsyncGenerator[Session]:
    around = DeskContext(
        stage.client,
        stage.database,
        stage.clock,
        lambda: f"{random.getrandbits(128):032x}",
        random.Random(2),
        vault=vault,
    )
    known = replace(first_state(), preferences={"welcome": "seen"})

    @asynccontextmanager
    async def desk() -> AsyncGenerator[Desk]:
        async with open_desk(known, around) as opened:
            yield opened

    app = ConsoleApp(
        open_desk=desk,
        initial=known,
        now=stage.clock.now,
        themes=load_themes(shipped_folder()),
        log_path="log",
    )
    async with app.run_test(size=SIZE) as pilot:
        yield Session(app, pilot, stage)


def lacking(walk: Session) -> set[str]:
    return {one.name for one in walk.state.wallet.lacks}


@pytest.mark.slow
async def test_a_new_wallet_becomes_ready_by_its_list(tmp_path: Path) -> None:
    async with (
        open_stage(tmp_path, speed=0) as stage,
        console(stage, Vault(WalletKeys(tmp_path, work=WORK))) as walk,
    ):
        await walk.until(lambda s: s.wallet.served)
        await walk.press("W")
        assert len(lacking(walk)) >= 3
        assert "setup" in text(walk)
        await walk.press("K")
        await walk.write(KEY, PASSPHRASE, PASSPHRASE)
        await walk.press("enter")
        await walk.until(lambda s: s.wallet.key_state is KeyState.UNLOCKED)
        await walk.press("l")
        await confirmed(walk)
        await walk.until(lambda s: s.wallet.ownership is Ownership.EXTERNAL and not s.wallet.job)
        await walk.press("c")
        await walk.until(lambda s: s.wallet.has_credentials)
        await walk.press("A")
        await walk.until(lambda _: isinstance(walk.app.screen, TypedWord))
        assert "spender" in text(walk)
        await typed(walk, "APPROVE")
        await walk.until(lambda s: s.wallet.approvals and not s.wallet.unset)
        # What a person does elsewhere: the claim page.
        await change(stage, claimed=True)
        await walk.press("r")
        await confirmed(walk)
        await walk.until(lambda _: lacking(walk) == {"real money"})
        assert "1 missing" in text(walk)
        await walk.press("L")
        await typed(walk, "LIVE")
        await walk.until(lambda _: not lacking(walk))
        assert "complete" in text(walk)
        await walk.press("escape")
        assert "REAL MONEY" in text(walk)


@asynccontextmanager
async def winning(path: Path) -> AsyncGenerator[tuple[Session, Line, str]]:
    async with open_stage(path, speed=60) as whole:
        stage, line = breaking(whole)
        line.fault = lambda _: None
        held = await hold(stage, await ready(stage))
        await settle(stage, held)
        async with console(stage, Vault(None, CountingSigner())) as walk:
            await walk.until(lambda s: s.redemption.ready and s.wallet.can_sign)
            yield walk, line, held.key


@pytest.mark.slow
async def test_without_gas_it_rests_and_after_a_top_up_it_goes_on(tmp_path: Path) -> None:
    async with winning(tmp_path) as (walk, _, row):
        path = {"agent_id": walk.stage.agent_id}
        await operate(walk.stage, DESK_PATCH_WALLET, path=path, json={"gas": 0.0001})
        await walk.press("5", "a")
        await typed(walk, "REDEEM")
        await walk.until(lambda s: s.redemption.auto.paused)
        await walk.until(lambda _: "auto paused" in text(walk))
        assert "AUTO-REDEEM PAUSED gas too low" in text(walk)
        await walk.press("0")
        assert "gas too low" in text(walk)
        await operate(walk.stage, DESK_PATCH_WALLET, path=path, json={"gas": 1.0})
        await walk.press("5")
        await walk.until(lambda s: s.redemption.run(row) is not None)
        await walk.until(lambda s: s.redemption.run(row).state is ChainRunState.DONE)
        await walk.until(lambda _: "auto on" in text(walk))
        assert "auto paused" not in text(walk)
        assert "AUTO-REDEEM PAUSED" not in text(walk)


@pytest.mark.slow
async def test_an_offer_is_shown_whole_and_paid_by_the_persons_word_alone(tmp_path: Path) -> None:
    async with winning(tmp_path) as (walk, line, _):
        await walk.press("W", "p")
        assert isinstance(walk.app.screen, PayForm)
        walk.app.screen.query_one("#pay-cap", Input).value = "0.006"
        await walk.press("enter")
        assert "Enter again" in text(walk)
        assert not walk.state.wallet.pay.is_on
        await walk.pilot.pause(2 * SECOND_THOUGHT_S)
        await walk.press("enter")
        await walk.until(lambda s: s.wallet.pay.is_on)
        line.fault = lambda request: limited() if unpaid(request) else None
        await walk.until(lambda s: s.wallet.pay.offer)
        await walk.press("p")
        for words in (
            "Pay for this call?",
            "0.005 for /api/sdk/briefing",
            "paid to",
            "daily cap",
        ):
            assert words in text(walk)
        assert walk.state.wallet.pay.spent == 0
        await confirmed(walk)
        await walk.until(lambda s: s.wallet.pay.spent)
        assert walk.state.wallet.pay.spent == 5_000
        # A second one would pass the cap: it is shown with the reason, and P leads to the cap.
        await walk.until(lambda s: s.wallet.pay.offer)
        assert "cap" in walk.state.wallet.pay.offer.why_not
        await walk.press("p")
        assert isinstance(walk.app.screen, PayForm)
        await walk.press("escape")
        line.fault = lambda _: None


# -- the rehearsal of docs/real-money.md, key by key as the page says ---------------------


def keys_of(step: int) -> list[str]:
    """What stands in code marks in a step of the page."""
    return step_of("docs/real-money.md", "The rehearsal", step)


async def pressed(walk: Session, *keys: str) -> None:
    await walk.press(*(key_named(key) for key in keys))


async def allowed(walk: Session) -> None:
    """Steps 4 and 5 of the rehearsal."""
    credentials, approvals, word = keys_of(4)
    await pressed(walk, credentials)
    await walk.until(lambda s: s.wallet.has_credentials)
    await pressed(walk, approvals)
    await walk.until(lambda _: isinstance(walk.app.screen, TypedWord))
    await typed(walk, word)
    await walk.until(lambda s: s.wallet.approvals and not s.wallet.unset)
    # 5. Real trades.
    real, yes, live, word, _ = keys_of(5)
    await pressed(walk, real)
    await confirmed(walk, yes)
    await walk.until(lambda s: s.wallet.real_trading)
    await pressed(walk, live)
    await typed(walk, word)
    await walk.until(lambda s: s.wallet.live)


async def ordered(walk: Session) -> None:
    """Step 6 of the rehearsal."""
    back, markets, soon, buy, venue, venue_name, enter, send, *_ = keys_of(6)
    assert venue_name == Venue.EVM.value
    await pressed(walk, back, markets, soon)
    for _ in range(25):
        await pressed(walk, buy, venue)
        if isinstance(walk.app.screen, TradeForm):
            walk.app.screen.query_one("#ticket-amount", Input).value = "5"
            await walk.pilot.pause(0.3)
            await pressed(walk, enter)
        if isinstance(walk.app.screen, Confirm) and venue_name in text(walk):
            break
        while len(walk.app.screen_stack) > 1:
            await walk.press("escape")
        await walk.press("j")
    await walk.pilot.pause(2 * ARMED_AFTER_S)
    await pressed(walk, send)
    await walk.until(lambda s: s.tickets and s.tickets[0].state is TicketState.DONE)


async def test_the_steps_of_the_rehearsal_work_as_they_are_written(tmp_path: Path) -> None:
    vault = Vault(WalletKeys(tmp_path, work=WORK))
    async with open_stage(tmp_path, speed=1) as stage, console(stage, vault) as walk:
        await walk.until(lambda s: s.wallet.served and s.fleet.agents)
        # 1. Claim.
        agents, claim, _, yes = keys_of(1)
        await pressed(walk, agents, claim)
        await confirmed(walk, yes)
        await walk.until(lambda s: all(one.claimed for one in s.fleet.agents if one.is_own))
        # 2. Key: an empty first line, and the passphrase twice.
        await pressed(walk, *keys_of(2)[:3])
        await walk.write("", PASSPHRASE, PASSPHRASE)
        await walk.press("enter")
        await walk.until(lambda s: s.wallet.key_state is KeyState.UNLOCKED)
        # 3. Link.
        link, yes = keys_of(3)
        await pressed(walk, link)
        await confirmed(walk, yes)
        await walk.until(lambda s: s.wallet.ownership is Ownership.EXTERNAL and not s.wallet.job)
        await allowed(walk)
        # 6. Order; a question without a book gives way to the next one, as the page says.
        await ordered(walk)
        # 7. Hold: the stop is removed by the first press.
        monitors, remove, _ = keys_of(7)
        await pressed(walk, monitors)
        await walk.until(lambda s: any(not one.thresholds.is_empty for one in s.risk.monitors))
        assert "stop" in text(walk)
        await pressed(walk, remove)
        await walk.until(lambda s: all(one.thresholds.is_empty for one in s.risk.monitors))
        # 8. Redeem.
        faster, slower, redemptions, redeem, yes = keys_of(8)
        await pressed(walk, faster, faster)
        await walk.until(lambda s: s.redemption.ready)
        await pressed(walk, slower, slower, redemptions)
        assert "ready to redeem" in text(walk).lower()
        await pressed(walk, redeem)
        await walk.until(lambda s: s.redemption.runs and s.redemption.runs[0].call)
        await walk.pilot.pause(2 * ARMED_AFTER_S)
        await pressed(walk, yes)
        await walk.until(lambda s: s.redemption.runs[0].state is ChainRunState.DONE)
        assert "reported" in text(walk)
