"""Every field and parameter with what it must not be: a no with a `fix`, and nothing changed."""

import itertools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from kit.service.line import answer_to
from kit.service.stage import OPERATOR, Stage, open_stage
from service_tui.engine.books.catalogue import importable_at, url_of
from service_tui.engine.chain_events import WalletLinked
from service_tui.engine.codec.events import dumps
from service_tui.engine.codec.snapshot import fields_of
from service_tui.engine.events import LeashSet
from service_tui.server.embedded import BASE_URL
from service_tui.server.http.access import BODY_MAX
from service_tui.server.http.people.roster import Person
from service_tui.terms import LINE_MAX, PROSE_MAX, LeashMode, PersonRole, Venue
from service_tui.units import Micros
from service_tui.wire.base import OperatorModel, WireModel
from service_tui.wire.endpoint import Endpoint
from service_tui.wire.endpoints.agent_wallets import (
    AGENT_DW_PREPARE,
    AGENT_DW_SUBMIT,
    DW_PREPARE,
    DW_SUBMIT,
    REGISTER_AGENT_WALLET,
    UPDATE_AGENT_CREDS,
    UPGRADE_TO_DW,
    WRAP_PREPARE,
    WRAP_SUBMIT,
)
from service_tui.wire.endpoints.browse import BROWSE, CANDLES, FAST_MARKETS, OPPORTUNITIES
from service_tui.wire.endpoints.desk import (
    DESK_PATCH_ACCOUNT,
    DESK_PATCH_AGENT,
    SET_SPEED,
    STEP,
    TAPE,
)
from service_tui.wire.endpoints.fleet import (
    DESK_AGENT_OUTCOMES,
    DESK_AGENT_POSITIONS,
    DESK_AGENT_TRADES,
    DESK_APPROVE,
    DESK_DELETE_MONITOR,
    DESK_FREE_LEASH,
    DESK_OUTCOMES,
    DESK_PENDING_TRADES,
    DESK_REFUSE,
    DESK_RETURNS,
    DESK_SET_AGENT_ALERT,
    DESK_SET_LEASH,
    DESK_SET_LIMIT,
    DESK_SET_MONITOR,
    DESK_TRADES,
    PENDING_TRADES,
    PROPOSE_TRADE,
)
from service_tui.wire.endpoints.notify import (
    SET_PRICE_ALERT,
    SET_WEBHOOK,
    TEST_WEBHOOKS,
    TRIGGERED_ALERTS,
)
from service_tui.wire.endpoints.paid import FORECAST, PAID_BRIEFING
from service_tui.wire.endpoints.people import (
    ADD_PERSON,
    DESK_AUDIT,
    END_PERSON,
    INVITE,
    RENEW_PERSON,
    SET_ROLE,
)
from service_tui.wire.endpoints.public import (
    ALL,
    BATCH,
    BRIEFING,
    CANCEL_MARKET_ORDERS,
    CHECK_MARKET,
    DELETE_MONITOR,
    END_RISK_ALERT,
    EXECUTABLE_PRICE,
    EXPIRING,
    IMPORT_MARKET,
    IMPORT_TICKER,
    IMPORT_TICKER_EVENT,
    IMPORTABLE,
    LEADERS,
    MARKET,
    MARKET_CONTEXT,
    MARKET_HISTORY,
    MARKETS,
    OUTCOMES,
    PATCH_AGENT,
    PATCH_REACTOR,
    PATCH_SETTINGS,
    PATCH_USER_SETTINGS,
    PENDING_SIGNALS,
    PLACE_TRADE,
    PORTFOLIO,
    POSITIONS,
    POST_REACTION,
    POST_SETTINGS,
    REACTIONS,
    REGISTER,
    RISK_ALERTS,
    SDK_LEADERS,
    SET_MONITOR,
    SKILLS,
    TRADES,
    TROUBLESHOOT,
    VENUE_LEADERS,
    VERSION_CHECK,
)
from service_tui.wire.endpoints.research import (
    BACKTEST,
    BEGIN_SESSION,
    DESK_RESEARCH,
    EXPERIMENTS,
    POST_EXPERIMENT,
    RESEARCH_STATE,
)
from service_tui.wire.endpoints.trading import COPY_WALLETS, SOL_QUOTE, SOL_SUBMIT
from service_tui.wire.endpoints.wallet import (
    ALLOWANCES,
    BROADCAST,
    CHAIN_RPC,
    DERIVE_CREDENTIALS,
    DESK_PATCH_CHAIN,
    DESK_PATCH_WALLET,
    DESK_REDEEM,
    LINK_CHALLENGE,
    LINK_WALLET,
    POST_CREDENTIALS,
    REDEEM,
    REDEMPTIONS,
    REPORT_REDEMPTION,
)

Literals = tuple[str, ...]
"""Values as they stand in a body, so that no library makes them harmless first."""

BEYOND: Final = ("NaN", "Infinity", "-Infinity", "1e999", "-1e999", "9" * 5_000)
SHAPES: Final = ("[]", "{}", "[1]", '{"a":1}')
NUMBER: Final = (*BEYOND, *SHAPES, "-1", "-0.01", "1e308", '"5"', '"1e3"', '""', "true", "false")
COUNT: Final = (*NUMBER, "0", "1.5", "1e3")
FLAG: Final = (*SHAPES, '"true"', '"yes"', "1", "0", "2", '""')
WORD: Final = (*SHAPES, "1", "1.5", "true", '""', '"maybe"', '"YES "', '"\\u0000"')
TEXT: Final = (*SHAPES, "1", "NaN", "true", '"\\ud800"', '"\\udc00x"', '"\\ud800\\u0041"')
NEVER_NULL: Final = ("null",)


def long(count: int) -> str:
    return json.dumps("a" * count)


NAME: Final = (
    *TEXT,
    long(LINE_MAX + 1),
    '""',
    '"   "',
    '"\\u001b[31m"',
    '"\\u0000\\u0007"',
    '"\\u200b"',
)
LINE: Final = (*TEXT, long(LINE_MAX + 1))
NAMES_OF_PEOPLE: Final = (*TEXT, *NEVER_NULL, '""', '" "', long(61))
PROSE: Final = (*TEXT, long(PROSE_MAX + 1))
ADDRESS: Final = (
    *TEXT, '""', '" "', '"not an address"', '"ftp://evm-venue.example/event/a-1-2"',
    '"https://elsewhere.example/event/a-1-2"', '"https://evm-venue.example/event/a-1-2"',
    '"https://evm-venue.example"', '"https://[::1/event/a-1-2"', '"javascript:alert(1)"',
    '"//evm-venue.example/event/x"', '"\\u0000"', '"A-99999-999999999999"', long(501),
)  # fmt: skip
MONEY: Final = (*NUMBER, "0", "1000000001", "0.0000001", "1.23456789", "5e-324", "1e-12")
SIZE: Final = tuple(one for one in MONEY if one != "0")
SIGNAL: Final = (
    '"text"', "1", "true", "[]", '{"a":null}', '{"a":true}', '{"a":[]}', '{"a":{}}', '{"a":NaN}',
    '{"a":1e999}', '{"a":-Infinity}', '{"\\ud800":1}', '{"a":"\\ud800"}', '{"a":1,"a":2}',
    f'{{"a":{"9" * 5_000}}}', json.dumps({f"k{n}": n for n in range(65)}),
    json.dumps({"a": "x" * 8_200}), json.dumps({"a" * 8_200: 1}),
)  # fmt: skip

