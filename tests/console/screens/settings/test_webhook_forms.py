"""The list of webhooks and the form of a new one, without an app."""

from dataclasses import replace
from typing import Any

import pytest

from kit.console.alone import Alone
from kit.samples.desk import NOW, sample_state
from service_tui.console.forms.secret import Secret
from service_tui.console.screens.settings.webhooks import EVENTS, URL, WebhookForm, WebhookList
from service_tui.desk.commands.settings import Forget
from service_tui.desk.commands.webhooks import (
    ReadWebhooks,
    RemoveWebhook,
    SetWebhook,
    TestWebhook,
)
from service_tui.desk.slices.agents import RevealedView
from service_tui.desk.slices.webhooks import WebhooksView, WebhookView
from service_tui.desk.state import DeskState
from service_tui.terms import WebhookEvent
from service_tui.units import Timestamp

STATE = replace(sample_state(), webhooks=None, revealed=None)
HOOK = WebhookView(
    "wh1", "https://mine.example/in", (WebhookEvent.TRADE_EXECUTED,), is_active=True, failures=0,
    error="", waiting=0, last_delivery_at=Timestamp(NOW - 30),
)  # fmt: skip
OTHER = replace(HOOK, webhook_id="wh2", url="https://other.example/in", events=())


def with_hooks(*rows: WebhookView, at: Timestamp | None = NOW, problem: str = "") -> DeskState:
    return replace(STATE, webhooks=WebhooksView(rows, at, problem))


def page(state: DeskState) -> Alone:
    form = Alone(WebhookList(state, NOW))
    form.dialog.on_mount()
    return form


def test_the_list_is_read_as_it_opens_and_a_key_is_for_the_marked_row() -> None:
    form = page(with_hooks(HOOK, OTHER))
    assert form.given == [ReadWebhooks()]
    form.dialog.action_test()
    form.dialog.action_step(1)
    form.dialog.action_test()
    form.dialog.action_remove()
    assert form.given[1:] == [
        TestWebhook("wh1", HOOK.url),
        TestWebhook("wh2", OTHER.url),
        RemoveWebhook("wh2", OTHER.url),
    ]
    form.dialog.action_close()
    assert form.left == [None]


def test_no_key_is_for_an_empty_list() -> None:
    form = page(with_hooks())
    form.dialog.action_test()
    form.dialog.action_remove()
    assert form.given == [ReadWebhooks()]


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (STATE, "Loading webhooks..."),
        (with_hooks(at=None), "Loading webhooks..."),
        (with_hooks(), "No webhooks."),
        (with_hooks(problem="no answer"), "not loaded: no answer"),
        (with_hooks(at=None, problem="no answer"), "not loaded: no answer"),
    ],
)
def test_a_list_without_rows_says_why(state: DeskState, words: str) -> None:
    assert page(state).text("list-rows").startswith(words)


@pytest.mark.parametrize(
    ("other", "health"),
    [
        ({}, "delivered 30s ago  trades"),
        ({"last_delivery_at": None}, "no delivery yet  trades"),
        ({"failures": 3, "waiting": 2, "error": "late"}, "3 failed, 2 waiting: late  trades"),
        (
            {"is_active": False, "failures": 10, "error": "gone"},
            "disabled after 10 failures: gone  trades",
        ),
        ({"events": ()}, "delivered 30s ago  price alerts only"),
        (
            {"events": (WebhookEvent.PRICE_ALERT, WebhookEvent.PRICE_MOVEMENT)},
            "delivered 30s ago  price alerts, price moves",
        ),
    ],
)
def test_a_row_tells_its_address_and_how_it_goes(other: Any, health: str) -> None:
    lines = page(with_hooks(replace(HOOK, **other), OTHER)).text("list-rows").splitlines()
    assert lines[:2] == [f"▌ {HOOK.url}", f"▌ {health}"]
    assert lines[2] == f"  {OTHER.url}"
    assert lines[3].startswith("  delivered")


