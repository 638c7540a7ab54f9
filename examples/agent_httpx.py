"""An agent in Python with httpx alone: registers, reads markets, buys, shows its position."""

import os
import secrets
import time

import httpx

REPEATED = {502, 503, 504}
"""Nothing was sent, or the answer was lost: the same key is carried out once."""


def send(http: httpx.Client, order: dict[str, object]) -> dict[str, object]:
    """Send an order; repeated with its key while the service cannot say what became of it."""
    headers = {"Idempotency-Key": secrets.token_hex(16)}
    for pause_s in (0.2, 1.0, 3.0, 10.0):
        try:
            answer = http.post("/api/sdk/trade", json=order, headers=headers)
        except httpx.TransportError:
            time.sleep(pause_s)
            continue
        if answer.status_code not in REPEATED:
            return answer.json()
        time.sleep(pause_s)
    raise SystemExit("no answer: look at the trades before you send another order")


with httpx.Client(base_url=os.environ["SERVICE_API_URL"], timeout=30) as http:
    key = os.environ.get("SERVICE_API_KEY")
    if not key:
        answer = http.post("/api/sdk/agents/register", json={"name": "example-httpx"})
        key = answer.raise_for_status().json()["api_key"]
    http.headers["Authorization"] = f"Bearer {key}"
    markets = http.get("/api/sdk/markets", params={"limit": 1}).raise_for_status().json()["markets"]
    order = {"market_id": markets[0]["id"], "side": "yes", "amount": 5, "venue": "sim"}
    result = send(http, {**order, "source": "http:example", "reasoning": "an example"})
    if not result.get("success"):
        raise SystemExit(result.get("error"))
    held = http.get("/api/sdk/positions", params={"venue": "sim"}).raise_for_status().json()
    for position in held["positions"]:
        bought = f"{position['shares_yes']:.2f} YES for {position['cost_basis']:.2f}"
        print(f"{bought}: {position['question']}")
