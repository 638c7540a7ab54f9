"""The spec's terms as string enums, defined once. Contains no logic, I/O or numbers that change.

Must stay free of logic, I/O and numbers that change.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple

NEW_AGENT_CASH_SIM: Final = 10_000
"""$SIM that every new agent receives. Source: spec, "Venues"."""


class Venue(StrEnum):
    """Venue of an order. Source: spec, "Venues"."""

    SIM = "sim"
    EVM = "evm_venue"
    SOL = "sol_venue"


VENUE_ALIASES: Final = {
    "sandbox": Venue.SIM,
    "polymarket": Venue.EVM,
    "kalshi": Venue.SOL,
}
"""Names of the public wire for the same venues. Source: wire reference, section 0."""


VENUE_NAMES: Final = {**{venue.value: venue for venue in Venue}, **VENUE_ALIASES}
"""Every name of a venue, ours and those of the public wire."""

PUBLIC_VENUES: Final = {
    venue: name for name, venue in VENUE_ALIASES.items() if venue is not Venue.SIM
}
"""The same the other way round; `sim` has one name everywhere."""

MONEY_OF: Final = {Venue.SIM: "$SIM", Venue.EVM: "USDC.e", Venue.SOL: "USDC"}
"""What each venue is paid in: no sum holds two of them. Source: spec, "Venues"."""


class Side(StrEnum):
    """The claim that pays 1 when the market ends YES or NO."""

    YES = "yes"
    NO = "no"

    @property
    def other(self) -> "Side":
        """The opposite side."""
        return Side.NO if self is Side.YES else Side.YES


class Action(StrEnum):
    """Direction of an order: buy or sell."""

    BUY = "buy"
    SELL = "sell"


class OrderType(StrEnum):
    """Time in force of an order on a book; `sim` always fills at once."""

    GTC = "GTC"
    GTD = "GTD"
    FOK = "FOK"
    FAK = "FAK"


class OrderEnd(StrEnum):
    """Reason why an order no longer rests."""

    FILLED = "filled"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    MARKET_CLOSED = "market_closed"


class MarketStatus(StrEnum):
    """State of a market. `closed`: past `resolves_at`, outcome not confirmed."""

    ACTIVE = "active"
    CLOSED = "closed"
    RESOLVED = "resolved"


class TradeStatus(StrEnum):
    """State of a trade. Source: spec, "Trade status"; the last two: wire reference, 3.4."""

    SUBMITTED = "submitted"
    FILLED = "filled"
    PARTIALLY_FILLED = "partially_filled"
    UNCONFIRMED = "unconfirmed"
    CONFIRMED = "confirmed"
    FAILED = "failed"
    # ours: an order that ended without a fill is neither submitted, filled nor failed.
    CANCELLED = "cancelled"


class AgentStatus(StrEnum):
    """Source: wire reference, 3.1."""

    UNCLAIMED = "unclaimed"
    ACTIVE = "active"
    CLAIMED = "claimed"
    BROKE = "broke"
    SUSPENDED = "suspended"


class Plan(StrEnum):
    """Paid plan of an account. Source: spec, "Plans"."""

    FREE = "free"
    PRO = "pro"
    ELITE = "elite"


class WalletKind(StrEnum):
    """Owner of the key of an agent's wallet. Source: spec, "Wallet types"."""

    MANAGED = "managed"
    EXTERNAL = "external"


class ExitReason(StrEnum):
    """Threshold of a monitor that a price, or for a time stop the clock, has crossed."""

    STOP_LOSS = "stop_loss"
    TAKE_PROFIT = "take_profit"
    # ours: the spec knows a stop and a target only.
    TRAILING_STOP = "trailing_stop"
    TIME_STOP = "time_stop"


class AlertStatus(StrEnum):
    """State of a risk alert. Source: spec, "Risk alert lifecycle"."""

    PENDING = "pending"
    EXECUTED = "executed"
    EXPIRED = "expired"
    # ours: acknowledged by its owner without a sale.
    DISMISSED = "dismissed"
    # ours: the market ended first, or the position was gone: nothing was left to sell.
    RESOLVED = "resolved"
    # ours: what is left to sell is below the least order of its venue.
    REMAINDER = "remainder"


