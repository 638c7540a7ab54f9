"""Every kind of row of a scenario: its fields, and whether a person could do it.

`acts` carries them out; `docs/drills.md` lists them from here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from service_tui.drills.values import (
    CLOCK,
    FLAG,
    MONEY,
    NAME,
    PART,
    PRICE,
    SIDE,
    TEXT,
    RowField,
    choice,
    number,
)

YOU: Final = "you"


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of row.

    Args:
        about: its effect, for the documentation.
        text: how the timeline puts it, with the fields in braces.
        fields: its own, beside those of every row.
        is_course: a person could do it: the best and the worst course may.
    """

    about: str
    text: str
    fields: tuple[RowField, ...] = ()
    is_course: bool = False


_MARKET: Final = RowField("market", NAME, "the market")
_SIDE: Final = RowField("side", SIDE, "the side", "yes")
_WHO: Final = RowField("who", NAME, "`you` or an agent", YOU)
_AGENT: Final = RowField("agent", NAME, "the agent")
_BY: Final = RowField("by", TEXT, "who does it, for the timeline", "the other supervisor")

EVERY_ROW: Final = (
    RowField("at", CLOCK, "when, from the start of the drill"),
    RowField("every", CLOCK, "repeat at this interval", None),
    RowField("until", CLOCK, "no repetition after this time", None),
    RowField("note", TEXT, "what the timeline shows instead of the usual text", None),
)
"""Fields of every event, beside its `kind`; a row of a course has `do` instead, and `at`."""

KINDS: Final[Mapping[str, Kind]] = {
    "price": Kind(
        "The crowd moves the price of YES, at once or second by second.",
        "{market}: price to {to}",
        (
            _MARKET,
            RowField("to", PRICE, "price of YES at the end"),
            RowField("over", CLOCK, "how long it takes", 0.0),
        ),
    ),
    "news": Kind(
        "A line of news appears in the market's detail.",
        "{market}: {text}",
        (_MARKET, RowField("text", TEXT, "the headline")),
    ),
    "settle": Kind(
        "The outcome is final: winners are paid. Trading closes `wait` before.",
        "{market} resolves {outcome}",
        (
            _MARKET,
            RowField("outcome", SIDE, "the side that wins"),
            RowField("wait", CLOCK, "how long no order is taken before", 10.0),
        ),
    ),
    "signal": Kind(
        "A wallet reports a buy to those who follow it. With `real = false` nothing stands behind "
        "it: no money moves and the market's trades do not show it.",
        "{wallet} reports a buy of {side} in {market}",
        (
            RowField("wallet", TEXT, "label of one of the named wallets of the offline world"),
            _MARKET,
            _SIDE,
            RowField("shares", number(1.0, 100_000.0, "shares"), "shares reported"),
            RowField("price", PRICE, "price reported; else the market's", None),
            RowField("real", FLAG, "whether it traded", True),  # noqa: FBT003  (the default of a key)
        ),
    ),
    "gas": Kind(
        "Sets the gas of your linked wallet on the simulated chain.",
        "the wallet holds {pol} POL of gas",
        (RowField("pol", number(0.0, 10.0, "POL"), "gas from now on"),),
    ),
    "chain": Kind(
        "Changes the simulated chain: the price of gas, the length of a block, the next fault.",
        "the chain changes",
        (
            RowField("gwei", number(0.1, 10_000.0, "gwei"), "price of gas", None),
            RowField("block", CLOCK, "length of a block", None),
            RowField(
                "next",
                choice("ok", "revert", "drop", "withhold"),
                "what becomes of the next transaction",
                None,
            ),
        ),
    ),
    "fault": Kind(
        "The connection between this console and the service breaks. `lost`: the service did its "
        "part and the answer is lost; `refused`: nothing arrives; `stuck`: no answer until the "
        "end; `failed`: an error 500 after the service did its part.",
        "{calls} calls are {fault}",
        (
            RowField(
                "calls",
                choice("orders", "reads", "all"),
                "`orders`: the next order alone, within `for`; `reads`: everything that is read, "
                "the stream of events too; `all`: every call",
                "all",
            ),
            RowField("fault", choice("lost", "refused", "stuck", "failed"), "how they go wrong"),
            RowField(
                "for", CLOCK, "how long; with `orders` how long the next order is awaited", 30.0
            ),
            RowField(
                "silence",
                CLOCK,
                "after the first broken order nothing gets through for so long",
                0.0,
            ),
        ),
    ),
    "buy": Kind(
        "An order to buy. Limits, permissions and the halt apply.",
        "buy {side} in {market} for {money}",
        (
            _WHO,
            _MARKET,
            _SIDE,
            RowField("money", MONEY, "$SIM"),
            RowField("reason", TEXT, "note on the order", "scripted"),
        ),
        is_course=True,
    ),
    "sell": Kind(
        "An order to sell a part of what is held, or all.",
        "sell {side} in {market}",
        (_WHO, _MARKET, _SIDE, RowField("part", PART, "part of the position", 1.0)),
        is_course=True,
    ),
    "stop": Kind(
        "Sets a stop on a position, as a part of its average cost.",
        "set a stop in {market}",
        (_WHO, _MARKET, _SIDE, RowField("loss", PART, "0.2 sells 20 % below the cost")),
        is_course=True,
    ),
    "unstop": Kind(
        "Removes the monitor of a position.",
        "remove the stop in {market}",
        (_WHO, _MARKET, _SIDE),
        is_course=True,
    ),
    "follow": Kind(
        "Turns your reactor on or off.",
        "turn the reactor on: {on}",
        (RowField("on", FLAG, "whether it follows"),),
        is_course=True,
    ),
    "mirror": Kind(
        "Mirrors the oldest signal that waits.",
        "mirror a signal",
        is_course=True,
    ),
    "redeem": Kind(
        "Redeems a position that has won, through your linked wallet.",
        "redeem {market}",
        (_MARKET,),
        is_course=True,
    ),
    "halt": Kind("Halts all buys.", "halt all buys", (_BY,), is_course=True),
    "resume": Kind("Ends the halt.", "resume", (_BY,), is_course=True),
    "approve": Kind(
        "Approves every trade of an agent that waits.",
        "approve the trades of {agent}",
        (_AGENT, _BY),
        is_course=True,
    ),
    "refuse": Kind(
        "Refuses every trade of an agent that waits, and by itself the same ones for an hour.",
        "refuse the trades of {agent}",
        (_AGENT, _BY),
        is_course=True,
    ),
    "leash": Kind(
        "Sets the permissions of an agent.",
        "set the leash of {agent} to {mode}",
        (
            _AGENT,
            RowField("mode", choice("observe", "ask", "auto"), "how free it is"),
            RowField("budget", number(1.0, 1e6, "$SIM"), "money of a day's buys", None),
            RowField("threshold", number(0.0, 1e6, "$SIM"), "larger buys ask", 0.0),
            _BY,
        ),
        is_course=True,
    ),
    "pause": Kind(
        "Pauses the buys of an agent, or with `on = false` ends the pause.",
        "pause {agent}: {on}",
        (_AGENT, RowField("on", FLAG, "whether it is paused", True), _BY),  # noqa: FBT003  (a key)
        is_course=True,
    ),
}
"""Every kind by its name."""