SLUG: Final = (*TEXT, '""', '"a b"', '"../x"', '"-x"', '"\\u001b[2J"', long(129))
WHOLE: Final = tuple(one for one in COUNT if one != "0")
FIGURE: Final = (*BEYOND, *SHAPES, "1e308", "-1e16", '"5"', '""', "true", "false")
FIGURES: Final = (
    '"text"', "1", "true", "[]", '{"a":null}', '{"a":true}', '{"a":[]}', '{"a":{}}', '{"a":NaN}',
    '{"a":1e999}', '{"a":-Infinity}', '{"a":"1"}', '{"a":1,"a":2}', '{"\\ud800":1}',
    json.dumps({f"k{n}": n for n in range(65)}), json.dumps({"a" * 65: 1}),
)  # fmt: skip

LEG: Final = '{"market_id":"m","side":"yes","amount":5}'


def leg_with(name: str, literal: str) -> str:
    """A batch of one buy, in which one field stands as it is given."""
    fields = {"market_id": '"m"', "side": '"yes"', "amount": "5"} | {name: literal}
    return "[{{{}}}]".format(",".join(f'"{key}":{value}' for key, value in fields.items()))


HEX: Final = (*TEXT, '""', '"0x"', '"0xzz"', '"0x12"')
CHAIN_ADDRESS: Final = (
    *HEX, json.dumps("0x" + "1" * 39), json.dumps("0x" + "1" * 41), json.dumps("1" * 42),
)  # fmt: skip
COUNT_FROM_0: Final = tuple(one for one in COUNT if one not in {"0", "1e3"})
SIGNED_ORDER: Final[dict[str, object]] = {
    "salt": "1",
    "maker": "0x" + "ab" * 20,
    "signer": "0x" + "ab" * 20,
    "tokenId": "1",
    "makerAmount": "5000000",
    "takerAmount": "10000000",
    "side": "BUY",
    "signatureType": 0,
    "signature": "0x" + "11" * 65,
    "expiration": "0",
    "taker": "0x" + "00" * 20,
    "nonce": "0",
    "feeRateBps": "0",
}


def _orders() -> Literals:
    """Signed orders in which one field is garbled."""
    bad: dict[str, object] = {
        "salt": "x",
        "maker": "0x12",
        "signer": None,
        "tokenId": 1,
        "makerAmount": "-5",
        "takerAmount": "1.5",
        "side": "HOLD",
        "signatureType": 4,
        "signature": "0x12",
        "expiration": "never",
        "taker": "nobody",
        "nonce": "9" * 79,
        "feeRateBps": "",
    }
    return tuple(json.dumps(SIGNED_ORDER | {name: value}) for name, value in bad.items())


SETTINGS_FIELDS: Final[dict[str, Literals]] = {
    "user_email": LINE,
    "dynamic_user_id": LINE,
    "wallet": LINE,
    "sdk_real_trading_enabled": FLAG,
    "sdk_max_trade_amount": MONEY,
    "sdk_daily_limit": MONEY,
    "max_trades_per_day": (*COUNT, "5001"),
    "max_position_usd": MONEY,
    "default_stop_loss_pct": (*NUMBER, "1.01", "100"),
    "default_take_profit_pct": (*NUMBER, "1001"),
    "auto_risk_monitor_enabled": FLAG,
    "trading_paused": FLAG,
    "skill_daily_budget": MONEY,
}

BAD_URL: Final = (
    *TEXT,
    '""',
    '"x"',
    '"http://hook.example"',
    '"https://"',
    '"https://a:b@hook.example/"',
    '"https://hook.example/#x"',
    '"ftp://hook.example"',
    '"https://10.0.0.1/"',
    '"https://[::ffff:10.0.0.1]/"',
    '"https://hook.example:0/"',
    '"https://hook.example:70000/"',
    '"https://a b/"',
    long(501),
)
DEPOSIT_WALLETS: Final = (
    DW_PREPARE,
    DW_SUBMIT,
    AGENT_DW_PREPARE,
    AGENT_DW_SUBMIT,
    UPGRADE_TO_DW,
    WRAP_PREPARE,
    WRAP_SUBMIT,
)

_MONITOR: Final = {
    "side": (*WORD, *NEVER_NULL, '"YES"', '"both"'),
    "stop_loss_pct": (*NUMBER, "0", "1.000001", "100", "null"),
    "take_profit_pct": (*NUMBER, "0", "1001"),
    "trailing_stop_pct": (*NUMBER, "0", "1", "5"),
    "trailing_stop_points": (*NUMBER, "0", "1", "3"),
    "exit_at": (*NUMBER, "0", "100000000001"),
    "venue": (*WORD, '"SIM"', '"moon"'),
}

