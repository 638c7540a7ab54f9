"""No answer contains a Python name: every refusal of the whole document, one wrong field each."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, get_args

import pytest

from kit.service.line import Line, line_to
from kit.service.stage import OPERATOR, open_stage
from service_tui.server.routes.table import ROUTES
from service_tui.terms import Venue
from service_tui.wire.base import WireModel
from service_tui.wire.endpoint import Endpoint
from service_tui.wire.endpoints.public import (
    EXECUTABLE_PRICE,
    PLACE_TRADE,
    PORTFOLIO,
    POSITIONS,
    SET_MONITOR,
    TRADES,
)

pytestmark = pytest.mark.slow

INNER: Final = re.compile(
    r"<\w+[.:]|function-|instance of|Traceback|<class|object at 0x|NoneType|\bNone\b|\bTrue\b"
    r"|\b(?:literal|constrained|dict|list|tuple|union|json-or-python|lax-or-strict)\[|\w\(\)"
    r"|\b(?:dictionary|frozenset|WireModel|[A-Z]\w+(?:Body|Request|Query|Patch))\b|Value error"
    r"|{[a-z]\w*}|\b(?:[Tt]uple|[Ss]et|[Dd]ict|[Dd]ictionary|List|Frozenset|Decimal)\b"
    r"|after validation"
)

LONG: Final = "x" * 5_000
WRONG: Final[tuple[object, ...]] = (
    "bogus", -1, {}, [{}], None, True, 1.5, [], [[]], [1.5], LONG, [LONG], ["bogus"] * 600, 10**30,
    "2026-13-45", "2026-11-21", "\x00", {LONG: LONG}, {"bogus": {}}, {"bogus": [None]}, [{}] * 600,
)  # fmt: skip


def parts_of(annotation: object) -> Iterator[type[WireModel]]:
    """The bodies within a field."""
    if isinstance(annotation, type) and issubclass(annotation, WireModel):
        yield annotation
    for part in get_args(annotation):
        yield from parts_of(part)


def wrong_calls(endpoint: Endpoint[WireModel]) -> Iterator[dict[str, object]]:
    if endpoint.query is not None:
        for name in endpoint.query.model_fields:
            yield from ({name: wrong} for wrong in ("bogus", "-1", "", "1.5", "2026-13-45", LONG))
    if endpoint.request is not None:
        for name, field in endpoint.request.model_fields.items():
            yield from ({"json": {name: wrong}} for wrong in WRONG)
            for inner in [each for one in parts_of(field.annotation) for each in one.model_fields]:
                yield from ({"json": {name: {inner: wrong}}} for wrong in WRONG)
                yield from ({"json": {name: [{inner: wrong}]}} for wrong in WRONG)
        yield from ({"json": wrong} for wrong in WRONG)


def calls_of(method: str, market_id: str) -> Iterator[tuple[Endpoint[WireModel], dict[str, Any]]]:
    """Every wrong call of a method, on ids that nobody has, and on a market that there is."""
    for endpoint in (one for one in ROUTES if one.method == method):
        names = re.findall(r"{(\w+)", endpoint.path)
        paths = [dict.fromkeys(names, "nothing")]
        if "market_id" in names:
            paths.append(paths[0] | {"market_id": market_id})
        for call in wrong_calls(endpoint):
            yield from ((endpoint, {"path": path, **call}) for path in paths)


@pytest.mark.parametrize("method", ["GET", "POST", "PATCH", "DELETE"])
async def test_no_refusal_contains_a_name_of_the_program(tmp_path: Path, method: str) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        stage.sim.service.limits = False
        own, operator = line_to(stage), Line(stage, OPERATOR)
        found: set[tuple[str, str]] = set()
        count = 0
        for endpoint, call in calls_of(method, stage.open_markets()[0].market_id):
            response = await (operator if endpoint.operator else own).ask(endpoint, **call)
            refused = response.status_code >= 400 or '"success":false' in response.text
            count += refused
            if refused and (hit := INNER.search(response.text)):
                around = response.text[max(0, hit.start() - 40) : hit.end() + 40]
                found.add((f"{endpoint.method} {endpoint.path}", around))
        assert found == set()
        assert count > 5


async def test_the_executable_price_of_a_sim_market_says_how_to_ask(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        market = next(one for one in stage.open_markets() if one.listing.home is Venue.SIM)
        path = {"market_id": market.market_id}
        said = await line.said(EXECUTABLE_PRICE, path=path, side="yes", action="buy")
        assert said["success"] is False
        assert "trade it on sim" not in said["fix"]
        assert "dry_run" in said["fix"]


async def test_a_monitor_without_a_threshold_names_the_call_that_removes_it(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        market_id = stage.open_markets()[0].market_id
        order = {"market_id": market_id, "side": "yes", "amount": 10}
        assert (await line.said(PLACE_TRADE, json=order))["success"]
        nothing = {"side": "yes", "stop_loss_pct": None}
        response = await line.ask(SET_MONITOR, path={"market_id": market_id}, json=nothing)
        assert f"DELETE /api/sdk/positions/{market_id}/monitor?side=yes" in response.text


async def test_a_choice_of_several_kinds_names_all_of_it(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        for endpoint in (POSITIONS, TRADES, PORTFOLIO):
            said = await line.said(endpoint, 422, venue="bogus")
            assert len(said["detail"]) == 1
            for venue in ("sim", "evm_venue", "sol_venue", "all"):
                assert f"'{venue}'" in said["fix"]
