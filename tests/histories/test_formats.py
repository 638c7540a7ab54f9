"""Files of every source, small and made up here, become a history: markets, ends and prices."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest

from service_tui.histories.importer import import_history
from service_tui.storage.history_file import HistoryError, HistoryFile, history_path

duckdb = pytest.importorskip("duckdb")

MAY = 1_714_521_600.0
"""2024-05-01, midnight UTC."""

Files = Mapping[str, object]
"""What lies in the folder: text, or something that is written as JSON, or a query for Parquet."""

GAMMA = {
    "id": "7", "conditionId": "0xab", "question": "Rain?", "slug": "rain", "closed": True,
    "outcomes": '["Yes", "No"]', "outcomePrices": '["1", "0"]', "clobTokenIds": '["11", "12"]',
    "createdAt": "2024-04-01T00:00:00Z", "endDate": "2024-05-02T00:00:00Z",
    "closedTime": "2024-05-01 12:00:00+00", "volumeNum": 12.5,
}  # fmt: skip
KALSHI = {
    "ticker": "RAIN-1", "event_ticker": "RAIN", "title": "Rain in May?", "yes_sub_title": "1 May",
    "status": "finalized", "result": "no", "open_time": "2024-04-01T00:00:00Z",
    "close_time": "2024-05-01T00:00:00Z", "expected_expiration_time": "2024-05-03T00:00:00Z",
}  # fmt: skip
MANIFOLD = {
    "id": "abc", "question": "Snow?", "mechanism": "cpmm-1", "outcomeType": "BINARY",
    "createdTime": 1_711_929_600_000, "closeTime": 1_714_521_600_000,
}  # fmt: skip
BET = {"contractId": "abc", "probAfter": 0.25, "createdTime": 1_712_000_000_000}
BENCH = {
    "id": "17", "source": "metaculus", "question": "Hail?",
    "freeze_datetime": "2024-04-10T00:00:00Z",
    "freeze_datetime_value": "0.3", "market_info_open_datetime": "2024-04-01T00:00:00Z",
    "market_info_close_datetime": "2024-06-01T00:00:00Z",
}  # fmt: skip
YES_HISTORY = {"history": [{"t": 1_712_000_000, "p": 0.25}, {"t": 1_712_003_600, "p": 0.5}]}
NO_HISTORY = {"history": [{"t": 1_712_000_000, "p": 0.75}]}

ENDLESS = {"end_period_ts": 1_712_000_000, "price": {"close": 10**400}}
OWN: Files = {
    "markets.csv": "id,source,event,question,category,opened_at,closes_at,resolved_at,outcome,"
                   "volume\nm1,own,,Rain?,,,2024-05-01T00:00:00,2024-05-01 12:00:00,YES,\n",
    "prices.csv": "id,t,price\nm1,2024-04-30,0.4\n",
}  # fmt: skip

CASES: dict[str, tuple[Files, list[tuple[object, ...]]]] = {
    "a catalogue with numbers as text, and the prices of a token": (
        {"markets.json": [GAMMA], "prices_11.json": YES_HISTORY},
        [("polymarket", "0xab", "Rain?", MAY + 43_200, 1.0, (0.25, 0.5))],
    ),
    "lists that are lists; the prices of the other token": (
        {
            "page.json": {
                "data": [GAMMA | {"outcomes": ["Yes", "No"], "outcomePrices": ["0", "1"]}]
            },
            "prices_history_pm-7_no.json": NO_HISTORY,
        },
        [("polymarket", "0xab", "Rain?", MAY + 43_200, 0.0, (0.25,))],
    ),
    "a side with a name, settled at a half": (
        {
            "m.json": [
                GAMMA | {"outcomes": '["Spurs", "Knicks"]', "outcomePrices": '["0.5", "0.5"]'}
            ],
            "0xab.json": YES_HISTORY,
        },
        [("polymarket", "0xab", "Rain? (Spurs)", MAY + 43_200, 0.5, (0.25, 0.5))],
    ),
    "an event, whose outcomes the catalogue has lost": (
        {
            "e.json": [{"id": "1", "title": "Weather", "slug": "w", "markets": [
                GAMMA | {"outcomePrices": '["0", "0"]'}]}],
            "rain.json": YES_HISTORY,
        },
        [("polymarket", "0xab", "Rain?", None, None, (0.25, 0.5))],
    ),
    "trades, the second of the other side": (
        {
            "t.json": [
                {"conditionId": "0xab", "asset": "11", "price": 0.25, "timestamp": 1_712_000_000,
                 "title": "Rain?", "outcomeIndex": 0},
                {"conditionId": "0xab", "asset": "12", "price": 0.5, "timestamp": 1_712_000_060,
                 "title": "Rain?", "outcomeIndex": 1},
            ]
        },
        [("polymarket", "0xab", "Rain?", None, None, (0.25, 0.5))],
    ),
    "settlements and candles with names of their own": (
        {
            "settlements.csv": "condition_id,event_slug,question,closed_at_unix,resolved_at_unix,"
            "settled_price,volume\n0xab,w,Rain?,1714521600,1714521600,0.085,1\n",
            "candles.parquet": "SELECT 'i' AS instrument_id, 'm' AS market_id,"
            " 'No' AS outcome_label, '1d' AS bar_period, 0.75 AS close,"
            " 1711999999 AS observed_at, 1712000000 AS released_at",
            "resolutions.parquet": "SELECT 'm' AS market_id, 'j' AS winning_outcome_instrument_id,"
            " 'Yes' AS winning_outcome_label, 1714521600 AS resolved_at,"
            " '{\"condition_id\": \"0xab\"}'::JSON AS external_ids",
        },
        [("polymarket", "0xab", "Rain?", MAY, 0.085, (0.25,))],
    ),
    "candles of a side by its name, and who won": (
        {
            "candles.parquet": "SELECT 'k' AS instrument_id, 'm' AS market_id, 'Knicks' AS"
            " outcome_label, '1d' AS bar_period, 0.75 AS close, 1712000000 AS observed_at,"
            " 1712000000 AS released_at",
            "outcomes.parquet": "SELECT * FROM (VALUES ('k', 'm', 'Knicks', 1.0, 1), ('s', 'm',"
            " 'Spurs', 1.0, 0))"
            " AS t(instrument_id, market_id, label, payoff_on_resolve, sort_order)",
            "resolutions.parquet": "SELECT 'm' AS market_id, 's' AS winning_outcome_instrument_id,"
            " 'Spurs' AS winning_outcome_label, 1714521600 AS resolved_at,"
            " '{\"condition_id\": \"0xab\"}'::JSON AS external_ids",
        },
        [("polymarket", "0xab", "No text: 0xab", MAY, 1.0, (0.25,))],
    ),
    "a page of Kalshi, and its trades in dollars and in cents": (
        {
            "page.json": {"cursor": "", "markets": [KALSHI]},
            "trades.json": {"trades": [
                {"trade_id": "1", "ticker": "RAIN-1", "created_time": "2024-04-02T00:00:00Z",
                 "yes_price_dollars": "0.2500"},
                {"trade_id": "2", "ticker": "RAIN-1", "created_time": "2024-04-03T00:00:00Z",
                 "yes_price": 40},
            ]},
        },
        [("kalshi", "RAIN-1", "Rain in May? (1 May)", MAY, 0.0, (0.25, 0.4))],
    ),
    "an event of Kalshi, and candles of three ages": (
        {
            "event.json": {"event": {"event_ticker": "RAIN", "title": "Rain"}, "markets": [
                KALSHI | {"result": "scalar", "settlement_value_dollars": "0.3500"}]},
            "candles.json": {"ticker": "RAIN-1", "candlesticks": [
                {"end_period_ts": 1_712_000_000, "price": {"close_dollars": "0.2500"}},
                {"end_period_ts": 1_712_003_600, "price": {"previous_dollars": "0.25"},
                 "yes_bid": {"close_dollars": "0.20"}, "yes_ask": {"close_dollars": "0.30"}},
                {"end_period_ts": 1_712_007_200, "price": {"close": 50}},
                {"end_period_ts": 1_712_010_800, "price": {"close": "0.75"}},
            ]},
        },
        [("kalshi", "RAIN-1", "Rain in May? (1 May)", MAY, 0.35, (0.25, 0.25, 0.5, 0.75))],
    ),
    "a contract of Manifold that was cancelled, and its bets": (
        {
            "contract.json": MANIFOLD
            | {"resolution": "CANCEL", "resolutionTime": 1_714_521_600_000},
            "bet.json": BET,
        },
        [("manifold", "abc", "Snow?", MAY, -1.0, (0.25,))],
    ),
    "contracts and bets of Manifold as tables": (
        {
            "contracts.csv": "id,createdTime,closeTime,resolution,resolutionTime,"
            "resolutionProbability,description\nabc,1711929600000,,MKT,1714521600000,0.3,"
            "https://elsewhere.example/7/will-it-snow/\n",
            "bets.csv": "userId,probAfter,contractId,createdTime\nu,0.25,abc,1712000000000\n",
        },
        [("manifold", "abc", "will it snow", MAY, 0.3, (0.25,))],
    ),
    "questions and resolutions of a bench": (
        {
            "q.json": {"questions": [BENCH, BENCH | {"source": "acled", "id": "18"}]},
            "r.json": {"resolutions": [
                {"id": "17", "source": "metaculus", "resolution_date": "2024-04-20",
                 "resolved_to": 0.5, "resolved": False},
                {"id": "17", "source": "metaculus", "resolution_date": "2024-04-30",
                 "resolved_to": 1.0, "resolved": True},
            ]},
        },
        [("metaculus", "17", "Hail?", MAY, 1.0, (0.3, 0.5))],
    ),
    "a market of PredictIt on the clock of New York": (
        {"m.json": {"id": 5, "name": "Who?", "timeStamp": "2024-04-01T20:00:00.1052091",
                    "contracts": [{"id": 6, "name": "Ada", "dateEnd": "N/A",
                                   "lastTradePrice": 0.25}]}},
        [("predictit", "5-6", "Who? (Ada)", None, None, (0.25,))],
    ),
    "chances of candidates": (
        {"c.csv": "candidate,party,probNominee,probPresident,whenPulled\n"
                  "Ada,dem,0.25,NA,2024-04-02T00:00:00+00:00\n"},
        [("predictit", "nominee:Ada", "Will Ada be the Democratic nominee?", None, None, (0.25,))],
    ),
}  # fmt: skip


def laid(folder: Path, files: Files) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = folder / name
        if name.endswith(".parquet"):
            duckdb.sql(f"COPY ({content}) TO '{path}' (FORMAT PARQUET)")
        else:
            text = content if isinstance(content, str) else json.dumps(content)
            path.write_text(text, encoding="utf-8")
    return folder


def imported(tmp_path: Path, files: Files) -> HistoryFile:
    import_history(tmp_path, "x", [laid(tmp_path / "source", files)], on_progress=lambda *_: None)
    return HistoryFile(history_path(tmp_path, "x"))


@pytest.mark.parametrize(("files", "markets"), CASES.values(), ids=CASES)
def test_a_source_is_known_by_its_content(
    tmp_path: Path, files: Files, markets: list[tuple[object, ...]]
) -> None:
    with imported(tmp_path, files) as history:
        found = [
            (
                *(one.source, one.native_id, one.question, one.ends_at, one.settles_at),
                tuple(round(price, 9) for _, price in history.points(one.number)),
            )
            for one in history.markets()
        ]
    assert found == markets


def test_a_price_of_new_york_is_not_known_before_its_time(tmp_path: Path) -> None:
    files = CASES["a market of PredictIt on the clock of New York"][0]
    with imported(tmp_path, files) as history:
        (market,) = history.markets()
    assert int(market.opens_at) == 1_712_016_000  # 2024-04-02, midnight UTC


def test_an_early_close_of_kalshi_is_not_announced(tmp_path: Path) -> None:
    files = CASES["a page of Kalshi, and its trades in dollars and in cents"][0]
    with imported(tmp_path, files) as history:
        (market,) = history.markets()
    assert market.ends_at == MAY
    assert market.closes_at == MAY + 2 * 86_400


CANDLE = {
    "end_period_ts": 1_712_000_000, "price": {"close_dollars": "0.2500"},
    "yes_bid": {"close_dollars": "0.2300"}, "yes_ask": {"close_dollars": "0.2600"},
}  # fmt: skip
QUOTED = "id,t,price,bid,ask,bid_shares,ask_shares\n"
QUOTES: dict[str, tuple[Files, float, tuple[float, ...] | None]] = {
    "a candle of Kalshi": (
        {"m.json": [KALSHI], "c.json": {"ticker": "RAIN-1", "candlesticks": [CANDLE]}},
        1_712_000_000, (1_712_000_000, 0.23, 0.26, 0, 0),
    ),
    "before the candle has ended": (
        {"m.json": [KALSHI], "c.json": {"ticker": "RAIN-1", "candlesticks": [CANDLE]}},
        1_711_999_999, None,
    ),
    "our own prices, with what stands there": (
        {**OWN, "prices.csv": QUOTED + "m1,1714000000,0.4,0.38,0.41,120,7.5\n"},
        1_714_000_001, (1_714_000_000, 0.38, 0.41, 120, 7.5),
    ),
    "our own prices, where nobody stands": (
        {**OWN, "prices.csv": QUOTED + "m1,1714000000,0.4,,0.41,,many\n"},
        1_714_000_001, (1_714_000_000, 0, 0.41, 0, 0),
    ),
    "our own prices, without the shares": (
        {**OWN, "prices.csv": "id,t,price,bid,ask\nm1,1714000000,0.4,0.3,0.5\n"
                              "m1,1714000060,0.45,,\n"},
        1_714_000_060, (1_714_000_000, 0.3, 0.5, 0, 0),
    ),
    "prices alone": (OWN, MAY, None),
}  # fmt: skip


@pytest.mark.parametrize(("files", "at", "quote"), QUOTES.values(), ids=QUOTES)
def test_a_bid_and_an_ask_are_known_from_their_time_on(
    tmp_path: Path, files: Files, at: float, quote: tuple[float, ...] | None
) -> None:
    with imported(tmp_path, files) as history:
        assert history.quote_at(0, at) == quote
        assert history.left_out_counts() == {}


@pytest.mark.parametrize("row", ["0.5,0.4", "0.4,1.5", "x,0.5", "nan,0.5", "-0.1,0.5"])
def test_a_bid_and_an_ask_that_cannot_stand_leave_their_price(tmp_path: Path, row: str) -> None:
    prices = f"id,t,price,bid,ask\nm1,1714000000,0.4,{row}\n"
    with imported(tmp_path, {**OWN, "prices.csv": prices}) as history:
        assert history.left_out_counts() == {"a bid and an ask that cannot both stand": 1}
        assert history.quote_at(0, MAY) is None
        assert history.price_at(0, MAY) == 0.4


ANN, BOB = "0x" + "aB" * 20, "0x" + "0c" * 20
EXCHANGE = "0x4bFb41d5B3570DeFd03C39a9A4D8dE6Bd8B8982E"
TRADE = {
    "proxyWallet": ANN, "side": "BUY", "conditionId": "0xab", "asset": "11", "size": 40.5,
    "price": 0.25, "timestamp": 1_712_000_000, "title": "Rain?", "outcomeIndex": 0,
}  # fmt: skip
OWN_TRADES = "id,t,price,shares,side,wallet,action\n"
CHAIN = {
    "m.parquet": "SELECT '7' AS id, '0xab' AS condition_id, 'Rain?' AS question,"
                 " '[\"0.4\", \"0.6\"]' AS outcome_prices, '[\"11\", \"12\"]' AS clob_token_ids,"
                 " NULL::TIMESTAMP AS end_date, TIMESTAMP '2024-04-01' AS created_at,"
                 " false AS closed, 1.0 AS volume",
    "b.parquet": "SELECT 1 AS block_number, '2024-04-01T19:33:20Z' AS timestamp",
    "t.parquet": "SELECT 1 AS block_number, * FROM (VALUES"  # noqa: S608
                 f" (1, '0', '11', 10000000, 40000000, '{ANN}', '{BOB}'),"
                 f" (2, '12', '0', 20000000, 15000000, '{BOB}', '{EXCHANGE}'))"
                 " AS t(log_index, maker_asset_id, taker_asset_id, maker_amount, taker_amount,"
                 " maker, taker)",
}  # fmt: skip
YES, NO, BUYS, SELLS, TOOK, WAITED = 0, 1, 0, 1, 0, 1
WALLET_TRADES: dict[str, tuple[Files, list[tuple[object, ...]]]] = {
    "trades of the data interface": (
        {"t.json": [
            TRADE, TRADE | {"side": "SELL", "outcomeIndex": 1, "price": 0.7, "timestamp":
                            1_712_000_060, "proxyWallet": BOB},
        ]},
        [
            (1_712_000_000, ANN, YES, BUYS, TOOK, 40.5, 0.25),
            (1_712_000_060, BOB, NO, SELLS, TOOK, 40.5, 0.7),
        ],
    ),
    "orders of the chain": (
        CHAIN,
        [
            (1_712_000_000, ANN, YES, BUYS, WAITED, 40.0, 0.25),
            (1_712_000_000, BOB, NO, SELLS, TOOK, 20.0, 0.75),
        ],
    ),
    "our own trades, of which one has no wallet": (
        {"markets.csv": OWN["markets.csv"],
         "trades.csv": f"{OWN_TRADES}m1,1714000060,0.4,5,NO,{BOB},\nm1,1714000000,0.4,5,YES,{ANN},"
                       "SELL\nm1,1714000000,0.4,5,YES,,\n"},
        [
            (1_714_000_000, ANN, YES, SELLS, TOOK, 5.0, 0.4),
            (1_714_000_060, BOB, NO, BUYS, TOOK, 5.0, 0.6),
        ],
    ),
    "a trade before the market has a price": (
        {"m.json": [GAMMA], "prices_11.json": YES_HISTORY,
         "t.json": [TRADE | {"timestamp": 1_711_999_999}]},
        [],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("files", "trades"), WALLET_TRADES.values(), ids=WALLET_TRADES)
def test_the_trades_of_wallets_are_kept_in_the_order_of_time(
    tmp_path: Path, files: Files, trades: list[tuple[object, ...]]
) -> None:
    with imported(tmp_path, files) as history:
        found = history.trades(0.0, 1e10)
        assert history.left_out_counts() == {}
    assert [one.number for one in found] == list(range(len(trades)))
    assert {one.market for one in found} <= {0}
    assert [(one.at, one.wallet.hex(), *one[4:8], round(one.price, 9)) for one in found] == [
        (at, str(wallet)[2:].lower(), *rest) for at, wallet, *rest in trades
    ]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"proxyWallet": "Ann"}, "a wallet that is no address"),
        ({"proxyWallet": ANN[:-1]}, "a wallet that is no address"),
        ({"side": "HOLD"}, "a trade of a wallet that is none"),
        ({"size": -1}, "a trade of a wallet that is none"),
        ({"size": "nan"}, "a trade of a wallet that is none"),
        ({"price": 1}, "a trade of a wallet that is none"),
    ],
)
def test_a_trade_of_a_wallet_that_makes_no_sense_is_left_out(
    tmp_path: Path, changes: dict[str, object], reason: str
) -> None:
    with imported(tmp_path, {"t.json": [TRADE, TRADE | changes]}) as history:
        assert len(history.trades(0.0, 1e10)) == 1
        assert history.left_out_counts() == {reason: 1}


TROUBLES: dict[str, tuple[Files, str]] = {
    "more than two sides": (
        {"m.json": [GAMMA, GAMMA | {"conditionId": "0xcd", "outcomes": '["a", "b", "c"]'}]},
        "a market that is not YES or NO",
    ),
    "a scalar market": (
        {"m.json": [GAMMA, GAMMA | {"conditionId": "0xcd", "marketType": "scalar"}]},
        "a market that is not YES or NO",
    ),
    "prices that are none": (
        {"m.json": [GAMMA, GAMMA | {"conditionId": "0xcd", "outcomePrices": '["dear", ""]'}]},
        "something that is not as its format says",
    ),
    "a day after all days": (
        {
            "m.json": [GAMMA],
            "r.json": [
                {
                    "id": "1",
                    "source": "metaculus",
                    "resolution_date": "9999-12-31",
                    "resolved_to": 1.0,
                    "resolved": True,
                },
            ],
        },
        "something that is not as its format says",
    ),
    "a number that no price has": (
        {"m.json": [GAMMA], "c.json": [{"ticker": "R", "candlesticks": [ENDLESS]}]},
        "something that is not as its format says",
    ),
    "lists in lists in a text": (
        {"m.json": [GAMMA, GAMMA | {"conditionId": "0xcd", "outcomes": "[" * 100_000}]},
        "something that is not as its format says",
    ),
    "given twice": ({"m.json": [GAMMA, GAMMA]}, "a market that was given before"),
}


@pytest.mark.parametrize(("files", "reason"), TROUBLES.values(), ids=TROUBLES)
def test_one_that_cannot_be_taken_leaves_the_others(
    tmp_path: Path, files: Files, reason: str
) -> None:
    with imported(tmp_path, {**files, "prices_11.json": YES_HISTORY}) as history:
        assert history.left_out_counts() == {reason: 1}
        assert [one.native_id for one in history.markets()] == ["0xab"]


LEFT_OUT = {
    "a row that is short": ("m1,1712000000", "Expected Number of Columns: 3 Found: 2"),
    "a row that is long": ("m1,1712000000,0.5,7", "Expected Number of Columns: 3 Found: 4"),
    "a row of another encoding": ("m\udcff1,1712000000,0.5", "not utf-8 encode"),
    "a row beyond all bounds": ("x" * 17_000_000, "Maximum line size of 16000000 bytes exceeded"),
}


@pytest.mark.parametrize(("row", "why"), LEFT_OUT.values(), ids=LEFT_OUT)
def test_a_row_that_cannot_be_read_leaves_the_others(tmp_path: Path, row: str, why: str) -> None:
    source = laid(tmp_path / "source", OWN)
    with (source / "prices.csv").open("ab") as file:
        file.write(f"{row}\nm1,1714000000,0.75\n".encode(errors="surrogateescape"))
    import_history(tmp_path, "x", [source], on_progress=lambda *_: None)
    with HistoryFile(history_path(tmp_path, "x")) as history:
        assert list(history.left_out_counts()) == ["a row that cannot be read"]
        lost = history.left_out()
        assert {one.place.partition(":")[0] for one in lost} == {"prices.csv"}
        assert why in " ".join(one.what for one in lost)
        assert [price for _, price in history.points(0)] == [0.75, 0.4]


UNREADABLE: dict[str, Files] = {
    "JSON that is cut off": {"m.json": '[{"id": "7", "conditionId": '},
    "JSON that is nested deeply": {"m.json": '{"a":' * 100_000 + "1" + "}" * 100_000},
    "Parquet that is damaged": {"m.parquet": "SELECT 1 AS id"},
    "a line of a table that is too long": {"m.csv": "id,t,price\n" + "x" * 17_000_000 + ",1,0.5\n"},
    "text that is not UTF-8": {"m.csv": "id,t,price\n"},
    "nothing of a known kind": {"m.csv": "a,b\n1,2\n", "n.json": {"a": [1, 2, {"b": None}]}},
    "no market for the prices": {"p.csv": "id,t,price\nm1,1712000000,0.5\n"},
}


CAUSES = {
    "a line of a table that is too long": "Maximum line size of 16000000 bytes exceeded",
    "text that is not UTF-8": "This file is not utf-8 encoded",
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_cannot_be_read_is_one_sentence_and_leaves_nothing(tmp_path: Path, name: str) -> None:
    source = laid(tmp_path / "source", UNREADABLE[name])
    if "damaged" in name:
        path = source / "m.parquet"
        path.write_bytes(path.read_bytes()[:-20])
    if "UTF-8" in name:
        (source / "m.csv").write_bytes(b"id,t,price\nm\xff\xfe1,1712000000,0.5\n")
    with pytest.raises(HistoryError) as said:
        import_history(tmp_path, "x", [source], on_progress=lambda *_: None)
    assert "\n" not in str(said.value)
    assert CAUSES.get(name, "") in str(said.value)
    assert len(str(said.value)) < 400
    assert not list((tmp_path / "histories").glob("*"))


@pytest.mark.process
def test_a_time_without_a_zone_is_of_utc_wherever_the_machine_stands(tmp_path: Path) -> None:
    source = laid(tmp_path / "source", OWN)
    words = ["history", "import", str(source), "--name", "x", "--data-dir", str(tmp_path)]
    environ = {**os.environ, "TZ": "America/New_York"}
    subprocess.run([sys.executable, "-m", "service_tui", *words], check=True, env=environ)
    with HistoryFile(history_path(tmp_path, "x")) as history:
        (market,) = history.markets()
        assert (market.closes_at, market.ends_at) == (MAY, MAY + 43_200)
        assert [at for at, _ in history.points(0)] == [MAY - 86_400]


NO_TIMES = ("1712000000000000", "1e300", "inf", "nan", "-5", "0", "0044-03-15 (BC)")


@pytest.mark.parametrize("time", NO_TIMES)
def test_a_time_that_no_market_has_is_left_out(tmp_path: Path, time: str) -> None:
    row = f"m1,{time},0.5\n"
    with imported(tmp_path, {**OWN, "prices.csv": str(OWN["prices.csv"]) + row}) as history:
        assert history.left_out_counts() == {"a price whose time is no time": 1}
        assert (history.about.begins_at, history.about.ends_at) == (MAY - 86_400, MAY + 43_200)


def test_an_end_after_all_ends_announces_none(tmp_path: Path) -> None:
    markets = str(OWN["markets.csv"]).replace("2024-05-01T00:00:00,", "9999-12-31T23:59:00,")
    with imported(tmp_path, {**OWN, "markets.csv": markets}) as history:
        assert [one.closes_at for one in history.markets()] == [None]


def test_an_interrupt_while_the_prices_are_put_in_order_leaves_nothing(tmp_path: Path) -> None:
    rows = "".join(f"m1,{int(MAY) - 400_000 + at},0.4\n" for at in range(400_000))
    source = laid(tmp_path / "source", {**OWN, "prices.csv": f"id,t,price\n{rows}"})

    def interrupt(what: str, _: float) -> None:
        if "prices" in what and "order" in what:
            threading.Timer(0.05, signal.raise_signal, (signal.SIGINT,)).start()

    with pytest.raises(KeyboardInterrupt):
        import_history(tmp_path, "x", [source], on_progress=interrupt)
    assert not list((tmp_path / "histories").glob("*"))


REWRITTEN: dict[str, tuple[int, bool]] = {
    "a second that nobody announces": (int(MAY) + 7, False),
    "a whole minute": (int(MAY) + 60, True),
    "another time": (int(MAY) + 30, True),
}


@pytest.mark.parametrize(("early", "announces"), REWRITTEN.values(), ids=REWRITTEN)
def test_a_source_that_writes_true_ends_over_announced_ones_announces_none(
    tmp_path: Path, early: int, *, announces: bool
) -> None:
    end = int(MAY) + 7 if not announces else early + (early % 60)
    rows = (
        f"a,manifold,,By June?,,,{early},{end},YES,\n"
        f"b,manifold,,By July?,,,{int(MAY) + 86_400},,,\n"
        f"c,metaculus,,By August?,,,{int(MAY) + 86_400},,,\n"
    )
    head = str(OWN["markets.csv"]).split("\n")[0]
    prices = "".join(f"{one},{int(MAY) - 60},0.4\n" for one in "abc")
    files = {"markets.csv": f"{head}\n{rows}", "prices.csv": f"id,t,price\n{prices}"}
    with imported(tmp_path, files) as history:
        ends = {one.native_id: one.closes_at is not None for one in history.markets()}
        assert ends == {"a": announces, "b": announces, "c": True}
        assert sum(history.left_out_counts().values()) == (0 if announces else 2)