BAD_BODIES: Final[dict[Endpoint[WireModel], dict[str, Literals]]] = {
    REGISTER: {
        "name": NAME + NEVER_NULL,
        "description": PROSE,
        "homepage": LINE,
        "skill_url": LINE,
        "invitation": LINE,
    },
    PATCH_AGENT: {"auto_redeem_enabled": FLAG, "name": NAME},
    POST_SETTINGS: SETTINGS_FIELDS,
    PATCH_SETTINGS: SETTINGS_FIELDS,
    PATCH_USER_SETTINGS: {
        "max_trades_per_day": (*COUNT, "5001"),
        "max_position_usd": MONEY,
        "default_stop_loss_pct": (*NUMBER, "1.01", "100"),
        "default_take_profit_pct": (*NUMBER, "1001"),
        "auto_risk_monitor_enabled": FLAG,
        "skill_daily_budget": MONEY,
        "trading_paused": FLAG,
        "clawdbot_webhook_url": (
            *LINE,
            '""',
            '"x"',
            '"http://hook.example"',
            '"https://"',
            '"javascript:alert(1)"',
        ),
        "clawdbot_chat_id": LINE,
        "clawdbot_channel": LINE,
        "bot_solana_wallet": (
            *TEXT,
            '""',
            '"not base 58"',
            '"0x4D97DCd97eC945f40cF65F87097ACe5EA0476045"',
            json.dumps("1" * 31),
            json.dumps("1" * 33),
            json.dumps("2" * 32),
            json.dumps("z" * 44),
            json.dumps("1" * 31 + "0"),
            json.dumps("1" * 32 + " "),
        ),
    },
    PROPOSE_TRADE: {
        "market_id": (*TEXT, '""', '"../agents/me"', '"a/b"', '"a b"', '"\\u001b[2J"', long(129)),
        "side": (*WORD, *NEVER_NULL, '"YES"', '"both"'),
        "amount": (*NUMBER, *NEVER_NULL, "0", "0.001", "10.005", "1e-7", "1000000001"),
        "price": (*NUMBER, "0", "1", "1.5"),
        "reasoning": TEXT,
        "source": TEXT,
    },
    PLACE_TRADE: {
        "market_id": (*TEXT, '""', '"../agents/me"', '"a/b"', '"a b"', '"\\u001b[2J"', long(129)),
        "side": (*WORD, *NEVER_NULL, '"YES"', '"Yes"', '"both"'),
        "amount": (*NUMBER, *NEVER_NULL, "0", "0.001", "10.005", "1e-7", "1000000001"),
        "shares": (*NUMBER, *NEVER_NULL, "1", "0.00001"),
        "action": (*WORD, *NEVER_NULL, '"hold"', '"BUY"', '"redeem"'),
        "venue": (*WORD, *NEVER_NULL, '"SIM"', '"moon"'),
        "order_type": (*WORD, '"gtc"', '"IOC"'),
        "price": (*NUMBER, "0", "1", "1.5"),
        "expiration": (*NUMBER, "0", "100000000001"),
        "stop_loss_pct": (*NUMBER, "0", "1.000001", "100"),
        "take_profit_pct": (*NUMBER, "0", "1001"),
        "dry_run": (*FLAG, *NEVER_NULL),
        "execute": FLAG,
        "reasoning": PROSE,
        "source": LINE,
        "skill_slug": (*LINE, '""', '"a b"', '"../x"', '"\\u001b[2J"', long(129)),
        "signal_data": SIGNAL,
        "signed_order": ("1", "true", '"text"', "[]", "{}", *_orders()),
        "wallet_address": CHAIN_ADDRESS,
    },
    LINK_WALLET: {
        "address": (*CHAIN_ADDRESS, *NEVER_NULL),
        "signature": (*HEX, *NEVER_NULL, long(129), long(131)),
        "nonce": (*TEXT, *NEVER_NULL, '""', '"a b"', '"../x"', long(129)),
        "signature_type": (*COUNT_FROM_0, *NEVER_NULL, "3"),
        "confirm_replace_managed": (*FLAG, *NEVER_NULL),
        "confirm_orphan_deposit_wallet": (*FLAG, *NEVER_NULL),
        "source": LINE,
    },
    POST_CREDENTIALS: {
        name: (*TEXT, *NEVER_NULL, '""', long(257))
        for name in ("api_key", "api_secret", "api_passphrase")
    },
    DERIVE_CREDENTIALS: {
        "poly_address": (*CHAIN_ADDRESS, *NEVER_NULL),
        "poly_signature": (*HEX, *NEVER_NULL, json.dumps("1" * 130), json.dumps("0x" + "1" * 129)),
        "poly_timestamp": (*TEXT, *NEVER_NULL, '"123456789"', '"12345678901"', '"123456789a"'),
        "poly_nonce": (*TEXT, *NEVER_NULL, '""', '"-1"', '"1.5"', json.dumps("1" * 21)),
    },
    CHAIN_RPC: {
        "jsonrpc": (*WORD, *NEVER_NULL, '"1.0"'),
        "method": (*TEXT, *NEVER_NULL, '""', long(65)),
        "params": ("1", "true", '"text"', "null", "{}", "[1,2,3,4,5,6,7,8,9]"),
        "id": ("true", "1.5", "[]", "{}", "NaN", "9" * 5_000),
    },
    BROADCAST: {"signed_tx": (*TEXT, *NEVER_NULL, '""', '"0x02"', long(20_001))},
    REDEEM: {
        "market_id": (*TEXT, *NEVER_NULL, '""', '"../x"', '"a b"', long(129)),
        "side": (*WORD, *NEVER_NULL, '"YES"', '"both"'),
    },
    REPORT_REDEMPTION: {
        "market_id": (*TEXT, *NEVER_NULL, '""', '"../x"', '"a b"', long(129)),
        "side": (*WORD, *NEVER_NULL, '"YES"', '"both"'),
        "tx_hash": (*HEX, *NEVER_NULL, json.dumps("0x" + "1" * 63), json.dumps("1" * 64)),
    },
    DESK_REDEEM: {
        "market_id": (*TEXT, *NEVER_NULL, '""', '"../x"', '"a b"', long(129)),
        "side": (*WORD, *NEVER_NULL, '"YES"', '"both"'),
    },
    DESK_PATCH_CHAIN: {
        "block_s": (*NUMBER, "0", "0.09", "601"),
        "gas_price_gwei": (*NUMBER, "0", "10001"),
        "delay_blocks": (*COUNT_FROM_0, "1001"),
        "faults": ("1", "true", '"ok"', "{}", "[1]", '["burn"]', json.dumps(["ok"] * 65)),
    },
    DESK_PATCH_WALLET: {
        "gas": (*NUMBER, "1001"),
        "pay_usdc": (*NUMBER, "1001", "0.0000001"),
        "native_usdc": (*NUMBER, "1000001", "0.0000001"),
        "restricted": FLAG,
    },
    BATCH: {
        "trades": (
            "null",
            "1",
            "true",
            '""',
            "{}",
            "[]",
            "[1]",
            "[null]",
            "[[]]",
            "[{}]",
            *(leg_with("market_id", one) for one in (*TEXT, "null", '""', '"a/b"', long(129))),
            *(leg_with("side", one) for one in (*WORD, "null", '"YES"', '"both"')),
            *(leg_with("amount", one) for one in (*MONEY, "null", "0.001", "10.005")),
            f"[{','.join([LEG] * 31)}]",
        ),
        "venue": (*WORD, *NEVER_NULL, '"SIM"', '"moon"'),
        "source": LINE,
        "dry_run": (*FLAG, *NEVER_NULL),
        "atomic": (*FLAG, *NEVER_NULL),
        "max_slippage": (*NUMBER, "1.01"),
    },
    IMPORT_MARKET: {
        "polymarket_url": (*ADDRESS, *NEVER_NULL),
        "shared": (*FLAG, *NEVER_NULL),
        "market_ids": (
            "1",
            "true",
            '"a"',
            "{}",
            "[]",
            "[1]",
            "[null]",
            '["a/b"]',
            '["unknown"]',
            json.dumps(["a"] * 51),
            '[["a"]]',
        ),
    },
    IMPORT_TICKER: {"kalshi_url": (*ADDRESS, *NEVER_NULL)},
    TROUBLESHOOT: {
        "error_text": (*PROSE, '""', '"\\u001b[31m"'),
        "message": (*PROSE, long(2_001)),
        "conversation": (
            '"text"',
            "1",
            "{}",
            "[1]",
            '[{"content":1}]',
            '[{"role":"a"}]',
            json.dumps([{"content": "a"}] * 11),
            f'[{{"content":{long(PROSE_MAX + 1)}}}]',
        ),
    },
    DESK_PATCH_AGENT: {
        "name": NAME,
        "plan": (*WORD, '"PRO"', '"gold"'),
        "trading_paused": FLAG,
        "wallet": (*WORD, '"MANAGED"', '"custodial"'),
        "suspended": FLAG,
        "retired": FLAG,
    },
    DESK_PATCH_ACCOUNT: {
        "plan": (*WORD, '"PRO"', '"gold"'),
        "all_agents": (*FLAG, *NEVER_NULL),
    },
    PATCH_REACTOR: {
        "wallets": (
            "1",
            "true",
            '"0x1111111111111111111111111111111111111111"',
            "{}",
            "[1]",
            "[null]",
            "[[]]",
            *(
                f"[{json.dumps(one)}]"
                for one in (
                    "",
                    " ",
                    "0x",
                    "0x" + "1" * 39,
                    "0x" + "1" * 41,
                    "0x" + "g" * 40,
                    "1" * 42,
                    "0x" + "1" * 40 + "\n",
                    " 0x" + "1" * 40,
                    "0x" + "\u0661" * 40,
                    "0x5aaeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
                    "\x1b[2J",
                    "vitalik.eth",
                    "1" * 5_000,
                )
            ),
            json.dumps(["0x" + "ab" * 20, "0x" + "AB" * 20]),
            json.dumps([f"0x{number:040x}" for number in range(101)]),
            '["\\ud800"]',
        ),
        "min_size": SIZE,
        "max_size": SIZE,
        "mirror_fraction": (*NUMBER, "1.000001", "100"),
        "daily_cap": SIZE,
        "venue": (*WORD, '"SIM"', '"moon"', '"all"'),
        "enabled": FLAG,
        "price_buffer": (*NUMBER, "0.2000001", "1"),
    },
    POST_REACTION: {
        "event_tx_hash": (*TEXT, *NEVER_NULL, '""', '"../x"', '"a b"', '"\\u001b[2J"', long(257)),
        "decision": (*WORD, *NEVER_NULL, '"MIRRORED"', '"reset"', '"skipped"'),
        "taker_wallet": LINE,
        "taker_side": LINE,
        "taker_token": LINE,
        "taker_price": (*NUMBER, "1.01"),
        "taker_size": (*NUMBER, "1000000001"),
        "condition_id": LINE,
        "market_title": LINE,
        "market_slug": LINE,
        "outcome": LINE,
        "trade_id": LINE,
        "reason": PROSE,
        "signal_id": (*TEXT, '""', '"../x"', '"a b"', '"\\u001b[2J"', long(257)),
    },
    SET_MONITOR: _MONITOR,
    POST_EXPERIMENT: {
        "skill_slug": (*SLUG, *NEVER_NULL),
        "experiment_number": (*COUNT, *NEVER_NULL),
        "segment": (*WHOLE, *NEVER_NULL),
        "status": (*WORD, *NEVER_NULL, '"kept"', '"KEEP"'),
        "metric_name": (*LINE, *NEVER_NULL),
        "metric_value": FIGURE,
        "metric_unit": (*LINE, *NEVER_NULL),
        "best_direction": (*WORD, *NEVER_NULL, '"up"', '"Higher"'),
        "secondary_metrics": (*FIGURES, *NEVER_NULL),
        "description": (*PROSE, *NEVER_NULL),
        "commit_hash": (*TEXT, '""', '"abc"', '"HEAD"', '"../x"', '"--amend"', long(65)),
        "session": (*LINE, *NEVER_NULL),
        "max_experiments": (*WHOLE, *NEVER_NULL),
        "client_ref": (*TEXT, '""', '"a b"', '"../x"', long(129)),
    },
    BEGIN_SESSION: {
        "skill_slug": (*SLUG, *NEVER_NULL),
        "session": (*LINE, *NEVER_NULL),
        "segment": (*WHOLE, *NEVER_NULL),
        "metric_name": (*LINE, *NEVER_NULL),
        "metric_unit": (*LINE, *NEVER_NULL),
        "best_direction": (*WORD, *NEVER_NULL, '"up"', '"Higher"'),
        "max_experiments": (*WHOLE, *NEVER_NULL),
    },
    BACKTEST: {
        "skill_slug": (*SLUG, *NEVER_NULL),
        "config": (*FIGURES, *NEVER_NULL, '{"":1}', '{"a b":1}', '{"1a":1}', '{"a\\"]":1}'),
        "days": (*COUNT, *NEVER_NULL, "31"),
        "venue": (*WORD, *NEVER_NULL, '"SIM"', '"moon"', '"sol_venue"', '"kalshi"', '"all"'),
        "sweep": (
            '"text"',
            "1",
            "true",
            "[]",
            '{"a":1}',
            '{"a":[]}',
            '{"a":[null]}',
            '{"a":["1"]}',
            '{"a":[NaN]}',
            '{"a":[1e999]}',
            '{"a b":[1]}',
            '{"a":{}}',
            '{"a":[[1]]}',
            json.dumps({"a": list(range(401))}),
            json.dumps({"a": list(range(21)), "b": list(range(21))}),
            json.dumps({f"k{n}": [1] for n in range(17)}),
        ),
    },
    ADD_PERSON: {"name": NAMES_OF_PEOPLE, "role": (*WORD, *NEVER_NULL, '"OWNER"')},
    SET_ROLE: {"name": NAMES_OF_PEOPLE, "role": (*WORD, *NEVER_NULL, '"OWNER"')},
    RENEW_PERSON: {"name": NAMES_OF_PEOPLE},
    END_PERSON: {"name": NAMES_OF_PEOPLE},
    INVITE: {
        "uses": (*WHOLE, *NEVER_NULL, "0", "10001"),
        "days": (*WHOLE, *NEVER_NULL, "0", "366"),
        "plan": WORD,
        "daily_budget": (*NUMBER, "1000000001", "0.0000001"),
        "person": (*TEXT, '""', '" "', '"nobody"', long(61)),
    },
    DESK_SET_LEASH: {
        "mode": (*WORD, *NEVER_NULL, '"ASK"', '"free"'),
        "skill_slug": (*TEXT, '"../x"', '"a b"', '"\\u001b[2J"', long(129)),
        "threshold": (*NUMBER, "1000000001", "0.0000001"),
        "daily_budget": (*NUMBER, "1000000001", "0.0000001"),
        "wait_s": (*COUNT, "9", "86401"),
    },
    DESK_SET_MONITOR: _MONITOR,
    DESK_SET_LIMIT: {
        "group": (*WORD, *NEVER_NULL, '"AGENT"', '"planet"'),
        "key": (*TEXT, *NEVER_NULL, '""', '"nobody"'),
        "venue": (*WORD, *NEVER_NULL, '"nowhere"'),
        "cost_max": (*NUMBER, "0", "-1", "0.0000001"),
        "refuses": ('"yes"', "null", "7"),
    },
    DESK_SET_AGENT_ALERT: {
        "kind": (*WORD, *NEVER_NULL, '"SILENT"', '"loud"'),
        "limit": (*SIZE, "1000000001", "0.0000001", "0.5", "1441"),
        "minutes": (*COUNT, "0", "61", "5"),
        "action": (*WORD, *NEVER_NULL, '"PAUSE"', '"sell"'),
        "skill_slug": (*TEXT, '"../x"', '"a b"', '"\\u001b[2J"', long(129), '"momentum"'),
    },
    DESK_APPROVE: {
        "amount": (*SIZE, "1000000001"),
        "not_above": (*NUMBER, "0", "1"),
        "not_below": (*NUMBER, "0", "1"),
    },
    DESK_REFUSE: {"reason": LINE},
    STEP: {"seconds": (*COUNT[:-1], *NEVER_NULL, "0", "604801", "1e1000", "-60")},
    SET_SPEED: {"speed": (*COUNT[:-1], *NEVER_NULL, "2", "61", "1e1000", "-60")},
}
BAD_BODIES[SET_SPEED]["speed"] = tuple(
    one for one in BAD_BODIES[SET_SPEED]["speed"] if one not in {"0", "1e3"}
)

