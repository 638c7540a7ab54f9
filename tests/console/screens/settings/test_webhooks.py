"""The webhooks of screen 8: listed with how they go, added by a form, tested and removed."""

from dataclasses import replace
from typing import Any

import pytest
from textual.widgets import Static

from kit.console.doors import running, seen_before
from kit.console.host import Host
from kit.console.opened import opened
from kit.console.snapshot import assert_snapshot
from kit.console.ticket import STATE
from kit.samples.desk import NOW
from service_tui.console.fields import FieldError
from service_tui.console.forms.secret import Secret
from service_tui.console.screens.settings.webhooks import URL, WebhookForm, WebhookList, parse_url
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

HOOK = WebhookView(
    webhook_id="wh1",
    url="https://mine.example/in",
    events=(WebhookEvent.TRADE_EXECUTED,),
    is_active=True,
    failures=0,
    error="",
    waiting=0,
    last_delivery_at=Timestamp(NOW - 30),
)
FAILING = replace(HOOK, webhook_id="wh2", failures=3, error="no response within 5 s", waiting=2)
DEAD = replace(HOOK, webhook_id="wh3", is_active=False, failures=10, error="no connection")


def with_hooks(*rows: WebhookView, problem: str = "") -> DeskState:
    return replace(STATE, webhooks=WebhooksView(rows, NOW, problem))


@pytest.mark.slow
async def test_each_address_shows_how_its_deliveries_go() -> None:
    state = with_hooks(HOOK, FAILING, DEAD)
    app = Host(state)
    async with app.run_test(size=(100, 24)) as pilot:
        page = WebhookList(state, NOW)
        app.push_screen(page)
        await pilot.pause()
        shown = str(page.query_one(".list-rows", Static).content)
        for text in (
            "https://mine.example/in",
            "delivered 30s ago  trades",
            "3 failed, 2 waiting: no response within 5 s",
            "disabled after 10 failures: no connection",
        ):
            assert text in shown, shown
        assert app.given == [ReadWebhooks()]
        await pilot.press("j", "t")
        assert app.given[-1] == TestWebhook("wh2", HOOK.url)
        await pilot.press("j", "d")
        assert app.given[-1] == RemoveWebhook("wh3", HOOK.url)


@pytest.mark.parametrize(
    ("other", "health"),
    [
        ({"last_delivery_at": None}, "no delivery yet  trades"),
        ({"events": ()}, "delivered 30s ago  price alerts only"),
        (
            {"events": (WebhookEvent.PRICE_ALERT, WebhookEvent.PRICE_MOVEMENT)},
            "delivered 30s ago  price alerts, price moves",
        ),
    ],
)
def test_a_row_tells_its_address_and_how_it_goes(other: dict[str, Any], health: str) -> None:
    state = with_hooks(replace(HOOK, **other), problem="no answer")
    lines = WebhookList(state, NOW).text().plain.splitlines()
    assert (lines[0][2:], lines[1][2:]) == (HOOK.url, health)
    assert lines[-1] == "not loaded: no answer"


async def test_an_address_that_is_none_is_refused_and_keys_go_round_its_events() -> None:
    async with opened(WebhookForm(STATE, NOW), STATE) as form:
        await form.type(URL.name, "ftp://a.example")
        await form.press("enter")
        assert form.problem.startswith("start with https://")
        assert form.returned == []
        await form.type(URL.name, " https://my.example/in ")
        shown: list[str] = []
        for _ in range(4):
            await form.press("f5")
            shown.append(form.told("form-preview"))
        assert len(set(shown)) == 4
        assert shown[1:3] == ["price moves, price alerts", "alerts on agents"]
        await form.press("enter")
        assert form.returned == [SetWebhook("https://my.example/in", tuple(WebhookEvent))]


async def test_the_secret_of_an_agent_and_keys_of_an_empty_list_are_not_for_it() -> None:
    async with opened(WebhookList(with_hooks(), NOW), with_hooks()) as form:
        await form.press("t", "d")
        assert form.given == [ReadWebhooks()]
        revealed = RevealedView("a1", "heron", is_key=True, secret="s3cret")  # noqa: S106 - invented
        await form.bring(replace(with_hooks(), revealed=revealed))
        assert form.app.screen is form.dialog


async def test_an_empty_list_and_one_that_cannot_be_read_are_told_apart() -> None:
    app = Host(STATE)
    async with app.run_test(size=(100, 24)) as pilot:
        page = WebhookList(STATE, NOW)
        app.push_screen(page)
        await pilot.pause()
        rows = page.query_one(".list-rows", Static)
        assert "Loading" in str(rows.content)
        page.take(with_hooks(), NOW)
        assert "No webhooks." in str(rows.content)
        page.take(with_hooks(problem="the service cannot be reached"), NOW)
        assert "not loaded: the service cannot be reached" in str(rows.content)


@pytest.mark.slow
async def test_an_address_is_typed_and_its_events_are_chosen() -> None:
    app = Host(STATE)
    async with app.run_test(size=(100, 24)) as pilot:
        page = WebhookList(STATE, NOW)
        app.push_screen(page)
        await pilot.pause()
        await pilot.press("n")
        await pilot.pause()
        assert isinstance(app.screen, WebhookForm)
        await pilot.press(*"https://a.example", "f5", "enter")
        await pilot.pause()
        chosen = (WebhookEvent.TRADE_EXECUTED, WebhookEvent.MARKET_RESOLVED)
        assert app.given[-1] == SetWebhook("https://a.example", chosen)


@pytest.mark.slow
async def test_the_secret_of_a_new_webhook_is_shown_once_and_forgotten() -> None:
    app = Host(STATE)
    async with app.run_test(size=(100, 24)) as pilot:
        page = WebhookList(STATE, NOW)
        app.push_screen(page)
        await pilot.pause()
        secret = "f00d" * 16
        revealed = RevealedView("", HOOK.url, is_key=False, secret=secret)
        page.take(replace(STATE, revealed=revealed), NOW)
        page.take(replace(STATE, revealed=revealed), NOW)
        await pilot.pause()
        assert isinstance(app.screen, Secret)
        assert len(app.screen_stack) == 3
        assert secret in app.screen.text().plain
        await pilot.press("escape")
        await pilot.pause()
        assert app.given[-1] == Forget()


@pytest.mark.parametrize(
    "text",
    ["", "mine.example", "ftp://mine.example", "https://", "https://a b", "https://é.example"],
)
def test_what_is_no_address_is_refused_with_the_fix(text: str) -> None:
    with pytest.raises(FieldError):
        parse_url(text)


@pytest.mark.parametrize("text", [" https://a.example/in?x=1 ", "http://127.0.0.1:9000/in"])
def test_an_address_is_taken_as_typed(text: str) -> None:
    assert parse_url(text) == text.strip()


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_the_list_and_the_form_look_so(size: tuple[int, int]) -> None:
    name = f"{size[0]}x{size[1]}"
    async with running(
        seen_before(with_hooks(HOOK, FAILING, DEAD)), first="settings", size=size
    ) as seen:
        seen.app.push_screen(WebhookList(with_hooks(HOOK, FAILING, DEAD), NOW))
        await seen.pilot.pause()
        await assert_snapshot(seen.pilot, f"webhooks_{name}")
        await seen.press("n")
        await seen.pilot.pause()
        await assert_snapshot(seen.pilot, f"webhook_form_{name}")
