"""The order of a command line, and the question before it is sent."""

import argparse
from typing import Any

import pytest

from kit.command_line import typed as typed_as
from service_tui.cli.orders import choose, choose_of, confirm, is_unasked, order_request
from service_tui.commands.trade import OrderRequest
from service_tui.terms import Action, Side, Venue


def arguments(command: str, **fields: Any) -> argparse.Namespace:
    known: dict[str, Any] = {
        "command": command, "market": "rain", "side": "no", "amount": "20", "venue": "evm_venue",
        "worst": "0.4", "sell": False, "yes": False, "live": False, "json": False,
    }  # fmt: skip
    return argparse.Namespace(**(known | fields))


@pytest.mark.parametrize(
    ("command", "sell", "action", "is_quote"),
    [
        ("buy", True, Action.BUY, False),
        ("sell", False, Action.SELL, False),
        ("quote", False, Action.BUY, True),
        ("quote", True, Action.SELL, True),
    ],
)
def test_an_order_is_what_the_command_line_says(
    *, command: str, sell: bool, action: Action, is_quote: bool
) -> None:
    assert order_request(arguments(command, sell=sell)) == OrderRequest(
        action, "rain", Side.NO, "20", is_quote=is_quote, venue=Venue.EVM, worst="0.4"
    )


@pytest.mark.parametrize(
    ("venue", "fields", "unasked"),
    [
        ("sim", {}, False),
        ("sim", {"yes": True}, True),
        ("sim", {"live": True}, False),
        ("evm_venue", {"yes": True}, False),
        ("evm_venue", {"live": True}, True),
    ],
)
def test_money_is_sent_unasked_by_its_own_word_alone(
    *, venue: str, fields: dict[str, bool], unasked: bool
) -> None:
    given = arguments("buy", venue=venue, **fields)
    request = order_request(given)
    assert is_unasked(request, given) is unasked
    # Who wants no question is not asked for a market either.
    assert (choose_of(request, given, asks=True) is None) is unasked
    assert choose_of(request, given, asks=False) is None


def test_a_quote_is_never_asked_about_and_may_choose_its_market() -> None:
    given = arguments("quote", yes=True, live=True)
    request = order_request(given)
    assert is_unasked(request, given)
    assert choose_of(request, given, asks=True) is choose


@pytest.mark.parametrize(
    ("venue", "typed", "sent"),
    [
        ("sim", "yes\n", True),
        ("sim", "  yes \n", True),
        ("sim", "y\n", True),
        ("sim", "\n", False),
        ("sim", "", False),
        ("evm_venue", "yes\n", False),
    ],
)
async def test_an_order_is_sent_by_its_word(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    venue: str,
    typed: str,
    sent: bool,
) -> None:
    given = arguments("buy", venue=venue)
    request = order_request(given)
    typed_as(monkeypatch, typed)
    assert await confirm(request, given, ["one line", "another"]) is sent
    shown = capsys.readouterr().out
    asked = "Send it? [y/N] (play money) " if venue == "sim" else "Type LIVE to send it: "
    assert shown == f"one line\nanother\n{asked}"


@pytest.mark.parametrize(
    ("typed", "place"),
    [("1\n", 0), (" 3 \n", 2), ("4\n", None), ("0\n", None), ("-1\n", None), ("x\n", None),
     ("\n", None), ("\u0663\n", None), ("9" * 30 + "\n", None),
     ("0000000012\n", None), ("000000002\n", 1)],
)  # fmt: skip
async def test_a_market_is_chosen_by_its_number(
    monkeypatch: pytest.MonkeyPatch, typed: str, place: int | None
) -> None:
    typed_as(monkeypatch, typed)
    assert await choose(["1 a", "2 b", "3 c"], 3) == place