GOOD_QUERIES: Final[dict[Endpoint[WireModel], dict[str, str]]] = {
    CHECK_MARKET: {"ticker": "A-1-2"},
    EXECUTABLE_PRICE: {"side": "yes", "action": "buy"},
    DELETE_MONITOR: {"side": "yes"},
    DESK_DELETE_MONITOR: {"side": "yes"},
    LINK_CHALLENGE: {"address": "0x" + "ab" * 20},
    CANDLES: {"symbol": "nowhere"},
}
"""Where a query without parameters is a fault."""

BAD_BODIES |= {
    SET_PRICE_ALERT: {
        "market_id": (*TEXT, *NEVER_NULL, '""', '"a b"', '"../x"', long(129)),
        "side": (*WORD, *NEVER_NULL),
        "condition": (*WORD, *NEVER_NULL, '"touches"'),
        "threshold": (*NUMBER, *NEVER_NULL, "0", "1", "1.01"),
        "webhook_url": BAD_URL,
    },
    SET_WEBHOOK: {
        "url": (*BAD_URL, *NEVER_NULL),
        "events": ('"trade.executed"', "[]", "[1]", '["trade"]', "1", "{}", *NEVER_NULL),
        "secret": (*TEXT, '""', '"short"', long(LINE_MAX + 1), '"eight\\u0000le"'),
    },
    TEST_WEBHOOKS: {"webhook_id": (*TEXT, '""', '"a b"', '"../x"', long(129))},
    SOL_QUOTE: {
        "market_id": (*TEXT, *NEVER_NULL, '""', '"a b"', '"../x"', long(129)),
        "side": (*WORD, *NEVER_NULL),
        "wallet_address": (*TEXT, *NEVER_NULL, '""', '"0x12"', long(33), long(45)),
        "amount": (*NUMBER, *NEVER_NULL),
        "shares": (*NUMBER, *NEVER_NULL),
        "action": (*WORD, *NEVER_NULL),
    },
    SOL_SUBMIT: {
        "signed_transaction": (*TEXT, *NEVER_NULL, '""', long(2_001)),
        "quote_id": (*TEXT, *NEVER_NULL, '""', '"a b"', '"../x"', long(129)),
        "market_id": (*TEXT, *NEVER_NULL, '""', '"a b"', '"../x"', long(129)),
        "side": (*WORD, *NEVER_NULL),
        "action": (*WORD, *NEVER_NULL),
        "reasoning": PROSE,
        "source": LINE,
        "skill_slug": SLUG,
    },
    COPY_WALLETS: {
        "wallets": ('"0x12"', "[]", "[1]", '["0x12"]', "1", "{}", *NEVER_NULL),
        "top_n": (*WHOLE, "0", "31"),
        "max_usd_per_position": (*NUMBER, *NEVER_NULL, "0", "501"),
        "dry_run": (*FLAG, *NEVER_NULL),
        "buy_only": (*FLAG, *NEVER_NULL),
        "detect_whale_exits": (*FLAG, *NEVER_NULL),
        "max_trades": (*WHOLE, "0", "31"),
        "venue": (*WORD, *NEVER_NULL),
    },
    IMPORT_TICKER_EVENT: {"event_ticker": (*TEXT, *NEVER_NULL, '""', long(LINE_MAX + 1))},
    REGISTER_AGENT_WALLET: {"agent_id": (*TEXT, '""', '"a b"', '"../x"', long(129))},
    UPDATE_AGENT_CREDS: {"agent_id": (*TEXT, '""', '"a b"', '"../x"', long(129))},
    FORECAST: {"market_id": (*TEXT, *NEVER_NULL, '""', '"a b"', '"../x"', long(129))},
    PAID_BRIEFING: {"since": ("1", '"soon"', '"2026"', "[]", "{}", "true", '""')},
} | {
    endpoint: {"combo": (*FLAG, *NEVER_NULL), "signature": (*TEXT, long(2_001))}
    for endpoint in DEPOSIT_WALLETS
}

