#!/bin/sh
# An agent in a shell with curl and jq: registers, reads markets, buys a little, shows its position.
set -eu
: "${SERVICE_API_URL:=http://127.0.0.1:8400}"

# The key goes to curl by its input, not by its words: other users of the machine can read those.
call() {
    path=$1; shift
    printf 'header = "Authorization: Bearer %s"\n' "$key" |
        curl -sS --max-time 30 --fail-with-body --config - -H 'Content-Type: application/json' "$@" "$SERVICE_API_URL$path"
}

key=${SERVICE_API_KEY:-}
if [ -z "$key" ]; then
    key=$(call /api/sdk/agents/register -d '{"name": "example-shell"}' | jq -r .api_key)
fi
market=$(call '/api/sdk/markets?limit=1' | jq -r '.markets[0].id')
order=$(jq -n --arg market "$market" \
    '{market_id: $market, side: "yes", amount: 5, venue: "sim", source: "shell:example", reasoning: "an example"}')
# curl repeats what has no answer, with the same key: it is carried out once.
once=$(od -An -N12 -tx1 /dev/urandom | tr -d ' \n')
call /api/sdk/trade -H "Idempotency-Key: example-$once" --retry 4 --retry-all-errors -d "$order" |
    jq -e .success >/dev/null
call '/api/sdk/positions?venue=sim' |
    jq -r '.positions[] | "\(.shares_yes * 100 | round / 100) YES for \(.cost_basis): \(.question)"'