PERSON_KEY_PREFIX: Final = "op_"
"""Begins the key of a person who operates a world; an agent's begins otherwise."""


class PersonRole(StrEnum):
    """What an operator may do, each more than the one before.

    `observer` reads. `trader` acts on own agents. `supervisor` acts on all agents of the world, and
    halts. `owner` decides on plans, invitations and people.
    """

    OBSERVER = "observer"
    TRADER = "trader"
    SUPERVISOR = "supervisor"
    OWNER = "owner"

    def reaches(self, least: "PersonRole") -> bool:
        """True if this role may do what needs `least`."""
        roles = list(PersonRole)
        return roles.index(self) >= roles.index(least)


class LeashMode(StrEnum):
    """Freedom of an agent or one of its skills.

    `observe`: it may ask what an order would bring, and place none. `ask`: a buy above a threshold
    waits for the person. `auto`: it buys automatically within its budget.
    """

    OBSERVE = "observe"
    ASK = "ask"
    AUTO = "auto"


class PendingStatus(StrEnum):
    """State of a trade that needed approval."""

    WAITING = "waiting"
    APPROVED = "approved"
    REFUSED = "refused"
    EXPIRED = "expired"
    # Approved, and then the venue refused.
    FAILED = "failed"
    # Approved and sent, and no answer came: it is looked up.
    UNKNOWN = "unknown"


MARKET_ENDED: Final = "the market ended"
"""Reason of a request that lapsed because its market takes no more orders, or is forgotten."""


class Mode(StrEnum):
    """Kind of money that trades on this desk move; the value is shown in the header."""

    SIM = "SIM"
    DRY = "DRY"
    LIVE = "LIVE"


class Category(StrEnum):
    """Subject of a market of the embedded service; the first of its tags.

    The invented world has no markets of the last two.
    """

    POLITICS = "politics"
    SPORTS = "sports"
    WEATHER = "weather"
    CRYPTO = "crypto"
    SCIENCE = "science"
    CULTURE = "culture"
    ECONOMICS = "economics"
    OTHER = "other"


class LimitGroup(StrEnum):
    """By what the operator limits what all agents hold."""

    CATEGORY = "category"
    EVENT = "event"
    AGENT = "agent"


