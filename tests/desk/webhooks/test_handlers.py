"""What each webhook command asks of the service, and what it tells and shows."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from kit.desk.offline import Asked, Offline
from kit.samples.desk import NOW, sample_state
from service_tui.client.errors import Called, UnreachableError
from service_tui.desk.changes import Changed
from service_tui.desk.command import Command
from service_tui.desk.commands.webhooks import (
    ReadWebhooks,
    RemoveWebhook,
    SetWebhook,
    TestWebhook,
)
from service_tui.desk.registry import Registry
from service_tui.desk.slices.agents import RevealedView
from service_tui.desk.slices.webhooks import WebhooksView, WebhookView
from service_tui.desk.tickets import Ticket
from service_tui.desk.webhooks.handlers import HANDLERS
from service_tui.terms import WebhookEvent
from service_tui.units import Timestamp
from service_tui.wire.endpoints.notify import (
    DELETE_WEBHOOK,
    SET_WEBHOOK,
    TEST_WEBHOOKS,
    WEBHOOKS,
)
from service_tui.wire.webhooks import (
    WebhookBody,
    WebhookRequest,
    WebhooksBody,
    WebhookSetBody,
    WebhookTestBody,
    WebhookTestRequest,
    WebhookTestResult,
)

WORD = "shown once"
URL = "https://mine.example/in"
EVENTS = (WebhookEvent.PRICE_ALERT, WebhookEvent.TRADE_EXECUTED)
SILENT = UnreachableError("no connection", Called("GET", "/x"))
FIELDS: dict[str, Any] = {
    "id": "w-1", "url": URL, "events": EVENTS, "active": False,
    "created_at": datetime.fromtimestamp(NOW - 500, UTC), "consecutive_failures": 4,
    "last_delivery_at": datetime.fromtimestamp(NOW - 70, UTC), "last_error": "status 500",
    "waiting": 3,
}  # fmt: skip
ROW = WebhookView("w-1", URL, EVENTS, False, 4, "status 500", 3, Timestamp(NOW - 70))  # noqa: FBT003
LIST = WebhooksBody(
    webhooks=(
        WebhookBody(**FIELDS),
        WebhookBody(**FIELDS | {"id": "w-2", "active": True, "last_delivery_at": None}),
    )
)
VIEW = WebhooksView(
    (ROW, replace(ROW, webhook_id="w-2", is_active=True, last_delivery_at=None)), NOW
)
ORDERS = {
    "add": SetWebhook(URL, EVENTS),
    "test": TestWebhook("w-1", URL),
    "remove": RemoveWebhook("w-1", URL),
}
ENDPOINTS = {"add": SET_WEBHOOK, "test": TEST_WEBHOOKS, "remove": DELETE_WEBHOOK}


async def done(order: Command, *, read_only: bool = False, **answers: Any) -> Offline:
    """What was asked and told until a command was carried out."""
    state = sample_state(8)
    on = Offline(replace(state, service=replace(state.service, read_only=read_only)))
    on.answers[WEBHOOKS] = LIST
    on.answers |= {ENDPOINTS[name]: answer for name, answer in answers.items()}
    registry = Registry()
    registry.take(HANDLERS, on.ports)
    assert set(registry.kinds) == {ReadWebhooks, *map(type, ORDERS.values())}
    await registry.carry_out(Ticket(order, state.tickets[0]))
    return on


async def test_the_list_is_shown_with_every_field_of_each_address() -> None:
    on = await done(ReadWebhooks())
    assert on.facts == [Changed(VIEW)]
    assert on.asked == [Asked(WEBHOOKS)]


@pytest.mark.parametrize("known", [None, WebhooksView((ROW,), Timestamp(NOW - 60))])
async def test_an_older_list_stays_with_the_reason_why_there_is_no_newer_one(
    known: WebhooksView | None,
) -> None:
    on = Offline(replace(sample_state(8), webhooks=known), {WEBHOOKS: SILENT})
    registry = Registry()
    registry.take(HANDLERS, on.ports)
    await registry.carry_out(Ticket(ReadWebhooks(), on.state.tickets[0]))
    older = known or WebhooksView((), None)
    assert on.facts == [Changed(replace(older, problem=str(SILENT)))]


async def test_a_new_address_is_sent_with_its_events_and_its_secret_is_shown() -> None:
    on = await done(ORDERS["add"], add=WebhookSetBody(**FIELDS, secret=WORD))
    assert on.asked == [
        Asked(SET_WEBHOOK, body=WebhookRequest.model_construct(url=URL, events=EVENTS)),
        Asked(WEBHOOKS),
    ]
    assert on.words == [("good", f"webhook added: {URL}")]
    assert on.facts[1:] == [
        Changed(RevealedView("", URL, is_key=False, secret=WORD)),
        Changed(VIEW),
    ]


async def test_without_a_secret_of_the_service_none_is_shown() -> None:
    on = await done(ORDERS["add"], add=WebhookSetBody(**FIELDS))
    assert on.facts[1:] == [Changed(VIEW)]


async def test_a_test_names_its_address_and_says_that_it_was_accepted() -> None:
    result = WebhookTestResult(id="w-1", url=URL, success=True, error="an old one")
    on = await done(ORDERS["test"], test=WebhookTestBody(success=True, results=(result,)))
    assert on.asked == [
        Asked(TEST_WEBHOOKS, body=WebhookTestRequest(webhook_id="w-1")),
        Asked(WEBHOOKS),
    ]
    assert on.words == [("good", f"{URL} accepted the test delivery")]
    assert on.facts[-1] == Changed(VIEW)


async def test_a_test_that_failed_says_why() -> None:
    results = (
        WebhookTestResult(id="w-0", url=URL, success=True, error=""),
        WebhookTestResult(id="w-1", url=URL, success=False, error="status 500"),
        WebhookTestResult(id="w-2", url=URL, success=False, error="another"),
    )
    on = await done(ORDERS["test"], test=WebhookTestBody(success=False, results=results))
    assert on.words == [("bad", f"test {URL}: status 500")]
    assert on.facts[-1] == Changed(VIEW)


async def test_a_removed_address_is_named_by_its_number_and_told_by_its_url() -> None:
    on = await done(ORDERS["remove"], remove=WebhooksBody())
    assert on.asked == [Asked(DELETE_WEBHOOK, path={"webhook_id": "w-1"}), Asked(WEBHOOKS)]
    assert on.words == [("info", f"webhook removed: {URL}")]
    assert on.facts[-1] == Changed(VIEW)


@pytest.mark.parametrize("name", ORDERS)
async def test_what_the_service_refuses_is_told_and_nothing_is_read_anew(name: str) -> None:
    on = await done(ORDERS[name], **{name: SILENT})
    assert on.words == [("bad", f"{ORDERS[name].describe()}: {SILENT}")]
    assert len(on.facts) == len(on.asked) == 1


@pytest.mark.parametrize("name", ORDERS)
async def test_a_read_only_desk_asks_nothing(name: str) -> None:
    on = await done(ORDERS[name], read_only=True)
    text = f"{ORDERS[name].describe()}: this desk is read-only: no changes"
    assert (on.words, on.asked, len(on.facts)) == ([("warn", text)], [], 1)
