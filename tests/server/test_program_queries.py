"""Queries and bodies as programs send them: each means what was meant, or is refused plainly."""

from pathlib import Path

import httpx
import pytest

from kit.service.line import answer_to, line_to
from kit.service.stage import Stage, open_stage
from service_tui.server.embedded import BASE_URL
from service_tui.wire.base import WireModel
from service_tui.wire.endpoint import Endpoint
from service_tui.wire.endpoints.browse import CANDLES
from service_tui.wire.endpoints.public import (
    ALL,
    BRIEFING,
    LEADERS,
    OUTCOMES,
    PLACE_TRADE,
    SDK_LEADERS,
    TRADES,
    VENUE_LEADERS,
)

AGENT_MOMENTS = [
    (BRIEFING, "since"), (OUTCOMES, "since"), (TRADES, "since"), (TRADES, "until"),
    (CANDLES, "start"), (CANDLES, "end"),
]  # fmt: skip
"""Parameters of an agent that are moments."""


async def asked(
    stage: Stage, endpoint: Endpoint[WireModel], query: str, key: str | None = None
) -> httpx.Response:
    """The answer to a query whose text is sent as it stands."""
    path = endpoint.path.format(venue="sim", agent_id=stage.agent_id)
    headers = {"Authorization": f"Bearer {stage.key if key is None else key}"} if key != "" else {}
    return await answer_to(
        stage, httpx.Request(endpoint.method, f"{BASE_URL}{path}?{query}", headers=headers)
    )


def test_no_parameter_that_is_a_moment_is_missing_here() -> None:
    named = {"since", "until", "start", "end"}
    found = {
        (one.path, name)
        for one in ALL
        if one.query is not None and not one.operator
        for name in named & one.query.model_fields.keys()
    }
    assert found == {(one.path, name) for one, name in AGENT_MOMENTS}


@pytest.mark.parametrize(("endpoint", "name"), AGENT_MOMENTS)
async def test_each_moment_of_a_query_is_read_in_one_way(
    tmp_path: Path, endpoint: Endpoint[WireModel], name: str
) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        symbol = f"symbol={stage.open_markets()[0].market_id}&" if endpoint is CANDLES else ""

        async def answer(text: str) -> httpx.Response:
            return await asked(stage, endpoint, f"{symbol}{name}={text}")

        for text in (
            "2026-11-28T00:00:00Z", "2026-11-28T00:00:00%2B00:00", "2026-11-28T00:00:00+00:00",
            "2026-11-28T00:00:00%2000:00", "2026-11-27T24:00:00Z", "2026-11-28t00:00:00z",
        ):  # fmt: skip
            assert (await answer(text)).status_code == 200, text
        for text, example in (
            ("2026-11-28", "2026-11-28T00:00:00Z"), ("2026-11-28T08:00:00", "2026-11-28T08:00:00Z"),
            ("soon", "2026-11-21T08:00:00Z"),
        ):  # fmt: skip
            refused = await answer(text)
            assert refused.status_code == 422
            assert refused.json()["fix"].startswith(f"correct {name}: a moment")
            assert example in refused.json()["fix"]


async def test_a_plus_that_arrived_as_a_blank_is_the_same_moment(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line, market = line_to(stage), stage.open_markets()[0]
        order = {"market_id": market.market_id, "side": "yes", "amount": 5}
        await line.said(PLACE_TRADE, json=order)
        made = (await line.said(TRADES))["trades"][0]["created_at"].replace("Z", "+00:00")
        later = made.replace("20", "21", 1)
        for text, count in ((made, 1), (later, 0)):
            found = (await asked(stage, TRADES, f"since={text}")).json()
            assert len(found["trades"]) == count


BODYLESS = [one for one in ALL if one.bodyless and not one.operator]


def test_every_payload_that_is_none_by_the_reference_is_here() -> None:
    paths = {one.path for one in BODYLESS}
    assert {
        "/api/user/wallet/external/dw-approvals/prepare",
        "/api/user/agent/{agent_id}/wallet/external/dw-approvals/prepare",
        "/api/user/wallet/external-upgrade-to-deposit-wallet",
        "/api/user/wallet/wrap-on-dw/external/prepare",
        "/api/sdk/webhooks/test",
        "/x402/briefing",
    } <= paths


@pytest.mark.parametrize("endpoint", BODYLESS, ids=lambda one: one.path)
async def test_a_payload_that_is_none_may_be_missing_empty_or_an_object(
    tmp_path: Path, endpoint: Endpoint[WireModel]
) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        url = BASE_URL + endpoint.path.format(agent_id=stage.agent_id)
        own = {"Authorization": f"Bearer {stage.key}"}
        as_json = own | {"Content-Type": "application/json"}
        answers = [
            await answer_to(stage, httpx.Request("POST", url, headers=headers, content=content))
            for headers, content in (
                (as_json, b"{}"), (as_json, None), (as_json, b""), (own, None),
            )
        ]  # fmt: skip
        first = answers[0]
        assert first.status_code not in {400, 404, 415, 422, 500}
        assert {one.status_code for one in answers} == {first.status_code}
        assert all(("fix" in one.json()) is ("fix" in first.json()) for one in answers)
        # What is no JSON is none here either, and null is no object.
        for content in (b"{", b"null"):
            broken = httpx.Request("POST", url, headers=as_json, content=content)
            assert (await answer_to(stage, broken)).status_code == 422


@pytest.mark.parametrize("endpoint", [LEADERS, SDK_LEADERS, VENUE_LEADERS])
async def test_a_leaderboard_wants_no_key_and_knows_the_caller_by_one(
    tmp_path: Path, endpoint: Endpoint[WireModel]
) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        without = await asked(stage, endpoint, "", key="")
        assert without.status_code == 200
        assert stage.agent_id not in without.text
        with_key = await asked(stage, endpoint, "")
        assert with_key.status_code == 200
        assert stage.agent_id in with_key.text