GOOD_BODIES: Final[dict[Endpoint[WireModel], dict[str, object]]] = {
    REGISTER: {"name": "another"},
    SET_PRICE_ALERT: {
        "market_id": "", "side": "yes", "condition": "above", "threshold": 0.999,
    },
    SET_WEBHOOK: {"url": "https://hook.example/x", "events": ["trade.executed"]},
    TEST_WEBHOOKS: {},
    SOL_QUOTE: {"market_id": "", "side": "yes", "wallet_address": "1" * 32, "amount": 5},
    SOL_SUBMIT: {
        "signed_transaction": "AA==", "quote_id": "q", "market_id": "", "side": "yes",
    },
    COPY_WALLETS: {"wallets": ["0x" + "ab" * 20], "dry_run": True},
    IMPORT_TICKER_EVENT: {"event_ticker": "CRYPTO-1-1"},
    REGISTER_AGENT_WALLET: {},
    UPDATE_AGENT_CREDS: {},
    FORECAST: {"market_id": ""},
    PAID_BRIEFING: {},
    **{endpoint: {} for endpoint in DEPOSIT_WALLETS},
    PATCH_AGENT: {"name": "renamed"},
    POST_SETTINGS: {"sdk_daily_limit": 70},
    PATCH_SETTINGS: {"max_position_usd": 900},
    PATCH_USER_SETTINGS: {"max_position_usd": 900},
    PLACE_TRADE: {"market_id": "", "side": "yes", "amount": 5},
    PROPOSE_TRADE: {"market_id": "", "side": "yes", "amount": 5},
    BATCH: {"trades": []},
    IMPORT_MARKET: {"polymarket_url": Venue.EVM.value},
    IMPORT_TICKER: {"kalshi_url": Venue.SOL.value},
    SET_SPEED: {"speed": 10},
    STEP: {"seconds": 60},
    DESK_SET_LEASH: {"mode": "ask"},
    DESK_SET_AGENT_ALERT: {"kind": "silent", "limit": 30},
    DESK_SET_LIMIT: {"group": "category", "key": "weather", "venue": "sim", "cost_max": 9},
    ADD_PERSON: {"name": "ada", "role": "trader"},
    SET_ROLE: {"name": "eve", "role": "trader"},
    RENEW_PERSON: {"name": "eve"},
    END_PERSON: {"name": "eve"},
    INVITE: {},
    DESK_APPROVE: {},
    DESK_REFUSE: {"reason": "no"},
    SET_MONITOR: {"side": "yes", "stop_loss_pct": 0.5},
    DESK_SET_MONITOR: {"side": "yes", "stop_loss_pct": 0.5},
    TROUBLESHOOT: {"error_text": "429"},
    DESK_PATCH_AGENT: {"name": "renamed"},
    DESK_PATCH_ACCOUNT: {"plan": "elite"},
    PATCH_REACTOR: {"wallets": [f"0x{'ab' * 20}"], "mirror_fraction": 1, "max_size": 0},
    POST_REACTION: {"event_tx_hash": "0x12", "decision": "skipped_filter"},
    LINK_WALLET: {
        "address": "0x" + "ab" * 20, "signature": "0x" + "11" * 65, "nonce": "abc",
    },
    POST_CREDENTIALS: {"api_key": "k", "api_secret": "s", "api_passphrase": "p"},
    DERIVE_CREDENTIALS: {
        "poly_address": "0x" + "ab" * 20, "poly_signature": "0x" + "11" * 65,
        "poly_timestamp": "1800000000", "poly_nonce": "0",
    },
    CHAIN_RPC: {"method": "eth_chainId"},
    BROADCAST: {"signed_tx": "0x02c0ffee00"},
    REDEEM: {"market_id": "", "side": "yes"},
    DESK_REDEEM: {"market_id": "", "side": "yes"},
    REPORT_REDEMPTION: {"market_id": "", "side": "yes", "tx_hash": "0x" + "12" * 32},
    DESK_PATCH_CHAIN: {"delay_blocks": 2},
    DESK_PATCH_WALLET: {"gas": 1},
    POST_EXPERIMENT: {"skill_slug": "rain-maker", "experiment_number": 1, "status": "keep"},
    BEGIN_SESSION: {"skill_slug": "rain-maker", "session": "again"},
    BACKTEST: {"skill_slug": "rain-maker", "config": {}},
}  # fmt: skip
"""Values that only a running service knows stand here as words: see `good_body`."""

COUNTS: Final = ("-1", "1.5", "1e3", "NaN", "Infinity", "ten", "", " ", "0x10", "9" * 5_000, "true")
WORDS: Final = ("", "maybe", "ACTIVE", "sim\x00", "\x1b[2J", "a" * 5_000)
MOMENTS: Final = (
    "", "yesterday", "NaN", "Infinity", "-1e999", "2026-13-01T00:00:00Z", "2026-01-01T00:00:00",
    "2026-01-01", "99999-01-01T00:00:00Z", "9" * 400, "9999-12-31T23:59:59.9999Z",
    "9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+14:00",
)  # fmt: skip

