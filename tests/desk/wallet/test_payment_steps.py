"""Payments one step at a time: what is offered, written down, signed, sent and counted."""

import base64
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kit.desk.offline import Offline
from kit.samples.desk import sample_state
from kit.samples.wallet import wallet_of
from service_tui.client.errors import (
    Called,
    NotFoundError,
    RateLimitedError,
    RefusalReason,
    ServiceError,
    UnreachableError,
)
from service_tui.desk.buy_limits import spending_day_began
from service_tui.desk.chain.gateway import ChainGateway
from service_tui.desk.commands.wallet import PayOffer, SetPay
from service_tui.desk.facts import Noticed, PreferenceSet
from service_tui.desk.ports import Memory
from service_tui.desk.reasons import Fix
from service_tui.desk.slices.wallet import OfferView, PayView
from service_tui.desk.wallet import payments
from service_tui.desk.wallet.payments import CAP, PAID, REFUSED, SUBJECT, UNKNOWN, Payments, cap_of
from service_tui.signing.errors import SigningError
from service_tui.signing.payments import (
    PRICE,
    Authorization,
    PaymentOffer,
    PaymentPolicy,
    SignedAuthorization,
)
from service_tui.storage.chain_runs import ChainRun
from service_tui.units import Micros
from service_tui.wire.payment import PayOfferBody

START = 1_800_000_000.0
CALLED = Called("GET", "/api/sdk/briefing")
TO, ME = "0x" + "4d" * 20, "0x" + "6e" * 20
SIGNED = "0x" + "7f" * 65
OFFER = PaymentOffer(
    host="pay.example", scheme="exact", network="base", asset="0xcoin", pay_to=TO, amount=PRICE,
    life_s=77,
)  # fmt: skip


def body(**other: Any) -> PayOfferBody:
    given: dict[str, Any] = {
        "scheme": "exact", "network": "base", "max_amount_required": str(PRICE),
        "resource": "https://pay.example/call", "pay_to": TO, "asset": "0xcoin",
        "max_timeout_seconds": 77,
    }  # fmt: skip
    names = PayOfferBody.model_fields
    return PayOfferBody.model_validate({
        names[name].validation_alias or name: value for name, value in (given | other).items()
    })


def limited(*accepts: PayOfferBody) -> RateLimitedError:
    reason = RefusalReason("slow down", "", "", accepts=accepts or (body(),))
    return RateLimitedError(reason, CALLED, retry_after_s=9.0)


@dataclass
class Runs:
    """What was written down, in its order, with what was sent."""

    log: list[tuple[object, ...]] = field(default_factory=list)
    past: list[SimpleNamespace] = field(default_factory=list)

    async def open(self, run: ChainRun) -> int:
        self.log.append(("open", run))
        return 41

    async def settle(self, number: int, step: str, text: str, *, now: float) -> None:
        self.log.append(("settle", number, step, text, now))

    def opened_since(self, subject: str, began: float) -> list[SimpleNamespace]:
        assert (subject, began) == (SUBJECT, spending_day_began(cast("Any", START), 3.0))
        return self.past


@dataclass
class Work:
    on: Offline
    runs: Runs
    payments: Payments
    preferred: list[tuple[str, str]]
    judged: list[tuple[PaymentOffer, PaymentPolicy, int]]
    signed: list[dict[str, Any]]
    faults: dict[str, SigningError]
    headers: list[str] = field(default_factory=list)
    answer: object = None

    async def again(self, header: str) -> object:
        self.runs.log.append(("sent",))
        self.headers.append(header)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    @property
    def pay(self) -> PayView:
        return self.on.state.wallet.pay

    @property
    def offer(self) -> OfferView:
        assert self.pay.offer is not None
        return self.pay.offer


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Work]:
    def make(day_max: int | None = 12_000, *, executes: bool = True) -> Work:
        cap = None if day_max is None else Micros(day_max)
        wallet = wallet_of(pay=PayView(cap, Micros(5_000)))
        on = Offline(replace(sample_state(8), wallet=wallet), skew_s=3.0)
        cast("Any", on.ports.client).host = "pay.example"
        runs, preferred = Runs(), []
        faults: dict[str, SigningError] = {}
        vault = SimpleNamespace(signer_of=lambda address: f"signer of {address}")
        on.ports = replace(on.ports, vault=cast("Any", vault))

        async def prefer(key: str, text: str) -> None:
            preferred.append((key, text))

        gateway = SimpleNamespace(runs=runs)
        room = Payments(
            on.ports, cast("ChainGateway", gateway),
            cast("Memory", SimpleNamespace(prefer=prefer)), executes=lambda: executes,
        )  # fmt: skip
        made = Work(on, runs, room, preferred, [], [], faults)

        def judge(offer: PaymentOffer, policy: PaymentPolicy, *, paid_today: int) -> None:
            made.judged.append((offer, policy, paid_today))
            if "judge" in faults:
                raise faults["judge"]

        def sign(
            offer: PaymentOffer, policy: PaymentPolicy, signer: object, **given: Any
        ) -> object:
            made.signed.append({"offer": offer, "policy": policy, "signer": signer, **given})
            if "sign" in faults:
                raise faults["sign"]
            allowed = Authorization(
                payer=ME, pay_to=offer.pay_to, amount=offer.amount, after_s=6, before_s=8,
                nonce=given["nonce"],
            )  # fmt: skip
            return SignedAuthorization(allowed, SIGNED)

        monkeypatch.setattr(payments, "judge_offer", judge)
        monkeypatch.setattr(payments, "sign_payment", sign)
        return made

    return make