def test_rows_stay_beside_the_problem_of_a_newer_reading() -> None:
    text = page(with_hooks(HOOK, problem="no answer")).text("list-rows")
    assert HOOK.url in text
    assert text.endswith("not loaded: no answer")


def test_a_new_address_is_sent_once_it_was_typed() -> None:
    form = page(with_hooks(HOOK))
    order = SetWebhook("https://a.example", (WebhookEvent.PRICE_ALERT,))
    for result in (None, order):
        form.dialog.action_new()
        assert isinstance(form.opened[-1], WebhookForm)
        assert form.opened[-1].state is form.dialog.state
        form.answer(result)
    assert form.given[1:] == [order]


REVEALED = RevealedView("", HOOK.url, is_key=False, secret="s3cret")  # noqa: S106 - invented


def test_the_secret_of_a_new_webhook_is_shown_once_and_forgotten() -> None:
    form = page(with_hooks(HOOK))
    state = replace(form.dialog.state, revealed=REVEALED)
    form.dialog.take(state, NOW)
    form.dialog.take(state, NOW)
    (shown,) = form.opened
    assert isinstance(shown, Secret)
    form.answer(None)
    assert form.given[1:] == [Forget()]


def test_a_newer_secret_is_not_forgotten_with_the_former_one() -> None:
    form = page(with_hooks(HOOK))
    form.dialog.take(replace(form.dialog.state, revealed=REVEALED), NOW)
    newer = replace(REVEALED, name="https://b.example")
    form.dialog.__class__.is_active = False
    form.dialog.take(replace(form.dialog.state, revealed=newer), NOW)
    assert len(form.opened) == 1
    form.answer(None)
    assert form.given == [ReadWebhooks()]
    form.dialog.__class__.is_active = True
    form.dialog.take(form.dialog.state, NOW)
    assert len(form.opened) == 2


def test_the_secret_of_an_agent_is_shown_elsewhere() -> None:
    form = page(with_hooks(HOOK))
    revealed = replace(REVEALED, agent_id="a1", is_key=True)
    assert not revealed.is_webhook
    form.dialog.take(replace(form.dialog.state, revealed=revealed), NOW)
    assert form.opened == []


# -- the form -------------------------------------------------------------------------------------


def test_a_webhook_is_made_of_its_address_and_events() -> None:
    form = Alone(WebhookForm(STATE, NOW))
    form.type(URL.name, " https://my.example/in ")
    labels, place = form.part(EVENTS.name).options
    assert (labels, place) == (("everything", "trades", "prices"), 0)
    assert form.dialog.validate() == SetWebhook("https://my.example/in", tuple(WebhookEvent))
    form.pick(EVENTS.name, 2)
    assert form.part(EVENTS.name).options[1] == 2
    assert form.text("form-preview") == "price moves, price alerts"
    form.dialog.action_set()
    assert form.left == [
        SetWebhook("https://my.example/in", (WebhookEvent.PRICE_MOVEMENT, WebhookEvent.PRICE_ALERT))
    ]


def test_a_key_goes_round_the_events() -> None:
    form = Alone(WebhookForm(STATE, NOW))
    places: list[int] = []
    for _ in range(3):
        form.dialog.action_events()
        places.append(form.part(EVENTS.name).options[1])
    assert places == [1, 2, 0]


@pytest.mark.parametrize(
    ("typed", "problem"),
    [
        ("", "enter the address"),
        ("http://[", "not an address"),
        ("ftp://a.example", "start with https://"),
        ("https://", "start with https://"),
        ("https://a.example/a b", "invalid characters"),
        ("https://ä.example", "invalid characters"),
    ],
)
def test_what_is_no_address_is_refused(typed: str, problem: str) -> None:
    form = Alone(WebhookForm(STATE, NOW))
    form.type(URL.name, typed)
    form.dialog.action_set()
    assert form.problem.startswith(problem)
    assert form.left == []