VERSIONS: Final = (
    "a" * (PROSE_MAX + 1), "", "null", "[]", "1", "{", "{}x", '{"a":1}', '{"a":null}', '{"a":{}}',
    '{"a b":"1"}', '{"":"1"}', '{"a":""}', '{"a":"1\\u001b[2J"}', "NaN", "[" * 4_000,
    json.dumps({f"s{n}": "1" for n in range(101)}),
)  # fmt: skip

BAD_QUERIES: Final[dict[Endpoint[WireModel], dict[str, Literals]]] = {
    MARKETS: {
        "status": (*WORDS, "open"),
        "limit": (*COUNTS, "0", "501"),
        "offset": (*COUNTS, "1000001"),
        "venue": (*WORDS, "moon"),
        "import_source": (*WORDS, "moon"),
        "q": ("", "x", "a" * (LINE_MAX + 1)),
        "tags": ("a" * 401,),
        "ids": ("a" * 8_001,),
        "sort": (*WORDS, "price"),
        "max_hours_to_resolution": (*COUNTS, "0", "100001"),
        "include": ("a" * 101,),
        "include_analytics_only": ("maybe", "2", "", "Falsehood"),
        "tradeable_only": ("maybe", "2", "", "Falsehood"),
    },
    IMPORTABLE: {
        "min_volume": ("-1", "NaN", "Infinity", "ten", "", "1e999"),
        "limit": (*COUNTS, "0", "101"),
        "category": ("a" * 101,),
        "venue": (*WORDS, "moon"),
        "q": ("", "x", "a" * (LINE_MAX + 1)),
    },
    CHECK_MARKET: {
        "url": ("", "a" * 501),
        "condition_id": ("", "a" * (LINE_MAX + 1)),
        "ticker": ("", "a" * (LINE_MAX + 1)),
    },
    MARKET_HISTORY: {
        "hours": (*COUNTS, "0", "169"),
        "interval": (*COUNTS, "0", "4", "1441"),
    },
    MARKET_CONTEXT: {
        "venue": (*WORDS, "moon"),
        "my_probability": ("-0.1", "1.1", "NaN", "Infinity", "1e999", "half", ""),
    },
    TRADES: {
        "venue": (*WORDS, "moon"),
        "limit": (*COUNTS, "0", "201"),
        "offset": (*COUNTS, "10000001"),
        "market_id": ("", "../x", "a b", "a/b", "\x1b[2J", "a" * 129, "é"),
        "since": MOMENTS,
        "until": MOMENTS,
        "include_failed": ("maybe", "2", ""),
        "agent_id": ("", "../x", "a b", "someone-else", "a" * 129),
    },
    POSITIONS: {
        "venue": (*WORDS, "moon"),
        "source": ("a" * (LINE_MAX + 1),),
        "status": (*WORDS, "open"),
        "limit": (*COUNTS, "100001"),
        "offset": (*COUNTS, "10000001"),
    },
    PORTFOLIO: {"venue": (*WORDS, "moon")},
    PENDING_TRADES: {"status": (*WORDS, "ended")},
    DESK_AUDIT: {"limit": (*COUNTS, "0", "201")},
    DESK_PENDING_TRADES: {"status": (*WORDS, "ended")},
    DESK_FREE_LEASH: {"skill_slug": ("a b", "../x", "\x1b[2J", "a" * 129, "é")},
    EXPIRING: {"hours": (*COUNTS, "0", "169")},
    OUTCOMES: {
        "skill": ("", "a b", "../x", "\x1b[2J", "a" * 129, "é"),
        "since": MOMENTS,
        "venue": (*WORDS, "moon"),
    },
    EXPERIMENTS: {
        "skill_slug": ("", "a b", "../x", "-x", "\x1b[2J", "a" * 129, "é"),
        "limit": (*COUNTS, "0", "501"),
        "offset": (*COUNTS, "1000000001"),
    },
    RESEARCH_STATE: {"skill_slug": ("", "a b", "../x", "-x", "\x1b[2J", "a" * 129, "é")},
    DESK_RESEARCH: {
        "skill_slug": ("", "a b", "../x", "-x", "a" * 129),
        "limit": (*COUNTS, "0", "501"),
        "offset": (*COUNTS, "1000000001"),
    },
    DELETE_MONITOR: {"side": (*WORDS, "YES", "both"), "venue": (*WORDS, "moon")},
    DESK_DELETE_MONITOR: {"side": (*WORDS, "YES", "both"), "venue": (*WORDS, "moon")},
    RISK_ALERTS: {"include_history": ("maybe", "2", "")},
    END_RISK_ALERT: {"venue": (*WORDS, "moon"), "alert_id": ("", "../x", "a b", "a" * 300)},
    BRIEFING: {"since": MOMENTS, "skill_versions": VERSIONS},
    VERSION_CHECK: {
        "sdk_version": ("", "new", "1.", ".1", "1..2", "0.9.21rc1", "1.2.3.4.5", "9" * 9, "\u0661"),
    },
    LEADERS: {"limit": (*COUNTS, "0", "51")},
    SDK_LEADERS: {"limit": (*COUNTS, "0", "51")},
    SKILLS: {"category": ("", "a" * (LINE_MAX + 1))},
    CANCEL_MARKET_ORDERS: {"side": (*WORDS, "YES", "both")},
    EXECUTABLE_PRICE: {
        "side": (*WORDS, "YES", "both"),
        "action": (*WORDS, "BUY", "hold"),
        "apply_buffer": ("maybe", "2", ""),
    },
    PENDING_SIGNALS: {"caps": ("a" * (LINE_MAX + 1),)},
    REACTIONS: {"limit": (*COUNTS, "0", "201")},
    LINK_CHALLENGE: {"address": ("", "0x", "0x12", "x" * 42, "0x" + "g" * 40, "1" * 42)},
    ALLOWANCES: {
        "no_cache": ("maybe", "2", ""),
        "include_tx_params": ("maybe", "2", ""),
        "exchange_version": (*WORDS, "v3"),
    },
    REDEMPTIONS: {"limit": (*COUNTS, "0", "201")},
    TAPE: {"span_s": (*COUNTS, "10000001"), "points": (*COUNTS, "0", "1", "501")},
}
BAD_QUERIES |= {
    OPPORTUNITIES: {
        "venue": (*WORDS, "moon"),
        "limit": (*COUNTS, "0", "51"),
        "min_divergence": ("-1", "NaN", "Infinity", "ten", "", "1.1"),
    },
    FAST_MARKETS: {
        "asset": ("", "a" * (LINE_MAX + 1)),
        "window": (*WORDS, "2h"),
        "venue": (*WORDS, "moon"),
        "limit": (*COUNTS, "0", "201"),
        "sort": (*WORDS, "price"),
        "market_status": (*WORDS, "gone"),
    },
    BROWSE: {
        "q": ("", "x", "a" * (LINE_MAX + 1)),
        "limit": (*COUNTS, "0", "201"),
        "status": (*WORDS, "open"),
        "tags": ("a" * 401,),
        "min_volume": ("-1", "NaN", "Infinity", "ten", "", "1e999"),
    },
    CANDLES: {
        "symbol": ("", "a b", "../x", "a" * 129),
        "interval": (*WORDS, "2m"),
        "start": (*COUNTS, "1" * 17),
        "end": (*COUNTS, "1" * 17),
    },
    VENUE_LEADERS: {"trader_type": (*WORDS, "robot"), "limit": (*COUNTS, "0", "51")},
    TRIGGERED_ALERTS: {"hours": (*COUNTS, "0", "169")},
}
BAD_QUERIES[DESK_AGENT_TRADES] = BAD_QUERIES[TRADES]
BAD_QUERIES[DESK_AGENT_POSITIONS] = BAD_QUERIES[POSITIONS]
BAD_QUERIES[DESK_AGENT_OUTCOMES] = BAD_QUERIES[OUTCOMES]
BAD_QUERIES[DESK_TRADES] = {
    "before": (*COUNTS, "0", "9007199254740992"),
    "limit": (*COUNTS, "0", "1001"),
}
BAD_QUERIES[DESK_RETURNS] = {"offset": (*COUNTS, "1000000001"), "limit": (*COUNTS, "0", "151")}
BAD_QUERIES[DESK_OUTCOMES] = {"since": MOMENTS}