# -- the cap ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("day_max", "stored", "cap"),
    [(Micros(12_345), "12345", 12_345), (Micros(1), "1", 1), (Micros(0), "", None),
     (Micros(-5), "", None), (None, "", None)],
)  # fmt: skip
async def test_a_cap_above_zero_is_kept_and_shown_and_all_else_is_off(
    work: Callable[..., Work], day_max: Micros | None, stored: str, cap: int | None
) -> None:
    made = work()
    made.payments.on_offer(limited(), made.again)
    made.on.facts.clear()
    made.runs.past = [SimpleNamespace(step=PAID)]
    order = SetPay(day_max)
    await made.payments.set_cap(order)
    assert made.preferred == [(CAP, stored)]
    assert PreferenceSet(CAP, stored) in made.on.facts
    assert made.pay == PayView(None if cap is None else Micros(cap), Micros(PRICE), None)
    assert made.on.words == [("good", order.describe())]


@pytest.mark.parametrize(
    ("text", "cap"),
    [("5000", 5_000), ("1", 1), ("0", None), ("", None), ("-1", None), ("1.5", None),
     ("9" * 15, int("9" * 15)), ("9" * 16, None), ("\u0665", None)],
)  # fmt: skip
def test_a_stored_cap_is_read_only_as_this_program_writes_it(text: str, cap: int | None) -> None:
    assert cap_of(text) == cap


@pytest.mark.parametrize(
    ("steps", "spent"),
    [((), 0), ((PAID,), PRICE), ((PAID, UNKNOWN, "pay", REFUSED), 3 * PRICE)],
)
def test_all_that_was_not_refused_before_it_was_signed_counts_as_paid(
    work: Callable[..., Work], steps: tuple[str, ...], spent: int
) -> None:
    made = work()
    made.runs.past = [SimpleNamespace(step=step) for step in steps]
    assert made.payments._spent() == spent


# -- an offer --------------------------------------------------------------------------------------


def test_an_offer_is_shown_with_all_that_it_says(work: Callable[..., Work]) -> None:
    made = work()
    made.payments.on_offer(limited(body(scheme="other", network="else"), body()), made.again)
    assert made.offer == OfferView(
        offer_id=made.on.ports.new_id(), at=cast("Any", START), host="pay.example",
        path="/api/sdk/briefing", price=Micros(PRICE), recipient=TO, network="base",
        token=OFFER.asset, why_not="",
    )  # fmt: skip
    assert made.judged == [
        (OFFER, PaymentPolicy(host="pay.example", day_max=12_000, recipient=TO), 5_000)
    ]
    assert made.on.told == [
        Noticed("info", "payment offer for /api/sdk/briefing", fix=Fix.PAY_OFFER)
    ]
    assert (made.pay.day_max, made.pay.spent) == (12_000, 5_000)


def test_an_offer_that_cannot_be_paid_is_shown_with_the_reason(work: Callable[..., Work]) -> None:
    made = work()
    made.faults["judge"] = cast("Any", ValueError("no address"))
    made.payments.on_offer(limited(body(scheme="other", resource="https://[")), made.again)
    assert (made.offer.why_not, made.offer.host) == ("no address", "")


@pytest.mark.parametrize(("day_max", "executes"), [(None, True), (12_000, False)])
def test_an_offer_is_nothing_while_paying_is_off_or_another_program_pays(
    work: Callable[..., Work], day_max: int | None, *, executes: bool
) -> None:
    made = work(day_max, executes=executes)
    made.payments.on_offer(limited(), made.again)
    assert (made.pay.offer, made.on.facts) == (None, [])


# -- a payment -------------------------------------------------------------------------------------


