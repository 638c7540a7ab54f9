"""Paying for calls: offers, the cap, and the count of payments."""

import random
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from kit.desk.faults import Dated, Line, said, until
from kit.desk.payments import limited, unpaid
from kit.desk.redeeming import CountingSigner, known, open_wallet_desk
from kit.service.stage import OPERATOR, Stage, open_stage
from kit.service.wallets import ready
from service_tui.client.api_keys import ApiKey, ApiKeys
from service_tui.client.client import Client
from service_tui.desk.commands.wallet import PayOffer, SetPay
from service_tui.desk.desk import Desk
from service_tui.desk.state import DeskState
from service_tui.server.embedded import BASE_URL
from service_tui.server.http.payments import RECIPIENT
from service_tui.units import Micros
from service_tui.wire.payment import PAYMENT_HEADER

pytestmark = pytest.mark.slow

CAP = Micros(12_000)


def behind(stage: Stage) -> tuple[Stage, Line]:
    line = Line(stage.sim.transport)
    api_keys = ApiKeys(ApiKey(stage.key, BASE_URL), ApiKey(OPERATOR, BASE_URL))
    client = Client(line, BASE_URL, api_keys, clock=stage.clock, rng=random.Random(1))
    return replace(stage, client=client), line


def offers(state: DeskState) -> bool:
    return state.wallet.pay.offer is not None


def paid(line: Line) -> list[str]:
    return [one.headers[PAYMENT_HEADER] for one in line.sent if PAYMENT_HEADER in one.headers]


async def pay(desk: Desk, stage: Stage) -> DeskState:
    state = await until(desk, offers, stage, step_s=1.0)
    offer = state.wallet.pay.offer
    assert offer is not None
    desk.submit(PayOffer(offer.offer_id))
    return await until(desk, lambda s: s.wallet.pay.offer is not offer, stage)


async def test_off_an_offer_is_inert_text(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as whole:
        await ready(whole)
        stage, line = behind(whole)
        line.fault = lambda request: limited() if unpaid(request) else None
        signer = CountingSigner()
        async with open_wallet_desk(stage, signer) as desk:
            await known(desk, stage)
            await stage.clock.advance(120)
            assert desk.state.wallet.pay.offer is None
        assert signer.count == 0
        assert paid(line) == []


async def test_an_offer_is_shown_and_paid_once_within_the_cap(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as whole:
        await ready(whole)
        stage, line = behind(whole)
        signer = CountingSigner()
        async with open_wallet_desk(stage, signer) as desk:
            await known(desk, stage)
            desk.submit(SetPay(CAP))
            await until(desk, lambda s: s.wallet.pay.is_on, stage)
            line.fault = lambda request: limited() if unpaid(request) else None
            state = await until(desk, offers, stage, step_s=1.0)
            offer = state.wallet.pay.offer
            assert offer is not None
            assert (offer.price, offer.recipient, offer.why_not) == (5_000, RECIPIENT, "")
            assert signer.count == 0
            state = await pay(desk, stage)
            assert (signer.count, len(paid(line))) == (1, 1)
            assert state.wallet.pay.spent == 5_000
            state = await pay(desk, stage)
            assert state.wallet.pay.spent == 10_000
            state = await until(desk, offers, stage, step_s=1.0)
            third = state.wallet.pay.offer
            assert third is not None
            assert "cap" in third.why_not
            desk.submit(PayOffer(third.offer_id))
            await stage.clock.advance(5)
        assert signer.count == 2
        assert len(set(paid(line))) == 2


async def test_a_service_that_tells_another_time_gets_no_second_day(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as whole:
        await ready(whole)
        line = Line(whole.sim.transport)
        dated = Dated(line, whole.clock)
        api_keys = ApiKeys(ApiKey(whole.key, BASE_URL), ApiKey(OPERATOR, BASE_URL))
        client = Client(dated, BASE_URL, api_keys, clock=whole.clock, rng=random.Random(1))
        stage, signer = replace(whole, client=client), CountingSigner()
        async with open_wallet_desk(stage, signer) as desk:
            await known(desk, stage)
            desk.submit(SetPay(Micros(5_000)))
            await until(desk, lambda s: s.wallet.pay.is_on, stage)
            line.fault = lambda request: limited() if unpaid(request) else None
            state = await pay(desk, stage)
            assert (signer.count, state.wallet.pay.spent) == (1, 5_000)
            dated.ahead_s = 3 * 365 * 86_400.0
            await until(desk, lambda s: (s.service.skew_s or 0.0) < -86_400, stage)
            state = await pay(desk, stage)
            assert any("the clock is more than 30 s off" in one.text for one in state.notices)
        assert (signer.count, len(paid(line))) == (1, 1)


async def test_a_payment_that_was_sent_counts_though_the_service_refuses(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as whole:
        await ready(whole)
        stage, line = behind(whole)
        signer = CountingSigner()

        def fault(request: httpx.Request) -> httpx.Response | None:
            if PAYMENT_HEADER in request.headers:
                return said({"error": "payment not accepted"}, 402)
            return limited() if unpaid(request) else None

        async with open_wallet_desk(stage, signer) as desk:
            await known(desk, stage)
            desk.submit(SetPay(CAP))
            await until(desk, lambda s: s.wallet.pay.is_on, stage)
            line.fault = fault
            for spent in (5_000, 10_000):
                state = await pay(desk, stage)
                assert state.wallet.pay.spent == spent
            assert any("counted as paid" in one.text for one in state.notices)
            state = await until(desk, offers, stage, step_s=1.0)
            third = state.wallet.pay.offer
            assert third is not None
            desk.submit(PayOffer(third.offer_id))
            await stage.clock.advance(5)
        assert (signer.count, len(paid(line))) == (2, 2)


async def test_any_other_offer_is_not_paid(tmp_path: Path) -> None:
    strange = (
        {"maxAmountRequired": "5001"},
        {"network": "another"},
        {"asset": "0x" + "22" * 20},
        {"payTo": "nobody"},
        {"resource": "https://elsewhere.example/pay"},
        {"scheme": "upto"},
    )
    async with open_stage(tmp_path, speed=0) as whole:
        await ready(whole)
        stage, line = behind(whole)
        signer = CountingSigner()
        async with open_wallet_desk(stage, signer) as desk:
            await known(desk, stage)
            desk.submit(SetPay(Micros(1_000_000)))
            await until(desk, lambda s: s.wallet.pay.is_on, stage)
            for changes in strange:
                line.fault = lambda request, c=changes: limited(**c) if unpaid(request) else None
                before = desk.state.wallet.pay.offer
                state = await until(
                    desk,
                    lambda s, b=before: offers(s) and s.wallet.pay.offer != b,
                    stage,
                    step_s=1.0,
                )
                offer = state.wallet.pay.offer
                assert offer is not None
                assert offer.why_not, changes
                desk.submit(PayOffer(offer.offer_id))
                await stage.clock.advance(1)
        assert signer.count == 0
        assert paid(line) == []