SCORE: Final = (
    RowField("of", choice(YOU, "all"), "your account, or yours and every agent's", YOU),
    RowField("figure", choice("equity", "cash"), "what is measured at the end", "equity"),
    RowField("venue", choice("sim", "polymarket"), "where", "sim"),
)

TOP: Final = (
    RowField("title", TEXT, "shown in lists and in the head"),
    RowField("brief", TEXT, "what you supervise and what to do, in two or three sentences"),
    RowField("minutes", number(1, 30, "minutes", whole=True), "how long it lasts, real time", 10.0),
    RowField("seed", number(0, 2**31, "a whole number", whole=True), "draws of the world", 1.0),
    RowField("speed", number(1, 600, "a number", whole=True), "seconds of the tape a second", 1.0),
    RowField("wallet", choice("managed", "own"), "who holds your key of the chain", "managed"),
)

MARKET: Final = (
    RowField("name", NAME, "how rows call it"),
    RowField("question", TEXT, "as the console shows it"),
    RowField("price", PRICE, "price of YES at the start"),
    RowField(
        "liquidity", number(50, 20_000, "$SIM"), "the larger, the less a trade moves it", 1_000.0
    ),
    RowField(
        "hours", number(1, 2_000, "hours"), "of the tape, until it closes without `settle`", 72.0
    ),
    RowField("venue", choice("sim", "polymarket"), "where positions lie", "sim"),
    RowField("criteria", TEXT, "how it resolves", "As announced by the named source."),
)

AGENT: Final = (
    RowField("name", NAME, "how rows and the console call it"),
    RowField("about", TEXT, "its description", "scripted agent"),
    RowField("leash", choice("none", "observe", "ask", "auto"), "how free it is", "none"),
    RowField("budget", number(1.0, 1e6, "$SIM"), "money of a day's buys", None),
    RowField("threshold", number(0.0, 1e6, "$SIM"), "larger buys ask", 0.0),
    RowField("wait", CLOCK, "how long a trade waits for approval", 300.0),
)

POSITION: Final = (
    _WHO,
    _MARKET,
    _SIDE,
    RowField("money", MONEY, "what was paid for it"),
    RowField("stop", PART, "stop, as a part of the cost; else none", None),
)

FOLLOWED: Final = (
    RowField("wallet", TEXT, "label of a named wallet that your reactor follows"),
    RowField("mirror", PART, "part of its buys that a mirror is", 0.1),
    RowField("cap", number(1.0, 1e6, "$SIM"), "most that mirrors spend a day", 500.0),
    RowField(
        "buffer", number(0.0, 0.2, "part"), "how far above the wallet's price a mirror pays", 0.1
    ),
)

ADVICE: Final = (
    RowField("say", TEXT, "shown at the end if all conditions hold"),
    RowField("never", TEXT, "you never did this", None),
    RowField("did", TEXT, "you did this", None),
    RowField("before", CLOCK, "with `did`: before this time", None),
    RowField("after", CLOCK, "with `did`: after this time", None),
    RowField("below", number(-100, 100, "score"), "the score is below this", None),
    RowField("above", number(-100, 100, "score"), "the score is above this", None),
)