def counted(number: int, noun: str) -> str:
    """A number with its noun: `1 position`, `3 positions`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


SIGNAL_RANGES: Final = {"edge": (-1.0, 1.0), "confidence": (0.0, 1.0), "probability": (0.0, 1.0)}
"""Figures of `signal_data` that are a probability, or a difference of two. Source: spec,
"signal_data"; the third: ours, as the bundled skills send it."""


def agent_with(name: str, skill_slug: str) -> str:
    """An agent with its skill, `heron with momentum`; a skill that runs under its own name once."""
    return f"{name} with {skill_slug}" if skill_slug not in {"", name} else name


def win_rate(wins: int, losses: int) -> float | None:
    """Wins among sales and payouts that gained or lost, 0 to 1; None while there are none."""
    decided = wins + losses
    return wins / decided if decided else None


def venue_marked(text: str, venue: Venue, unit: str = "") -> str:
    """Text of an order or a fill; one for real money gets its unit and venue."""
    if venue is Venue.SIM:
        return text
    return f"{Mode.LIVE.value} {text}{unit} on {venue.value}"


class ExperimentStatus(StrEnum):
    """End of an experiment. Source: spec, "Experiment outcomes"; wire reference, section 0."""

    KEEP = "keep"
    DISCARD = "discard"
    CRASH = "crash"
    CHECKS_FAILED = "checks_failed"

    @property
    def is_crash(self) -> bool:
        """True where it counts towards the pause. Source: wire reference, 9.2."""
        return self in {ExperimentStatus.CRASH, ExperimentStatus.CHECKS_FAILED}


class SessionState(StrEnum):
    """State of a series of experiments. Source: spec, "Autoresearch session"."""

    RUNNING = "running"
    PAUSED = "paused"
    CAPPED = "capped"


class Direction(StrEnum):
    """Better direction of a metric. Source: spec, "Autoresearch experiment tool parameters"."""

    HIGHER = "higher"
    LOWER = "lower"

    def is_better(self, one: float, other: float) -> bool:
        """True if `one` is strictly better than `other`."""
        return one > other if self is Direction.HIGHER else one < other


class MarketWindow(StrEnum):
    """How long a fast market lasts. Source: wire reference, 2.2."""

    FIVE_MINUTES = "5m"
    QUARTER = "15m"
    HOUR = "1h"
    FOUR_HOURS = "4h"
    DAY = "daily"


class AlertCondition(StrEnum):
    """When a price alert triggers. Source: wire reference, 2.4."""

    ABOVE = "above"
    BELOW = "below"
    CROSSES_ABOVE = "crosses_above"
    CROSSES_BELOW = "crosses_below"

    @property
    def describe(self) -> str:
        """Describe the condition, to be followed by a price."""
        return self.value.replace("_", " ")

    @property
    def sign(self) -> str:
        """The condition as a sign, if it has one, to be followed by a price."""
        return {"above": ">", "below": "<"}.get(self.value, self.describe)

    @property
    def is_upward(self) -> bool:
        """True where the price has to rise."""
        return self in {AlertCondition.ABOVE, AlertCondition.CROSSES_ABOVE}

    @property
    def is_crossing(self) -> bool:
        """True where the price has to come from the near side of the threshold."""
        return self in {AlertCondition.CROSSES_ABOVE, AlertCondition.CROSSES_BELOW}

    def is_beyond(self, threshold: float, price: float) -> bool:
        """True at the threshold or past it; every other price is on the near side."""
        return price >= threshold if self.is_upward else price <= threshold

    def fires(self, threshold: float, price: float, *, is_armed: bool) -> bool:
        """True if an alert fires at a price.

        A plain alert fires at every price at its threshold or beyond. A crossing fires there only
        once it is armed: once a price was on the near side, so that one that is beyond from the
        beginning waits until the price has come back.
        """
        return self.is_beyond(threshold, price) and (is_armed or not self.is_crossing)


class WebhookEvent(StrEnum):
    """What a webhook can report. Source: wire reference, 2.4; the last one is ours."""

    TRADE_EXECUTED = "trade.executed"
    MARKET_RESOLVED = "market.resolved"
    PRICE_MOVEMENT = "price.movement"
    WINDOW_OPEN = "market.window_open"
    # ours: so that an alert need not name an address of its own.
    PRICE_ALERT = "price.alert"
    # ours: what the operator is told of an agent, to programs.
    AGENT_ALERT = "agent.alert"


class AgentAlertKind(StrEnum):
    """What an alert on an agent watches. # ours: the spec has no alerts on agents.

    `silent`: no call for so many minutes. `drawdown`: so far below the peak of its equity.
    `day_loss`: so much lost since midnight UTC. `spend`: so much money of buys within so many
    minutes. `move`: a market that it holds moved so far within so many minutes. `errors`: so many
    of its orders, or of one of its skills, were refused within so many minutes.
    """

    SILENT = "silent"
    DRAWDOWN = "drawdown"
    DAY_LOSS = "day_loss"
    SPEND = "spend"
    MOVE = "move"
    ERRORS = "errors"

    @property
    def has_window(self) -> bool:
        """True where it counts within so many minutes."""
        return self in {AgentAlertKind.SPEND, AgentAlertKind.MOVE, AgentAlertKind.ERRORS}

    @property
    def typed_per_limit(self) -> int:
        """What a person types for a limit of 1: percent and points are hundredths."""
        return 100 if self in {AgentAlertKind.DRAWDOWN, AgentAlertKind.MOVE} else 1


class AgentAlertAction(StrEnum):
    """What an alert on an agent does beside telling. # ours."""

    TELL = "tell"
    PAUSE = "pause"
    HALT = "halt"