DEEP: Final = 100_000
NOT_BODIES: Final[dict[str, bytes]] = {
    "nothing": b"",
    "blanks": b"  \n ",
    "null": b"null",
    "a number": b"3",
    "a text": b'"name"',
    "a list": b"[]",
    "a list of bodies": b"[{@}]",
    "words": b"name=a&side=yes",
    "half a body": b"{@",
    "a body and more": b"{@} {}",
    "single quotes": b"{'name':'a'}",
    "a trailing comma": b"{@,}",
    "a comment": b"{@/**/}",
    "NaN": b"NaN",
    "bytes that are no letters": b'{@,"x":"\xff\xfe"}',
    "zeros": b"\x00" * 100,
    "a line break in a text": b'{@,"x":"a\nb"}',
    "another encoding": '{"name":"a"}'.encode("utf-16"),
    "a mark of order first": b"\xef\xbb\xbf{@}",
    "a hundred thousand lists": b"[" * DEEP,
    "a hundred thousand lists, closed": b"[" * DEEP + b"]" * DEEP,
    "a deep stranger": b'{@,"x":' + b"[" * DEEP + b"]" * DEEP + b"}",
    "a deep stranger of objects": b'{@,"x":' + b'{"a":' * 20_000 + b"1" + b"}" * 20_000 + b"}",
    "a long number": b'{@,"x":' + b"9" * 200_000 + b"}",
    "300 kB": b'{@,"x":"' + b"a" * 300_000 + b'"}',
    "every field twice": b"{@,@}",
    "a stranger twice": b'{@,"x":1,"x":1}',
    "a field twice further in": b'{@,"x":[{"y":1,"y":1}]}',
}
"""The fields of a good body stand at the @, so that nothing else is missing."""


def key_for(stage: Stage, endpoint: Endpoint[WireModel]) -> dict[str, str]:
    if endpoint.keyless:
        return {}
    return {"Authorization": f"Bearer {OPERATOR if endpoint.operator else stage.key}"}


async def send(
    stage: Stage,
    endpoint: Endpoint[WireModel],
    *,
    content: bytes | None = None,
    query: Mapping[str, str] | list[tuple[str, str]] | None = None,
) -> httpx.Response:
    market = stage.open_markets()[0]
    request = httpx.Request(
        endpoint.method,
        BASE_URL
        + endpoint.path.format(
            market_id=market.market_id,
            agent_id=stage.agent_id,
            order_id="o1",
            side="yes",
            address="0x" + "ab" * 20,
            held_id="h1",
            alert_id="pa1",
            webhook_id="wh1",
            venue="sim",
        ),
        headers={"Content-Type": "application/json", **key_for(stage, endpoint)},
        content=content,
        params=query,
    )
    return await answer_to(stage, request)


def fault_of(response: httpx.Response) -> str | None:
    """What is wrong with a no; None when it is as it should be."""
    body: dict[str, Any] = response.json()
    rows = body.get("detail")
    is_422 = response.status_code == 422
    checks = {
        f"{response.status_code} {response.text[:100]}": 400 <= response.status_code < 500,
        "not JSON": response.headers["content-type"] == "application/json",
        "no fix": body.get("fix"),
        "no error": is_422 or body.get("error"),
        "no detail": rows
        and (not is_422 or all(set(row) == {"loc", "msg", "type"} for row in rows)),
        "unprintable": response.text.isprintable(),
    }
    return next((fault for fault, is_well in checks.items() if not is_well), None)


Cases = dict[str, Literals]


def claim(stage: Stage) -> None:
    """Some endpoints say no to everything as long as nobody owns the agent, or has a wallet."""
    now = stage.clock.now()
    stage.world.change(stage.agent, {"claimed": True}, now)
    stage.world.note(WalletLinked(stage.agent_id, now, "0x" + "cd" * 20))


async def hold(stage: Stage) -> None:
    """Some want a position, with a monitor on it; some a trade that waits for the operator.

    Some want a person beside the owner.
    """
    now = stage.clock.now()
    stage.sim.service.people.add("eve", PersonRole.OBSERVER, Person("owner", PersonRole.OWNER), now)
    order = {"market_id": stage.open_markets()[0].market_id, "side": "yes", "amount": 7}
    assert (await send(stage, PLACE_TRADE, content=json.dumps(order).encode())).json()["success"]
    leash = LeashSet(stage.agent_id, stage.clock.now(), "slow", LeashMode.ASK, Micros(0), None, 60)
    stage.world.note(leash)
    order |= {"skill_slug": "slow"}
    assert (await send(stage, PLACE_TRADE, content=json.dumps(order).encode())).json()["success"]


def cases_of(table: Cases) -> list[tuple[str, str]]:
    return [(name, value) for name, values in table.items() for value in values]


def written(good: dict[str, object], name: str, literal: str) -> bytes:
    """A good body in which one field stands as it is given."""
    fields = [
        f"{json.dumps(key)}:{json.dumps(value)}" for key, value in good.items() if key != name
    ]
    return "{{{}}}".format(",".join([*fields, f"{json.dumps(name)}:{literal}"])).encode()


def good_body(stage: Stage, endpoint: Endpoint[WireModel]) -> dict[str, object]:
    good = GOOD_BODIES[endpoint]
    known: dict[str, object] = {
        "market_id": stage.open_markets()[0].market_id,
        "trades": [
            {"market_id": stage.open_markets()[0].market_id, "side": "yes", "amount": 5},
        ],
        **{
            name: address_of(stage, good[name])
            for name in ("polymarket_url", "kalshi_url") & good.keys()
        },
    }
    return good | {name: value for name, value in known.items() if name in good}


def address_of(stage: Stage, home: object) -> str:
    """Where a venue shows a question that is not listed."""
    world = stage.world
    found = [one for one in importable_at(world.tape, world.world_at) if one.home == home]
    return url_of(found[0]) or ""


def test_every_field_and_parameter_is_in_these_tables() -> None:
    asks = {one: set(one.request.model_fields) for one in ALL if one.request is not None}
    assert {one: set(fields) for one, fields in BAD_BODIES.items()} == asks
    queries = {one: set(one.query.model_fields) for one in ALL if one.query is not None}
    assert {one: set(fields) for one, fields in BAD_QUERIES.items()} == queries


