"""What `tables.py` declares, as plain text: to open and to read needs no SQLAlchemy.

Made by `make tables`; a test fails while it is not what the classes declare.
"""

from typing import Final, NamedTuple


class TableShape(NamedTuple):
    """A table: its columns in their order, and those of its key."""

    columns: tuple[str, ...]
    key: tuple[str, ...]


TABLES: Final = {
    "cache": TableShape(("key", "at", "body"), ("key",)),
    "chainruns": TableShape(
        (
            "number",
            "subject",
            "wallet",
            "opened_at",
            "changed_at",
            "step",
            "body",
            "nonce",
            "raw",
            "tx_hash",
            "settled_at",
        ),
        ("number",),
    ),
    "endedfilled": TableShape(("one", "seq"), ("one",)),
    "endedmarkets": TableShape(
        ("market_id", "question", "home", "outcome", "resolves_at", "resolved_at", "body"),
        ("market_id",),
    ),
    "entries": TableShape(
        (
            "seq",
            "trade_id",
            "agent_id",
            "venue",
            "skill",
            "market_id",
            "side",
            "at",
            "shares",
            "money",
            "open_shares",
            "back",
            "signal",
        ),
        ("seq",),
    ),
    "entriesread": TableShape(("one", "seq"), ("one",)),
    "idempotency": TableShape(
        ("agent_id", "key", "path", "body_hash", "answer", "at"), ("agent_id", "key")
    ),
    "invitations": TableShape(
        (
            "invitation_id",
            "salt",
            "code_hash",
            "uses",
            "plan",
            "budget",
            "person",
            "created_at",
            "created_by",
            "expires_at",
            "ended_at",
        ),
        ("invitation_id",),
    ),
    "journal": TableShape(
        ("seq", "at", "kind", "agent_id", "market_id", "body", "venue"), ("seq",)
    ),
    "kepttokens": TableShape(
        (
            "market_id",
            "side",
            "venue",
            "wallet",
            "token",
            "condition_id",
            "neg_risk",
            "at",
            "fee_rate_bps",
            "bought",
        ),
        ("market_id", "side", "venue", "wallet"),
    ),
    "once": TableShape(("key", "at"), ("key",)),
    "people": TableShape(
        ("name", "role", "salt", "key_hash", "created_at", "created_by", "ended_at"), ("name",)
    ),
    "preferences": TableShape(("key", "value"), ("key",)),
    "pricealerts": TableShape(
        (
            "alert_id",
            "market_id",
            "question",
            "side",
            "condition",
            "threshold",
            "created_at",
            "armed",
            "triggered_at",
            "triggered_price",
            "service_id",
            "sent_at",
            "removed",
        ),
        ("alert_id",),
    ),
    "reactorsignals": TableShape(
        (
            "signal_id",
            "tx_hash",
            "wallet",
            "label",
            "market_id",
            "question",
            "side",
            "venue",
            "size",
            "price",
            "amount",
            "price_max",
            "at",
            "expires_at",
            "state",
            "words",
            "price_now",
            "ticket_id",
            "shares",
            "cost",
            "name",
            "sold",
            "proceeds",
        ),
        ("signal_id",),
    ),
    "reactorwallets": TableShape(("address", "label", "policy"), ("address",)),
    "snapshots": TableShape(("seq", "at", "body"), ("seq",)),
    "tickets": TableShape(
        (
            "ticket_id",
            "at",
            "kind",
            "subject",
            "venue",
            "body",
            "state",
            "sent_at",
            "settled_at",
            "outcome",
            "amount_micros",
            "client_ref",
        ),
        ("ticket_id",),
    ),
    "use": TableShape(("one", "closed_at"), ("one",)),
}
WORLD: Final = (
    "journal",
    "snapshots",
    "idempotency",
    "entries",
    "entriesread",
    "endedmarkets",
    "endedfilled",
    "people",
    "invitations",
)
"""The tables of a world; they exist in the PostgreSQL of a shared desk as well."""