AFTER_SIM_BUY: Final = "the last buy on sim"
AFTER_FAILURE: Final = "an order that failed"
"""What a cooldown follows: the first binds play money alone, the second real venues alone."""

# -- bounds of the protocol ------------------------------------------------------------------------
# Each stands here once: wire, engine, desk, console, sdk and every sentence read it from here.

SPEEDS: Final = (0, 1, 10, 60, 600, 3_600)
"""World seconds in a second of wall time; 0 pauses the tape."""

HISTORY_STEP_MAX_S: Final = 7 * 86_400
"""The longest step of a history, in seconds of its world."""

INVENTED_SPEED_MAX: Final = 60
# ours: an invented market may last five minutes; the past is slow, and is crossed by the hour.

CLOSED_SPEED_MAX: Final = 1
# ours: while nobody is there the tape runs at most at 1x, or a night at 60x would cost three weeks.

LINE_MAX: Final = 200
"""Letters of a name or a title."""

PROSE_MAX: Final = 4_000
"""Letters of reasoning, or of any other text with line breaks."""

ID_PATTERN: Final = r"[A-Za-z0-9_:.\-]{1,128}"
"""An id that is safe as one segment of a path. Source: failures, T-18."""

SLUG_PATTERN: Final = r"[A-Za-z0-9_][A-Za-z0-9_\-]{0,127}"
"""A skill's slug."""

THRESHOLD_PATTERN: Final = r"[A-Za-z_][A-Za-z0-9_.\-]{0,63}"
"""The name of a threshold of a backtest."""

MONEY_DECIMALS: Final = 2
SHARE_DECIMALS: Final = 5
"""Digits after the point of an order's size."""

PRICE_LOW: Final = 0.001
PRICE_HIGH: Final = 0.999
"""Bounds of an order's price on a book. Source: spec, "Limits"; as of 2026-11."""

ORDER_SHARES_MIN: Final = 5
"""Shares of one order on the EVM venue, at least. Source: spec, "Limits"; as of 2026-11. No answer
of the service lists it."""

GTD_LIFE_MIN_S: Final[Mapping[Venue, float]] = {Venue.EVM: 180.0}
"""Shortest life of a GTD order by venue, seconds; a venue that is not named has none. As of
2026-11; it was a minute before. No answer of the service lists it."""

SIM_TRADE_MAX: Final = 500
SIM_MARKET_MAX: Final = 2_000
"""$SIM of one buy, and of what is held of one market. Source: wire reference, 7."""

STOP_MAX: Final = 1
TARGET_MAX: Final = 1_000
TRAIL_MAX: Final = 1
"""Of the entry, and of the peak for a trailing stop: fractions of it, or points of price.

# ours: a thousandfold is beyond every price.
"""


class ThresholdUnit(StrEnum):
    """Unit of a threshold: a fraction, points of price as a fraction of 1, or Unix seconds."""

    FRACTION = "fraction"
    POINTS = "points"
    MOMENT = "moment"


class ThresholdKind(NamedTuple):
    """One kind of threshold of a monitor: its field on every floor, and its bounds.

    It is above 0 and at most `most`, or below it if `is_open`; `bounds` is that as text, empty if
    only the service checks it. `label` is its name in plain English.
    """

    name: str
    label: str
    unit: ThresholdUnit
    most: float
    bounds: str
    is_open: bool = False


THRESHOLDS: Final = (
    ThresholdKind(
        "stop_loss_pct", "stop", ThresholdUnit.FRACTION,
        STOP_MAX, f"above 0 %, at most {100 * STOP_MAX} %",
    ),
    ThresholdKind(
        "take_profit_pct", "target", ThresholdUnit.FRACTION,
        TARGET_MAX, f"above 0 %, at most {100 * TARGET_MAX:,} %",
    ),
    # ours: a trailing stop, of one of two kinds, and a time stop; the spec has neither.
    ThresholdKind(
        "trailing_stop_pct", "trailing stop", ThresholdUnit.FRACTION,
        TRAIL_MAX, f"above 0, below {100 * TRAIL_MAX} %", is_open=True,
    ),
    ThresholdKind(
        "trailing_stop_points", "trailing stop",
        ThresholdUnit.POINTS, TRAIL_MAX, f"above 0, below {100 * TRAIL_MAX} %", is_open=True,
    ),
    ThresholdKind(
        "exit_at", "time stop", ThresholdUnit.MOMENT, float("inf"), ""
    ),
)  # fmt: skip
"""What a monitor may watch: wire, service and desk read their lists from here.

The published service has the first two. The order is that of the journal: a new kind comes last.
"""

