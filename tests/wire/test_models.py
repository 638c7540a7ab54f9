"""Rules of the wire's models: names of venues, unknown names, numbers, moments and addresses."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, ClassVar

import pytest
from pydantic import TypeAdapter, ValidationError

from service_tui.terms import MARKET_IDS_MAX, Side, Venue
from service_tui.units import Timestamp
from service_tui.wire.base import (
    AnyVenue,
    NamingModel,
    OperatorModel,
    ReadSignalData,
    WireModel,
    moment,
    timestamp,
)
from service_tui.wire.briefing import VERSIONS_MAX, BriefingQuery
from service_tui.wire.chain import RpcBody, RpcErrorBody
from service_tui.wire.importing import CheckQuery
from service_tui.wire.markets import MarketsQuery
from service_tui.wire.moments import RequestedMoment
from service_tui.wire.monitors import MonitorRequest
from service_tui.wire.settings import HttpsAddress, SolanaAddress, UserSettingsPatch

READ: Any = {
    kind: TypeAdapter(kind)
    for kind in (AnyVenue, ReadSignalData, RequestedMoment, SolanaAddress, HttpsAddress)
}


class Money(WireModel):
    polymarket_pnl: float = 0.0
    kalshi: int = 0
    plain: int | None = None


class Asked(OperatorModel):
    size: int = 0


class Settings(NamingModel):
    sister_fields: ClassVar[Mapping[str, str]] = {"trading_paused": "PATCH /agents"}
    stop_loss_pct: float | None = None
    take_profit_pct: float | None = None


def is_good(kind: Any, value: object) -> bool:
    try:
        READ[kind].validate_python(value)
    except ValidationError:
        return False
    return True


def test_a_field_of_a_venue_is_read_by_both_names_and_sent_by_the_neutral_one() -> None:
    for name in ("polymarket_pnl", "evm_venue_pnl"):
        assert Money.model_validate({name: 2.5}).polymarket_pnl == 2.5
    for name in ("kalshi", "sol_venue"):
        assert Money.model_validate({name: 3}).kalshi == 3
    assert Money(polymarket_pnl=2.5, plain=4).model_dump(by_alias=True) == {
        "evm_venue_pnl": 2.5, "sol_venue": 0, "plain": 4
    }  # fmt: skip


def test_an_answer_passes_over_what_it_does_not_know_and_an_operator_is_refused() -> None:
    assert Money.model_validate({"new": 1}) == Money()
    with pytest.raises(ValidationError):
        Asked.model_validate({"size": 1, "sise": 2})
    for wrong in ({"plain": "4"}, {"polymarket_pnl": float("nan")}, {"plain": 4.0}):
        with pytest.raises(ValidationError):
            Money.model_validate(wrong)
    with pytest.raises(ValidationError):
        Money().plain = 5  # pyright: ignore[reportAttributeAccessIssue]


def test_an_address_for_notices_is_kept_as_it_was_written() -> None:
    address = "https://hook.example/in?x=1"
    sent = UserSettingsPatch.model_validate({"clawdbot_webhook_url": address})
    assert sent.changes() == {"clawdbot_webhook_url": address}
    with pytest.raises(ValidationError, match="not an https address"):
        UserSettingsPatch.model_validate({"clawdbot_webhook_url": "http://hook.example"})


def test_a_monitor_watches_something() -> None:
    for wrong in ({}, {"stop_loss_pct": None, "take_profit_pct": None}):
        with pytest.raises(ValidationError, match=r"give stop_loss_pct|both are null"):
            MonitorRequest.model_validate({"side": Side.YES, **wrong})
    # One that is null beside one that is not removes that one alone.
    fields = {"side": Side.YES, "stop_loss_pct": None, "take_profit_pct": 0.5}
    assert MonitorRequest.model_validate(fields).take_profit_pct == 0.5


def test_an_unknown_setting_is_named_with_the_one_that_was_meant() -> None:
    sent = Settings.model_validate({
        "stop_loss_pc": 1,
        "trading_pause": 2,
        "zzz": 3,
        "take_profit_pct": None,
    })
    assert sent.unknown() == {
        "stop_loss_pc": "stop_loss_pct", "trading_pause": "trading_paused (PATCH /agents)",
        "zzz": "",
    }  # fmt: skip
    assert sent.warnings() == (
        "unknown setting ignored: 'stop_loss_pc', did you mean stop_loss_pct?",
        "unknown setting ignored: 'trading_pause', did you mean trading_paused (PATCH /agents)?",
        "unknown setting ignored: 'zzz'",
    )
    assert sent.sent() == {"take_profit_pct": None}
    assert sent.changes() == {}
    (long,) = Settings.model_validate({"z" * 99: 1}).warnings()
    assert long == f"unknown setting ignored: '{'z' * 80}'"
    named = Settings.model_validate({"stop_loss_pct": 0.0, "take_profit_pct": None})
    assert named.changes() == {"stop_loss_pct": 0.0}
    assert named.unknown() == {}


@pytest.mark.parametrize(
    ("name", "venue"),
    [
        ("sim", Venue.SIM),
        ("polymarket", Venue.EVM),
        ("evm_venue", Venue.EVM),
        (Venue.SOL, Venue.SOL),
        ("moon", None),
        (3, None),
    ],
)
def test_a_venue_is_read_by_any_of_its_names(name: object, venue: Venue | None) -> None:
    if venue is None:
        assert not is_good(AnyVenue, name)
    else:
        assert READ[AnyVenue].validate_python(name) is venue


def test_of_signal_data_what_cannot_be_read_is_left_out() -> None:
    sent = {
        "a": 1, "b": 2.5, "c": "x", "d": True, "e": None, "f": float("inf"), "g": [1],
    }  # fmt: skip
    assert READ[ReadSignalData].validate_python(sent) == {"a": 1, "b": 2.5, "c": "x"}
    assert not is_good(ReadSignalData, [1])


def test_a_moment_is_a_time_of_greenwich_and_back() -> None:
    at = datetime(2026, 11, 21, 8, tzinfo=UTC)
    assert moment(Timestamp(1_795_248_000.0)) == at
    assert timestamp(at) == 1_795_248_000.0


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("2026-11-21T08:00:00Z", True),
        ("2026-11-21T08:00:00", False),
        ("1795248000", False),
        (" 1795248000.5 ", False),
        ("soon", False),
    ],
)
def test_a_moment_of_a_query_is_written_out_with_its_zone(text: str, *, good: bool) -> None:
    assert is_good(RequestedMoment, text) is good


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("1" * 32, True),
        ("11111111111111111111111111111112", True),
        ("So11111111111111111111111111111111111111112", True),
        ("1" * 33, False),
        ("1" * 31, False),
        ("0" * 32, False),
        ("z" * 44, False),
        ("l" + "1" * 31, False),
    ],
)
def test_an_address_of_solana_is_32_bytes_in_base_58(text: str, *, good: bool) -> None:
    assert is_good(SolanaAddress, text) is good


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("https://hook.example/x", True),
        ("http://hook.example/x", False),
        ("https:///x", False),
        ("hook.example", False),
    ],
)
def test_an_address_for_messages_is_https_with_a_host(text: str, *, good: bool) -> None:
    assert is_good(HttpsAddress, text) is good


@pytest.mark.parametrize(
    ("given", "good"),
    [
        ({"url": "https://x.example"}, True),
        ({"ticker": "A-1-2"}, True),
        ({"condition_id": "0xab"}, True),
        ({}, False),
        ({"url": "https://x.example", "ticker": "A-1-2"}, False),
        ({"condition_id": "0xab", "ticker": "A-1-2"}, False),
    ],
)
def test_a_question_is_looked_for_by_one_name(given: dict[str, str], *, good: bool) -> None:
    if good:
        assert CheckQuery(**given).model_dump(exclude_none=True) == given
        return
    with pytest.raises(ValidationError):
        CheckQuery(**given)


def test_only_so_many_markets_are_asked_for_by_their_ids() -> None:
    ids = ",".join(["m"] * MARKET_IDS_MAX)
    assert MarketsQuery(ids=ids).ids == ids
    with pytest.raises(ValidationError):
        MarketsQuery(ids=f"{ids},m")


@pytest.mark.parametrize(
    ("text", "versions"),
    [
        ('{"rain": "1.2"}', {"rain": "1.2"}),
        ("{}", {}),
        ("[]", None),
        ('{"rain": 1}', None),
        ("{", None),
        ("{" + ",".join(f'"s{n}": "1"' for n in range(VERSIONS_MAX + 1)) + "}", None),
    ],
)
def test_versions_of_skills_are_one_flat_object(text: str, versions: dict[str, str] | None) -> None:
    if versions is None:
        with pytest.raises(ValidationError):
            BriefingQuery(skill_versions=text)
    else:
        assert BriefingQuery(skill_versions=text).skill_versions == text
    assert BriefingQuery().skill_versions is None


def test_an_answer_of_the_chain_is_a_result_or_an_error_and_null_is_a_result() -> None:
    head = {"jsonrpc": "2.0", "id": 1}
    assert RpcBody(id=1, result="0x1").model_dump() == {**head, "result": "0x1"}
    assert RpcBody(id=1).model_dump() == {**head, "result": None}
    error = RpcErrorBody(code=-32_000, message="no")
    assert RpcBody(id=1, error=error).model_dump() == {
        **head, "error": {"code": -32_000, "message": "no"}
    }  # fmt: skip


@pytest.mark.parametrize("value", [[], {}, ["sim"], 1, True, None])
def test_what_is_no_text_is_refused_as_the_name_of_a_venue(value: object) -> None:
    with pytest.raises(ValidationError):
        READ[AnyVenue].validate_python(value)
    assert READ[AnyVenue].validate_python(Venue.SOL) is Venue.SOL


@pytest.mark.parametrize(
    ("sent", "is_taken"),
    [
        ({}, False),
        ({"stop_loss_pct": None}, True),
        ({"take_profit_pct": None}, True),
        ({"stop_loss_pct": None, "take_profit_pct": None}, False),
        ({"stop_loss_pct": None, "take_profit_pct": 0.5}, True),
        ({"stop_loss_pct": None, "take_profit_pct": None, "trailing_stop_pct": 0.1}, True),
        ({"trailing_stop_pct": 0.1}, True),
        ({"trailing_stop_pct": 0.1, "trailing_stop_points": None}, True),
        ({"trailing_stop_pct": 0.1, "trailing_stop_points": 0.1}, False),
    ],
)
def test_thresholds_watch_something_and_trail_in_one_unit(
    sent: dict[str, float | None], *, is_taken: bool
) -> None:
    def read() -> MonitorRequest:
        return MonitorRequest.model_validate({"side": Side.YES, **sent})

    if is_taken:
        assert read().model_fields_set == {"side", *sent}
    else:
        with pytest.raises(ValidationError):
            read()