CREATIONS: Final = (
    """CREATE TABLE cache (
    "key" TEXT NOT NULL,
    at REAL NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY ("key")
    )
    STRICT""",
    """CREATE TABLE chainruns (
    number INTEGER NOT NULL,
    subject TEXT NOT NULL,
    wallet TEXT NOT NULL,
    opened_at REAL NOT NULL,
    changed_at REAL NOT NULL,
    step TEXT NOT NULL,
    body TEXT NOT NULL,
    nonce INTEGER,
    raw TEXT,
    tx_hash TEXT,
    settled_at REAL,
    PRIMARY KEY (number)
    )
    STRICT""",
    """CREATE INDEX chainruns_by_nonce
    ON chainruns (wallet, nonce)
    WHERE raw IS NOT NULL""",
    """CREATE UNIQUE INDEX chainruns_open
    ON chainruns (subject)
    WHERE settled_at IS NULL""",
    """CREATE TABLE endedfilled (
    one INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (one)
    )
    STRICT""",
    """CREATE TABLE endedmarkets (
    market_id TEXT NOT NULL,
    question TEXT NOT NULL,
    home TEXT NOT NULL,
    outcome INTEGER NOT NULL,
    resolves_at REAL NOT NULL,
    resolved_at REAL NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (market_id)
    )
    STRICT""",
    """CREATE TABLE entries (
    seq INTEGER NOT NULL,
    trade_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    venue TEXT NOT NULL,
    skill TEXT NOT NULL,
    market_id TEXT NOT NULL,
    side TEXT NOT NULL,
    at REAL NOT NULL,
    shares INTEGER NOT NULL,
    money INTEGER NOT NULL,
    open_shares INTEGER NOT NULL,
    back INTEGER NOT NULL,
    signal TEXT,
    PRIMARY KEY (seq)
    )
    STRICT""",
    """CREATE INDEX entries_by_skill
    ON entries (agent_id, skill, venue, at)""",
    """CREATE INDEX entries_by_trade
    ON entries (trade_id)""",
    """CREATE INDEX entries_held
    ON entries (agent_id, market_id, seq)
    WHERE open_shares > 0""",
    """CREATE TABLE entriesread (
    one INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (one)
    )
    STRICT""",
    """CREATE TABLE idempotency (
    agent_id TEXT NOT NULL,
    "key" TEXT NOT NULL,
    path TEXT NOT NULL,
    body_hash TEXT NOT NULL,
    answer TEXT NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY (agent_id, "key")
    )
    STRICT""",
    """CREATE INDEX ix_idempotency_at
    ON idempotency (at)""",
    """CREATE TABLE invitations (
    invitation_id TEXT NOT NULL,
    salt TEXT NOT NULL,
    code_hash TEXT NOT NULL,
    uses INTEGER NOT NULL,
    "plan" TEXT,
    budget INTEGER,
    person TEXT NOT NULL,
    created_at REAL NOT NULL,
    created_by TEXT NOT NULL,
    expires_at REAL NOT NULL,
    ended_at REAL,
    PRIMARY KEY (invitation_id)
    )
    STRICT""",
    """CREATE TABLE journal (
    seq INTEGER NOT NULL,
    at REAL NOT NULL,
    kind TEXT NOT NULL,
    agent_id TEXT,
    market_id TEXT,
    body TEXT NOT NULL,
    venue TEXT,
    PRIMARY KEY (seq)
    )
    STRICT""",
    """CREATE INDEX journal_by_agent
    ON journal (agent_id, seq)
    WHERE agent_id IS NOT NULL""",
    """CREATE INDEX journal_by_kind
    ON journal (agent_id, kind, seq)
    WHERE agent_id IS NOT NULL""",
    """CREATE INDEX journal_by_market
    ON journal (market_id, seq)
    WHERE agent_id IS NOT NULL""",
    """CREATE INDEX journal_by_venue
    ON journal (agent_id, kind, venue, seq)
    WHERE venue IS NOT NULL""",
    """CREATE INDEX journal_of_people
    ON journal (seq)
    WHERE kind = 'acted'""",
    """CREATE INDEX journal_of_the_tape
    ON journal (seq)
    WHERE agent_id IS NULL AND kind IN ('crowd', 'listed', 'resolved')""",
    """CREATE TABLE kepttokens (
    market_id TEXT NOT NULL,
    side TEXT NOT NULL,
    venue TEXT NOT NULL,
    wallet TEXT NOT NULL,
    token TEXT NOT NULL,
    condition_id TEXT NOT NULL,
    neg_risk INTEGER NOT NULL,
    at REAL NOT NULL,
    fee_rate_bps INTEGER,
    bought INTEGER NOT NULL,
    PRIMARY KEY (market_id, side, venue, wallet)
    )
    STRICT""",
    """CREATE TABLE once (
    "key" TEXT NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY ("key")
    )
    STRICT""",
    """CREATE TABLE people (
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    salt TEXT NOT NULL,
    key_hash TEXT NOT NULL,
    created_at REAL NOT NULL,
    created_by TEXT NOT NULL,
    ended_at REAL,
    PRIMARY KEY (name)
    )
    STRICT""",
    """CREATE TABLE preferences (
    "key" TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY ("key")
    )
    STRICT""",
    """CREATE TABLE pricealerts (
    alert_id TEXT NOT NULL,
    market_id TEXT NOT NULL,
    question TEXT NOT NULL,
    side TEXT NOT NULL,
    condition TEXT NOT NULL,
    threshold REAL NOT NULL,
    created_at REAL NOT NULL,
    armed INTEGER NOT NULL,
    triggered_at REAL,
    triggered_price REAL,
    service_id TEXT NOT NULL,
    sent_at REAL,
    removed INTEGER NOT NULL,
    PRIMARY KEY (alert_id)
    )
    STRICT""",
    """CREATE TABLE reactorsignals (
    signal_id TEXT NOT NULL,
    tx_hash TEXT NOT NULL,
    wallet TEXT NOT NULL,
    label TEXT NOT NULL,
    market_id TEXT NOT NULL,
    question TEXT NOT NULL,
    side TEXT NOT NULL,
    venue TEXT NOT NULL,
    size INTEGER NOT NULL,
    price REAL NOT NULL,
    amount INTEGER NOT NULL,
    price_max REAL NOT NULL,
    at REAL NOT NULL,
    expires_at REAL NOT NULL,
    state TEXT NOT NULL,
    words TEXT NOT NULL,
    price_now REAL,
    ticket_id TEXT NOT NULL,
    shares INTEGER NOT NULL,
    cost INTEGER NOT NULL,
    name TEXT NOT NULL,
    sold INTEGER,
    proceeds INTEGER,
    PRIMARY KEY (signal_id)
    )
    STRICT""",
    """CREATE INDEX reactorsignals_by_time
    ON reactorsignals (at, signal_id)""",
    """CREATE TABLE reactorwallets (
    address TEXT NOT NULL,
    label TEXT NOT NULL,
    policy TEXT NOT NULL,
    PRIMARY KEY (address)
    )
    STRICT""",
    """CREATE TABLE snapshots (
    seq INTEGER NOT NULL,
    at REAL NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (seq)
    )
    STRICT""",
    """CREATE TABLE tickets (
    ticket_id TEXT NOT NULL,
    at REAL NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    venue TEXT,
    body TEXT NOT NULL,
    state TEXT NOT NULL,
    sent_at REAL,
    settled_at REAL,
    outcome TEXT,
    amount_micros INTEGER NOT NULL,
    client_ref TEXT,
    PRIMARY KEY (ticket_id)
    )
    STRICT""",
    """CREATE INDEX tickets_by_time
    ON tickets (at, ticket_id)""",
    """CREATE INDEX tickets_unsettled
    ON tickets (at)
    WHERE state IN ('queued', 'sent', 'unknown')""",
    """CREATE TABLE use (
    one INTEGER NOT NULL,
    closed_at REAL,
    PRIMARY KEY (one)
    )
    STRICT""",
)
"""What creates every table and index."""