async def test_an_offer_is_written_down_signed_sent_once_and_settled(
    work: Callable[..., Work],
) -> None:
    made = work()
    made.payments.on_offer(limited(), made.again)
    made.on.facts.clear()
    made.runs.past = [SimpleNamespace(step=PAID)]
    await made.payments.pay(PayOffer(made.offer.offer_id))
    nonce = hashlib.sha256(f"{made.on.ports.new_id()} {made.on.ports.new_id()}".encode()).digest()
    text = json.dumps({"amount": PRICE, "host": "pay.example", "path": "/api/sdk/briefing"})
    address = made.on.state.wallet.address
    run = ChainRun(
        subject=f"{SUBJECT}{nonce.hex()}", wallet=address, opened_at=START, changed_at=START,
        step="pay", body=text,
    )  # fmt: skip
    assert made.runs.log == [("open", run), ("sent",), ("settle", 41, PAID, text, START)]
    policy = PaymentPolicy(host="pay.example", day_max=12_000, recipient=TO)
    assert made.signed == [
        {
            "offer": OFFER, "policy": policy, "signer": f"signer of {address}",
            "now_s": int(START - 3), "nonce": nonce, "paid_today": PRICE,
        }
    ]  # fmt: skip
    assert made.judged[-1] == (OFFER, policy, PRICE)
    sent = json.loads(base64.b64decode(made.headers[0]))
    assert sent["network"] == "base"
    assert set(sent["payload"]["authorization"]) >= {"from", "to", "validBefore"}
    assert sent["payload"]["signature"] == SIGNED
    assert list(sent["payload"]["authorization"].values()) == [
        ME, TO, str(PRICE), "6", "8", f"0x{nonce.hex()}",
    ]  # fmt: skip
    assert made.pay == PayView(Micros(12_000), Micros(PRICE), None)
    assert made.on.words == [("good", "paid for one call")]
    # It is gone: the same yes pays nothing more.
    await made.payments.pay(PayOffer(made.on.ports.new_id()))
    assert made.on.words[1:] == [("warn", "offer expired; nothing paid")]
    assert len(made.headers) == 1


async def test_only_the_offer_that_was_shown_is_paid(work: Callable[..., Work]) -> None:
    made = work()
    await made.payments.pay(PayOffer("any"))
    made.payments.on_offer(limited(), made.again)
    await made.payments.pay(PayOffer("another"))
    assert made.headers == []
    assert made.on.words[0] == made.on.words[2] == ("warn", "offer expired; nothing paid")
    # The right word still pays it.
    await made.payments.pay(PayOffer(made.offer.offer_id))
    assert len(made.headers) == 1


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (UnreachableError("away", CALLED), "sent, no response, counted as paid: "),
        (
            NotFoundError(RefusalReason("gone", "", ""), CALLED, status=404),
            "sent, refused, counted as paid: ",
        ),
    ],
)
async def test_what_was_sent_counts_as_paid_whatever_came_back(
    work: Callable[..., Work], error: ServiceError, text: str
) -> None:
    made = work()
    made.answer = error
    made.payments.on_offer(limited(), made.again)
    await made.payments.pay(PayOffer(made.offer.offer_id))
    assert made.runs.log[-1][:3] == ("settle", 41, UNKNOWN)
    assert made.on.words[-1] == ("bad", f"{text}{error}")
    assert made.pay.offer is None


async def test_what_is_not_signed_is_not_sent_and_costs_nothing(work: Callable[..., Work]) -> None:
    made = work()
    made.faults["sign"] = SigningError("the key is locked")
    made.payments.on_offer(limited(), made.again)
    await made.payments.pay(PayOffer(made.offer.offer_id))
    assert made.headers == []
    assert made.runs.log[-1][:3] == ("settle", 41, REFUSED)
    assert made.on.words[-1] == ("bad", "not paid: the key is locked")


async def test_what_may_not_be_paid_is_not_even_written_down(work: Callable[..., Work]) -> None:
    made = work()
    made.payments.on_offer(limited(), made.again)
    made.faults["judge"] = SigningError("above the cap")
    await made.payments.pay(PayOffer(made.offer.offer_id))
    assert (made.runs.log, made.signed, made.headers) == ([], [], [])
    assert made.on.words[-1] == ("bad", "above the cap")
    late = work()
    late.payments.on_offer(limited(), late.again)
    cast("Any", late.on.ports.client).skew_s = 9_999.0
    late.runs.opened_since = lambda *_: []  # type: ignore[method-assign]
    await late.payments.pay(PayOffer(late.offer.offer_id))
    assert (late.runs.log, late.headers) == ([], [])
    assert "clock" in late.on.words[-1][1]


def test_the_client_brings_its_offers_here_and_off_means_that_nothing_may_be_paid(
    work: Callable[..., Work],
) -> None:
    made = work(None)
    assert made.on.ports.client.offered == made.payments.on_offer
    assert made.payments._policy(OFFER).day_max == 0


def test_a_day_of_payments_begins_with_the_earlier_midnight_of_both_clocks(
    work: Callable[..., Work], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = work()
    midnight = START - START % 86_400
    asked: list[float] = []
    monkeypatch.setattr(made.on.clock, "now", lambda: midnight + 1)
    monkeypatch.setattr(made.runs, "opened_since", lambda _, began: asked.append(began) or ())
    for skew_s in (3.0, None):
        cast("Any", made.on.ports.client).skew_s = skew_s
        made.payments._spent()
    earlier, own = (spending_day_began(cast("Any", midnight + 1), one) for one in (3.0, 0.0))
    assert asked == [earlier, own]
    assert earlier < own