@pytest.mark.slow
@pytest.mark.parametrize("endpoint", BAD_BODIES, ids=lambda one: f"{one.method} {one.path}")
async def test_a_bad_body_is_refused_and_changes_nothing(
    tmp_path: Path, endpoint: Endpoint[WireModel]
) -> None:
    async with open_stage(tmp_path) as stage:
        good = good_body(stage, endpoint)
        inner = json.dumps(good).encode()[1:-1]
        bodies = {
            f"{name} {literal[:40]}": written(good, name, literal)
            for name, literal in cases_of(BAD_BODIES[endpoint])
        } | {
            name: content.replace(b"@", inner)
            for name, content in NOT_BODIES.items()
            # Decisions, "Payload none".
            if not (endpoint.bodyless and name in {"nothing", "blanks"})
        }
        if issubclass(endpoint.request or WireModel, OperatorModel):
            bodies["a misspelt field"] = json.dumps({**good, "size": 5}).encode()
        claim(stage)
        await hold(stage)
        before = dumps(fields_of(stage.world))
        wrong: list[tuple[str, str]] = []
        for name, content in bodies.items():
            fault = fault_of(await send(stage, endpoint, content=content))
            if fault is not None:
                wrong.append((name, fault))
        assert wrong == []
        assert dumps(fields_of(stage.world)) == before
        # The same body without the bad field passes: it was the field that was refused.
        response = await send(stage, endpoint, content=json.dumps(good).encode())
        assert response.status_code == REFUSED_ALL_THE_SAME.get(endpoint, 200)
        assert (dumps(fields_of(stage.world)) != before) is (endpoint not in WITHOUT_TRACE)


REFUSED_ALL_THE_SAME: Final[dict[Endpoint[WireModel], int]] = {
    DERIVE_CREDENTIALS: 403,
    # The agent has another wallet, or none; there is no such quote, and no such event.
    SOL_QUOTE: 403,
    SOL_SUBMIT: 404,
    IMPORT_TICKER_EVENT: 404,
    # The world is invented.
    STEP: 409,
    # Below Elite.
    REGISTER_AGENT_WALLET: 403,
    UPDATE_AGENT_CREDS: 403,
    # Nobody paid.
    FORECAST: 402,
    PAID_BRIEFING: 402,
    **{one: one.refuses for one in DEPOSIT_WALLETS},
}
"""What a good body is answered with, where that is not 200."""

WITHOUT_TRACE: Final = {
    *REFUSED_ALL_THE_SAME,
    # There is no webhook to test, and a rehearsal buys nothing.
    TEST_WEBHOOKS,
    # Nobody is asked about a free agent's buy.
    PROPOSE_TRADE,
    COPY_WALLETS,
    TROUBLESHOOT,
    # People and invitations have tables of their own.
    ADD_PERSON,
    SET_ROLE,
    RENEW_PERSON,
    END_PERSON,
    INVITE,
    CHAIN_RPC,
    # What is good in form is no true signature, and nothing is there to be redeemed.
    LINK_WALLET,
    BROADCAST,
    REDEEM,
    DESK_REDEEM,
    REPORT_REDEMPTION,
    BACKTEST,
}


def queries() -> list[tuple[Endpoint[WireModel], list[tuple[str, str]]]]:
    """Every endpoint with every bad query; a name given twice is one as well."""
    bad = [(one, [case]) for one, table in BAD_QUERIES.items() for case in cases_of(table)]
    twice = [
        (one, [(name, "1"), (name, "1")]) for one, table in BAD_QUERIES.items() for name in table
    ]
    return bad + twice


@pytest.mark.slow
async def test_a_bad_parameter_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        await hold(stage)
        before = dumps(fields_of(stage.world))
        wrong: list[tuple[str, str]] = []
        for endpoint, query in queries():
            fault = fault_of(await send(stage, endpoint, query=query))
            if fault is not None:
                wrong.append((f"{endpoint.path} {query[0]!r}"[:80], fault))
        assert wrong == []
        assert dumps(fields_of(stage.world)) == before
        good = [
            await send(stage, endpoint, query=GOOD_QUERIES.get(endpoint))
            for endpoint in BAD_QUERIES
        ]
        # Nothing was breached: there is no alert to acknowledge; no market has the name; and the
        # agent has removed the monitor itself by then.
        missing = {END_RISK_ALERT, CANDLES, DESK_DELETE_MONITOR}
        wanted = [404 if one in missing else 200 for one in BAD_QUERIES]
        assert [one.status_code for one in good] == wanted


IDS: Final = (
    "%00", "%0A", "%1B%5B2J", "%FF%FE", "%ED%A0%80", "..", "%2E%2E%2Fagents", "a%2Fb", "é",
    "a" * 5_000, "'--", "%F0%9F%98%80", "NaN", "-1", "%25s", "{market_id}",
)  # fmt: skip


@pytest.mark.slow
async def test_no_id_in_a_path_is_a_fault_of_ours(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        for endpoint, market_id in itertools.product(
            (MARKET, MARKET_CONTEXT, MARKET_HISTORY, TAPE), IDS
        ):
            url = BASE_URL + endpoint.path.replace("{market_id}", market_id)
            request = httpx.Request(endpoint.method, url, headers=key_for(stage, endpoint))
            response = await stage.sim.transport.handle_async_request(request)
            await response.aread()
            assert (fault_of(response), response.status_code) == (None, 404), market_id[:20]


@pytest.mark.slow
async def test_null_leaves_a_setting_as_it_is_or_switches_it_off(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        settings = stage.agent.settings
        for endpoint in (POST_SETTINGS, PATCH_USER_SETTINGS, PATCH_AGENT):
            for name in BAD_BODIES[endpoint]:
                response = await send(stage, endpoint, content=written({}, name, "null"))
                assert response.status_code == 200, (name, response.text)
                endpoint.answers.model_validate_json(response.content)
        after = stage.agent.settings
        assert (after.stop_loss_pct, after.take_profit_pct) == (None, None)
        assert (after.max_position, after.trades_per_day) == (None, None)
        for name in ("name", "max_trade", "day_spend_max", "trading_paused", "plan"):
            assert getattr(after, name) == getattr(settings, name)
        assert after.auto_risk_monitor_enabled is after.auto_redeem_enabled is True
        assert after.real_trading_enabled is False


@pytest.mark.slow
async def test_text_with_controls_and_escapes_becomes_harmless(tmp_path: Path) -> None:
    nasty = "\x1b]0;title\x07a\x1b[31mb\u202ec\u200d\x00\td"
    async with open_stage(tmp_path) as stage:
        named = await send(stage, PATCH_AGENT, content=json.dumps({"name": nasty}).encode())
        order = good_body(stage, PLACE_TRADE) | {"reasoning": f"{nasty}\nmore", "source": nasty}
        traded = await send(stage, PLACE_TRADE, content=json.dumps(order).encode())
        row = (await send(stage, TRADES)).json()["trades"][0]
        tape = (await send(stage, TAPE)).json()["trades"][0]
        assert named.json()["name"] == tape["trader"] == "abc d"
        assert traded.json()["success"] is True
        assert (row["source"], row["reasoning"]) == ("abc d", "abc d\nmore")


@pytest.mark.slow
async def test_a_body_just_within_the_bound_is_read(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        filler = b"a" * (BODY_MAX - 30)
        content = b'{"name":"b","x":"' + filler + b'"}'
        assert len(content) <= BODY_MAX
        assert (await send(stage, PATCH_AGENT, content=content)).status_code == 200
        # Many fields with one fault each are answered with a bounded list.
        rows = ",".join(f'"k{n}":null' for n in range(20_000))
        order = good_body(stage, PLACE_TRADE)
        response = await send(
            stage, PLACE_TRADE, content=written(order, "signal_data", f"{{{rows}}}")
        )
        assert response.status_code in {413, 422}
        assert len(response.content) < 20_000
