"""Neutral and public names of venues in requests and answers."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import httpx
import pytest

from kit.service.stage import Stage, open_stage
from service_tui.clock import ManualClock
from service_tui.server.embedded import BASE_URL
from service_tui.server.http.names import in_public_names, names_public, sdk_version
from service_tui.storage.journal import JournalStore
from service_tui.terms import Plan, Venue
from service_tui.wire.agents import AgentBody
from service_tui.wire.briefing import BriefingBody
from service_tui.wire.endpoints.public import (
    AGENT,
    BRIEFING,
    HEALTH,
    PLACE_TRADE,
    PORTFOLIO,
    POSITIONS,
    SETTINGS,
    TRADES,
)
from service_tui.wire.endpoints.research import BACKTEST
from service_tui.wire.positions import PnlBody, PortfolioBody, PortfolioVenue, PositionsBody
from service_tui.wire.settings import SettingsBody

PUBLISHED: Final = "service-sdk/0.26.0 (python/3.11; runtime/unknown)"
OURS: Final = "service-tui/1.0"


@asynccontextmanager
async def caller(stage: Stage, agent: str | None) -> AsyncGenerator[httpx.AsyncClient]:
    headers = {"Authorization": f"Bearer {stage.key}"}
    if agent is not None:
        headers["User-Agent"] = agent
    async with httpx.AsyncClient(
        transport=stage.sim.transport, base_url=BASE_URL, headers=headers
    ) as client:
        yield client


VERSIONS: Final = {
    PUBLISHED: "0.26.0",
    "service-sdk/0.9.21": "0.9.21",
    "acme_market-sdk/1.0.0rc1; x": "1.0.0rc1",
    "some-word-sdk/2": "2",
    OURS: None,
    "service-tui-sdk": None,
    "python-httpx/0.28.1": None,
    "Mozilla/5.0 service-sdk/0.26.0": None,
    "-sdk/1.0": None,
    "service-sdk/": None,
    "service-sdk/" + "1" * 33: None,
    "service-sdk/1\x1b[31m": None,
    "": None,
}


@pytest.mark.parametrize("agent", VERSIONS)
def test_the_published_client_is_known_by_its_tag(agent: str) -> None:
    assert sdk_version(agent) == VERSIONS[agent]


def test_a_public_name_counts_only_where_a_venue_is_said() -> None:
    assert names_public([("venue", "polymarket")])
    assert names_public([("import_source", "kalshi")])
    others = [("venue", "sim"), ("venue", "evm_venue"), ("q", "polymarket"), ("venue", 3)]
    assert not names_public([*others, ("venue", "sandbox"), ("venue", ["kalshi"])])


CHANGED: Final[dict[str, tuple[object, object]]] = {
    "values": ({"venue": "evm_venue"}, {"venue": "polymarket"}),
    "lists": ({"venues": ["sim", "sol_venue"]}, {"venues": ["sim", "kalshi"]}),
    "blocks": ({"venues": {"sol_venue": {}}}, {"venues": {"kalshi": {}}}),
    "figures": ({"evm_venue_win_rate": 1}, {"polymarket_win_rate": 1}),
    "sentences": ({"fix": "trade on evm_venue"}, {"fix": "trade on polymarket"}),
    "actions": ({"actions": ["redeem on sol_venue"]}, {"actions": ["redeem on kalshi"]}),
    "faults": (
        {"detail": [{"loc": ["body", "venue"], "msg": "'sim' or 'evm_venue'", "type": "enum"}]},
        {"detail": [{"loc": ["body", "venue"], "msg": "'sim' or 'polymarket'", "type": "enum"}]},
    ),
}
KEPT: Final[dict[str, object]] = {
    "titles": {"question": "Will evm_venue win?"},
    "private notes": {"signal_data": {"venue": "evm_venue", "evm_venue": "x"}},
    "tags": {"by_source": {"evm_venue": {"positions": 1}}},
    "reasons": {"reasoning": "evm_venue is cheap"},
    "longer words": {"evm_venues": 1, "error": "evm_venue2"},
    "sim": {"venue": "sim"},
}


@pytest.mark.parametrize(("neutral", "public"), CHANGED.values(), ids=CHANGED)
def test_names_of_venues_become_public(neutral: object, public: object) -> None:
    assert json.loads(in_public_names(json.dumps({"a": [neutral]}))) == {"a": [public]}


@pytest.mark.parametrize("answer", KEPT.values(), ids=KEPT)
def test_words_of_others_stay_as_they_were(answer: object) -> None:
    text = json.dumps({"venue": "evm_venue", "rest": answer})
    assert json.loads(in_public_names(text))["rest"] == answer


def test_an_answer_without_names_is_the_same_text() -> None:
    text = '{"a": 1.50, "b": "\\u00e9"}'
    assert in_public_names(text) is text
    assert in_public_names('{"venue":"evm_venue","b":"é","c":1e-7}') == (
        '{"venue":"polymarket","b":"é","c":1e-07}'
    )


def test_our_models_read_both_spellings_and_send_the_neutral_one() -> None:
    venue = PortfolioVenue(balance=3.0)
    for name in ("polymarket", "evm_venue"):
        read = PortfolioBody.model_validate_json(f'{{"{name}":{{"balance":3.0}}}}')
        assert read.polymarket == venue
    assert '"evm_venue":{"balance":3.0' in PortfolioBody(polymarket=venue).model_dump_json(
        by_alias=True
    )
    head = '{"agent_id":"a","positions":[],'
    for name in ("kalshi", "sol_venue"):
        text = f'{head}"{name}_pnl":2.5,"pnl_summary":{{"{name}":{{"total":2.5}}}}}}'
        read = PositionsBody.model_validate_json(text)
        assert (read.kalshi_pnl, read.pnl_summary.kalshi) == (2.5, PnlBody(total=2.5))
    for name in ("polymarket", "evm_venue"):
        text = '{"venues":{},"checked_at":"2027-01-01T00:00:00Z","NAME":{"redeemable_count":2}}'
        read = BriefingBody.model_validate_json(text.replace("NAME", name))
        assert read.evm.redeemable_count == 2


def test_identifiers_of_the_interface_have_one_spelling() -> None:
    sent = json.loads(SettingsBody(sdk_real_trading_enabled=False).model_dump_json(by_alias=True))
    names = {"polymarket_usdc_balance", "polymarket_allowances_set", "kalshi_usdc_balance"}
    assert names <= set(sent)
    assert json.loads(in_public_names(json.dumps(sent))) == sent


NEUTRAL, PUBLIC = ("evm_venue", "sol_venue"), ("polymarket", "kalshi")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("agent", "names"),
    [(PUBLISHED, PUBLIC), (OURS, NEUTRAL), (None, NEUTRAL), ("curl/8.0", NEUTRAL)],
)
async def test_everybody_is_answered_in_the_names_of_his_client(
    tmp_path: Path, agent: str | None, names: tuple[str, str]
) -> None:
    async with open_stage(tmp_path) as stage, caller(stage, agent) as client:
        evm, sol = names
        portfolio = (await client.get(PORTFOLIO.path)).json()
        assert {"sim", evm, sol} <= set(portfolio)
        positions = (await client.get(POSITIONS.path)).json()
        assert {"sim_pnl", f"{evm}_pnl", f"{sol}_pnl"} <= set(positions)
        assert {"sim", evm, sol, "combined"} == set(positions["pnl_summary"])
        briefing = (await client.get(BRIEFING.path)).json()
        assert briefing[evm] == {"redeemable_count": 0, "actions": []}
        settings = (await client.get(SETTINGS.path)).json()
        assert "polymarket_usdc_balance" in settings
        other = NEUTRAL if names == PUBLIC else PUBLIC
        for body in (portfolio, positions, briefing):
            assert not set(other) & set(body)


@pytest.mark.slow
@pytest.mark.parametrize(("venue", "said"), [("kalshi", "kalshi"), ("sol_venue", "sol_venue")])
async def test_who_sends_a_public_name_gets_public_names(
    tmp_path: Path, venue: str, said: str
) -> None:
    async with open_stage(tmp_path) as stage, caller(stage, None) as client:
        elsewhere = next(one for one in stage.open_markets() if one.listing.home is Venue.SIM)
        order = {"market_id": elsewhere.market_id, "side": "yes", "amount": 5, "dry_run": True}
        refused = await client.post(PLACE_TRADE.path, json={**order, "venue": venue})
        assert said in refused.json()["error"]
        invalid = await client.get(PORTFOLIO.path, params={"venue": venue})
        assert {said} <= set(invalid.json())
        wrong = await client.get(TRADES.path, params={"venue": venue, "limit": 0})
        assert wrong.status_code == 422


@pytest.mark.slow
@pytest.mark.parametrize(
    ("venue", "choices"),
    [("polymarket", "'sim' or 'polymarket'"), ("evm_venue", "'sim' or 'evm_venue'")],
)
async def test_a_body_that_is_refused_is_answered_in_the_names_that_stand_in_it(
    tmp_path: Path, venue: str, choices: str
) -> None:
    async with open_stage(tmp_path) as stage, caller(stage, None) as client:
        body = {"skill_slug": "weather", "config": {}, "venue": venue}
        wrong = await client.post(BACKTEST.path, json=body | {"venue": [venue], "platform": venue})
        assert wrong.status_code == 422
        assert choices in wrong.json()["fix"]
        # A text that is no JSON names no venue, and one with a field twice says neither.
        for text in (b'{"venue": "polymarket", ', b'{"venue": "kalshi", "venue": 1}'):
            broken = await client.post(
                BACKTEST.path, content=text, headers={"Content-Type": "application/json"}
            )
            assert broken.status_code == 422


@pytest.mark.slow
async def test_private_notes_come_back_as_they_were_sent(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage, caller(stage, PUBLISHED) as client:
        notes = {"venue": "evm_venue", "evm_venue": "x"}
        order = {"market_id": stage.open_markets()[0].market_id, "side": "yes", "amount": 5}
        await client.post(
            PLACE_TRADE.path, json={**order, "signal_data": notes, "reasoning": "on evm_venue"}
        )
        row = (await client.get(TRADES.path)).json()["trades"][0]
        assert (row["signal_data"], row["reasoning"]) == (notes, "on evm_venue")


@pytest.mark.slow
async def test_the_version_of_the_client_is_shown_and_written_only_when_it_changes(
    tmp_path: Path,
) -> None:
    clock = ManualClock()

    async def seen(client: httpx.AsyncClient) -> tuple[str | None, str | None]:
        body = (await client.get(SETTINGS.path)).json()
        return body["last_sdk_version"], body["last_sdk_version_seen_at"]

    async with open_stage(tmp_path, clock, plan=Plan.PRO, speed=0) as stage:
        async with caller(stage, OURS) as ours, caller(stage, PUBLISHED) as client:
            version, seen_at = await seen(ours)
            assert version == OURS
            assert seen_at is not None
            # No version of the published client, and thus nothing to update.
            briefing = (await ours.get(BRIEFING.path)).json()
            assert briefing["sdk_update"] is None
            rows = JournalStore(stage.at_rest).last_seq()
            version, first_at = await seen(client)
            assert version == "0.26.0"
            for _ in range(20):
                await clock.advance(1.0)
                await client.get(AGENT.path)
            assert JournalStore(stage.at_rest).last_seq() == rows + 1
            version, last_at = await seen(ours)
            assert first_at is not None
            assert last_at is not None
            assert (version, last_at > first_at) == ("0.26.0", True)
            # Who has no key is nobody's client.
            await client.get(HEALTH.path)
        async with caller(stage, "service-sdk/0.27.0") as newer:
            assert (await seen(newer))[0] == "0.27.0"
        assert JournalStore(stage.at_rest).last_seq() == rows + 2
        key, agent_id = stage.key, stage.agent_id
    async with (
        open_stage(tmp_path, clock, key=key, agent_id=agent_id) as stage,
        caller(stage, None) as client,
    ):
        version, seen_at = await seen(client)
        assert version == "0.27.0"
        assert seen_at is not None
        AgentBody.model_validate_json((await client.get(AGENT.path)).content)
