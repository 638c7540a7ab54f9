"""An agent in Python with our library: registers, reads markets, buys, shows its position."""

import os

from service_tui import ServiceClient

url = os.environ["SERVICE_API_URL"]
key = os.environ.get("SERVICE_API_KEY")
if not key:
    key = ServiceClient.register("example-sdk", base_url=url).api_key

with ServiceClient(key, url, venue="sim") as client:
    market = client.get_markets(limit=1)[0]
    result = client.trade(market.id, "yes", 5, source="sdk:example", reasoning="an example")
    if not result.success:
        raise SystemExit(result.error or result.skip_reason)
    for position in client.get_positions():
        print(f"{position.shares_yes:.2f} YES for {position.cost_basis:.2f}: {position.question}")