PUBLISHED_THRESHOLDS: Final = 2
"""How many of them every service has."""

DAY_BUYS_MAX: Final = 1_000_000
"""Buys of a day that may be set; the plans have lower ceilings."""

TRADES_PAGE_MAX: Final = 200
MARKETS_PAGE_MAX: Final = 500
EXPERIMENTS_PAGE_MAX: Final = 500
"""Rows of one answer."""

AUDIT_PAGE_MAX: Final = 200
"""Changes of people in one answer. # ours."""

PERSON_NAME_MAX: Final = 60
"""Letters of a person's name. # ours: it stands in a column of the audit log."""

INVITATION_USES_MAX: Final = 10_000
INVITATION_DAYS: Final = 7
INVITATION_DAYS_MAX: Final = 365
"""How many agents an invitation may let in, and how long. # ours: an invitation is no open door."""

OFFSET_MAX: Final = 10_000_000
"""Rows of a list that one call may pass over."""

SEARCH_MIN: Final = 2
"""Letters of a search for markets."""

MARKET_IDS_MAX: Final = 50
"""Markets that one call may name. Source: wire reference, 2.2."""

HISTORY_HOURS_MAX: Final = 168
"""Range of a price history into the past, and of expiring positions into the future."""

WALLETS_MAX: Final = 100
"""Wallets that the reactor follows. # ours: as many as a person can tell apart, and bounded."""

PRICE_BUFFER_MAX: Final = 0.2
PRICE_BUFFER_DEFAULT: Final = 0.02
"""How far above the source a mirror may pay, a fraction. Source: spec, "Limits"."""

MIRROR_PRICE_MAX: Final = 0.999
"""A mirror never pays more. Source: decisions, "Reactor sizing"."""

FAILURES_MAX: Final = 5
BREAKER_S: Final = 3_600.0
"""Mirrors that fail in a row and pause the reactor, and for how long. Source: spec, "Limits"."""

SIGNAL_TTL_S: Final = 60.0
SIGNAL_TTL_MAX_S: Final = 600
"""Life of a signal, wall time. Source: wire reference, 8; how long at most is ours."""

LEASH_WAIT_MIN_S: Final = 10
LEASH_WAIT_MAX_S: Final = 86_400
LEASH_WAIT_S: Final = 300
"""How long a trade waits for the person."""

PENDING_SHOWN: Final = 20
"""Trades of one agent that wait. # ours: more than a person decides before they are too old."""

EVERY_MIN_S: Final = 1
EVERY_MAX_S: Final = 86_400
"""Pause between two runs of a skill."""

DAYS_DEFAULT: Final = 7
DAYS_MAX: Final = 30
"""Days that a backtest replays. Source: spec, "Limits", "Backtest window"."""

PRICE_ALERTS_MAX: Final = 100
WEBHOOKS_MAX: Final = 10
"""Price alerts that wait, and webhooks, of one agent. # ours: more is a mistake in a loop."""

AGENT_ALERTS_MAX: Final = 20
AGENT_ALERT_MINUTES_MAX: Final = 60
AGENT_SILENT_MAX: Final = 1_440
"""Alerts on one agent; minutes of the window of one; minutes of silence. # ours: what happened is
remembered for an hour, and a day of silence is one that a person has seen."""

WEBHOOK_FAILURES_MAX: Final = 10
"""Failed attempts in a row that disable a webhook. Source: wire reference, 2.4."""

URL_MAX: Final = 500
"""Letters of the address of a webhook."""

GRID_MAX: Final = 400
"""Combinations of one backtest. # ours: a grid of 20 by 20 fills a screen."""
