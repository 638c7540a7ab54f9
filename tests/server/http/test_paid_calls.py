"""Which calls are paid for, when, and what is written down of it."""

from types import SimpleNamespace
from typing import Any, Final

import pytest
from starlette.datastructures import Headers

from service_tui.server.http import paid_calls, payments
from service_tui.server.http.access import Caller
from service_tui.server.http.paid_calls import admitted, charged
from service_tui.server.http.payments import PaymentRefused
from service_tui.server.http.refusals import Denied
from service_tui.wire.payment import PAID_HEADER, PAY_PRICE, PAYMENT_HEADER

AGENT: Final = SimpleNamespace(agent_id="a1", of="the key")
AS_NOW: Final = SimpleNamespace(agent_id="a1", of="the world")
PAID: Final = {PAID_HEADER: "receipt of paid"}


class Desk:
    """A service that takes payments, and an access that may refuse."""

    def __init__(self, refusal: Denied | None = None) -> None:
        self.refusal = refusal
        self.admitted: list[object] = []
        self.written: list[object] = []
        self.checked: list[object] = []
        self.refused_why = ""
        self.address = "http://desk"
        self.clock = SimpleNamespace(now=lambda: 77.0)
        self.world = SimpleNamespace(agents={"a1": AS_NOW}, note=lambda event: ("noted", event))
        self.world_store = SimpleNamespace(commit=self._commit, check_whole=lambda: None)

    async def _commit(self, events: object) -> None:
        self.written.append(events)

    def admit(self, service: object, endpoint: object, caller: object) -> None:
        self.admitted.append((service, endpoint, caller))
        if self.refusal is not None:
            raise self.refusal


@pytest.fixture(autouse=True)
def _checks(monkeypatch: pytest.MonkeyPatch) -> None:
    def checked(world: Any, agent: Any, text: str, call: object, *, price: int) -> str:
        desk = DESKS[-1]
        assert world is desk.world
        desk.checked.append((agent.of, text, call, price))
        if desk.refused_why:
            raise PaymentRefused(desk.refused_why)
        return "paid"

    async def imported(_: object) -> None:
        pass

    monkeypatch.setattr(payments, "checked_payment", checked)
    monkeypatch.setattr(payments, "receipt", "receipt of {}".format)
    monkeypatch.setattr(paid_calls, "imported", imported)


DESKS: Final[list[Any]] = []


def desk(refusal: Denied | None = None) -> Any:
    DESKS[:] = [Desk(refusal)]
    return DESKS[-1]


def call(price: int = 0, agent: Any = AGENT) -> Any:
    return SimpleNamespace(price=price), Caller(agent, "/api/x", in_process=False)


SENT: Final = Headers({PAYMENT_HEADER: "money"})
TOO_MANY: Final = Denied(429, payments.refusal_body("wait", "u"), {"Retry-After": "3"})


async def test_a_call_within_the_rate_is_free_also_with_a_payment() -> None:
    one = desk()
    assert await admitted(one, one, call(), SENT) == {}
    assert [event for _, *event in one.admitted] == [[*call()]]
    assert one.checked == one.written == []


async def test_a_call_above_the_rate_passes_where_it_is_paid_for() -> None:
    one = desk(TOO_MANY)
    assert await admitted(one, one, call(), SENT) == PAID
    assert one.checked == [("the world", "money", ("http://desk/api/x", 77.0), PAY_PRICE)]
    assert one.written == [("noted", "paid")]


async def test_a_call_above_the_rate_without_a_payment_or_an_agent_is_refused() -> None:
    for headers, agent in ((Headers({}), AGENT), (SENT, None)):
        one = desk(TOO_MANY)
        with pytest.raises(Denied) as refused:
            await admitted(one, one, call(agent=agent), headers)
        assert refused.value is TOO_MANY
        assert one.written == []


async def test_a_payment_that_is_not_taken_says_why_and_when_to_come_back() -> None:
    one = desk(TOO_MANY)
    one.refused_why = "payment refused: stale"
    with pytest.raises(Denied) as refused:
        await admitted(one, one, call(), SENT)
    body = payments.refusal_body("payment refused: stale", "http://desk/api/x", PAY_PRICE)
    assert (refused.value.status, refused.value.body) == (402, body)
    assert refused.value.headers == {"Retry-After": "3"}
    assert one.written == []


async def test_a_call_that_is_never_free_is_checked_before_and_charged_after_its_work() -> None:
    one = desk()
    assert await admitted(one, one, call(price=9_000), SENT) == {}
    assert len(one.admitted) == 1
    assert one.checked == [("the world", "money", ("http://desk/api/x", 77.0), 9_000)]
    assert one.written == []
    assert await charged(one, call(price=9_000), SENT) == PAID
    assert one.written == [("noted", "paid")]
    assert await charged(one, call(), SENT) == {}
    assert len(one.written) == 1


async def test_a_call_that_is_never_free_counts_against_the_rate_too() -> None:
    one = desk(TOO_MANY)
    with pytest.raises(Denied) as refused:
        await admitted(one, one, call(price=9_000), SENT)
    assert refused.value is TOO_MANY


@pytest.mark.parametrize("after", [False, True])
async def test_a_call_that_is_never_free_is_offered_at_its_price(*, after: bool) -> None:
    one = desk()
    unpaid = call(price=9_000), Headers({})
    with pytest.raises(Denied) as refused:
        await (charged(one, *unpaid) if after else admitted(one, one, *unpaid))
    body: Any = refused.value.body
    assert refused.value.status == 402
    assert body.x402_url == "http://desk/api/x"
    assert [offer.max_amount_required for offer in body.accepts] == ["9000"]
    assert one.checked == []


async def test_a_refused_payment_of_such_a_call_names_its_price_again() -> None:
    one = desk()
    one.refused_why = "payment refused: stale"
    with pytest.raises(Denied) as refused:
        await charged(one, call(price=9_000), SENT)
    body: Any = refused.value.body
    assert (body.error, body.accepts[0].max_amount_required) == (one.refused_why, "9000")
    with pytest.raises(TypeError):
        await charged(one, call(price=9_000, agent=None), SENT)
