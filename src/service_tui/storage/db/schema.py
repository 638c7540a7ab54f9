"""The database schema of this program, and migrations from older ones."""

import os
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from service_tui.storage.db.declared import CREATIONS


@dataclass(frozen=True, slots=True)
class Schema:
    """A version of the tables; `steps[n]` are the statements that upgrade version n to n + 1."""

    version: int
    steps: Mapping[int, tuple[str, ...]] = field(default_factory=dict[int, tuple[str, ...]])


SCHEMA: Final = Schema(
    version=13,
    steps={
        1: (
            "DROP INDEX journal_of_the_crowd",
            """CREATE INDEX journal_of_the_tape ON journal (seq)
            WHERE agent_id IS NULL AND kind IN ('crowd', 'listed', 'resolved')""",
        ),
        2: (
            """CREATE TABLE pricealerts (
            alert_id TEXT NOT NULL, market_id TEXT NOT NULL, question TEXT NOT NULL,
            side TEXT NOT NULL, condition TEXT NOT NULL, threshold REAL NOT NULL,
            created_at REAL NOT NULL, armed INTEGER NOT NULL, triggered_at REAL,
            triggered_price REAL, PRIMARY KEY (alert_id) ) STRICT""",
        ),
        3: (
            """CREATE TABLE reactorsignals (
            signal_id TEXT NOT NULL, tx_hash TEXT NOT NULL, wallet TEXT NOT NULL,
            label TEXT NOT NULL, market_id TEXT NOT NULL, question TEXT NOT NULL,
            side TEXT NOT NULL, venue TEXT NOT NULL, size INTEGER NOT NULL, price REAL NOT NULL,
            amount INTEGER NOT NULL, price_max REAL NOT NULL, at REAL NOT NULL,
            expires_at REAL NOT NULL, state TEXT NOT NULL, words TEXT NOT NULL, price_now REAL,
            ticket_id TEXT NOT NULL, shares INTEGER NOT NULL, cost INTEGER NOT NULL,
            name TEXT NOT NULL, PRIMARY KEY (signal_id) ) STRICT""",
            "CREATE INDEX reactorsignals_by_time ON reactorsignals (at, signal_id)",
            """CREATE TABLE reactorwallets (
            address TEXT NOT NULL, label TEXT NOT NULL, policy TEXT NOT NULL,
            PRIMARY KEY (address) ) STRICT""",
        ),
        4: (
            """CREATE TABLE chainruns (
            number INTEGER NOT NULL, subject TEXT NOT NULL, wallet TEXT NOT NULL,
            opened_at REAL NOT NULL, changed_at REAL NOT NULL, step TEXT NOT NULL,
            body TEXT NOT NULL, nonce INTEGER, raw TEXT, tx_hash TEXT, settled_at REAL,
            PRIMARY KEY (number) ) STRICT""",
            """CREATE UNIQUE INDEX chainruns_open ON chainruns (subject)
            WHERE settled_at IS NULL""",
            """CREATE INDEX chainruns_by_nonce ON chainruns (wallet, nonce)
            WHERE raw IS NOT NULL""",
        ),
        5: (
            """CREATE TABLE entries (
            seq INTEGER NOT NULL, trade_id TEXT NOT NULL, agent_id TEXT NOT NULL,
            venue TEXT NOT NULL, skill TEXT NOT NULL, market_id TEXT NOT NULL, side TEXT NOT NULL,
            at REAL NOT NULL, shares INTEGER NOT NULL, money INTEGER NOT NULL,
            open_shares INTEGER NOT NULL, back INTEGER NOT NULL, signal TEXT,
            PRIMARY KEY (seq) ) STRICT""",
            "CREATE INDEX entries_by_skill ON entries (agent_id, skill, venue, at)",
            "CREATE INDEX entries_by_trade ON entries (trade_id)",
            """CREATE INDEX entries_held ON entries (agent_id, market_id, seq)
            WHERE open_shares > 0""",
            """CREATE TABLE entriesread (
            one INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (one) ) STRICT""",
        ),
        6: (
            """CREATE TABLE endedmarkets (
            market_id TEXT NOT NULL, question TEXT NOT NULL, home TEXT NOT NULL,
            outcome INTEGER NOT NULL, resolves_at REAL NOT NULL, resolved_at REAL NOT NULL,
            body TEXT NOT NULL, PRIMARY KEY (market_id) ) STRICT""",
        ),
        7: (
            """CREATE INDEX journal_by_kind ON journal (agent_id, kind, seq)
            WHERE agent_id IS NOT NULL""",
            """CREATE TABLE endedfilled (
            one INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (one) ) STRICT""",
        ),
        8: (
            "ALTER TABLE journal ADD COLUMN venue TEXT",
            """UPDATE journal SET venue = json_extract(body, '$[3]')
            WHERE agent_id IS NOT NULL AND kind IN ('settled', 'sold_out') AND json_valid(body)""",
            "UPDATE journal SET venue = 'sim' WHERE agent_id IS NOT NULL AND kind = 'payout'",
            """CREATE INDEX journal_by_venue ON journal (agent_id, kind, venue, seq)
            WHERE venue IS NOT NULL""",
        ),
        9: (
            """CREATE TABLE people (
            name TEXT NOT NULL, role TEXT NOT NULL, salt TEXT NOT NULL, key_hash TEXT NOT NULL,
            created_at REAL NOT NULL, created_by TEXT NOT NULL, ended_at REAL,
            PRIMARY KEY (name) ) STRICT""",
            """CREATE TABLE invitations (
            invitation_id TEXT NOT NULL, salt TEXT NOT NULL, code_hash TEXT NOT NULL,
            uses INTEGER NOT NULL, "plan" TEXT, budget INTEGER, person TEXT NOT NULL,
            created_at REAL NOT NULL, created_by TEXT NOT NULL, expires_at REAL NOT NULL,
            ended_at REAL, PRIMARY KEY (invitation_id) ) STRICT""",
            "CREATE INDEX journal_of_people ON journal (seq) WHERE kind = 'acted'",
        ),
        # Made anew, as columns that are added stand behind the key, where a new table has none.
        10: (
            "DROP INDEX reactorsignals_by_time",
            "ALTER TABLE reactorsignals RENAME TO earliersignals",
            """CREATE TABLE reactorsignals (
            signal_id TEXT NOT NULL, tx_hash TEXT NOT NULL, wallet TEXT NOT NULL,
            label TEXT NOT NULL, market_id TEXT NOT NULL, question TEXT NOT NULL,
            side TEXT NOT NULL, venue TEXT NOT NULL, size INTEGER NOT NULL, price REAL NOT NULL,
            amount INTEGER NOT NULL, price_max REAL NOT NULL, at REAL NOT NULL,
            expires_at REAL NOT NULL, state TEXT NOT NULL, words TEXT NOT NULL, price_now REAL,
            ticket_id TEXT NOT NULL, shares INTEGER NOT NULL, cost INTEGER NOT NULL,
            name TEXT NOT NULL, sold INTEGER, proceeds INTEGER, PRIMARY KEY (signal_id) ) STRICT""",
            """INSERT INTO reactorsignals (
            signal_id, tx_hash, wallet, label, market_id, question, side, venue, size, price,
            amount, price_max, at, expires_at, state, words, price_now, ticket_id, shares, cost,
            name )
            SELECT signal_id, tx_hash, wallet, label, market_id, question, side, venue, size,
            price, amount, price_max, at, expires_at, state, words, price_now, ticket_id, shares,
            cost, name FROM earliersignals""",
            "DROP TABLE earliersignals",
            "CREATE INDEX reactorsignals_by_time ON reactorsignals (at, signal_id)",
        ),
        11: (
            """CREATE TABLE kepttokens (
            market_id TEXT NOT NULL, side TEXT NOT NULL, venue TEXT NOT NULL,
            wallet TEXT NOT NULL, token TEXT NOT NULL, condition_id TEXT NOT NULL,
            neg_risk INTEGER NOT NULL, at REAL NOT NULL, fee_rate_bps INTEGER,
            bought INTEGER NOT NULL,
            PRIMARY KEY (market_id, side, venue, wallet) ) STRICT""",
        ),
        12: (
            "ALTER TABLE pricealerts RENAME TO earlieralerts",
            """CREATE TABLE pricealerts (
            alert_id TEXT NOT NULL, market_id TEXT NOT NULL, question TEXT NOT NULL,
            side TEXT NOT NULL, condition TEXT NOT NULL, threshold REAL NOT NULL,
            created_at REAL NOT NULL, armed INTEGER NOT NULL, triggered_at REAL,
            triggered_price REAL, service_id TEXT NOT NULL, sent_at REAL,
            removed INTEGER NOT NULL, PRIMARY KEY (alert_id) ) STRICT""",
            """INSERT INTO pricealerts
            SELECT alert_id, market_id, question, side, condition, threshold, created_at, armed,
            triggered_at, triggered_price, '', NULL, 0 FROM earlieralerts""",
            "DROP TABLE earlieralerts",
        ),
    },
)
"""Version 2 forgets comings and goings of markets as well as the crowd's rows.
Version 3 has price alerts.
Version 4 has the signals of the reactor, and what was chosen for wallets.
Version 5 has what goes to a chain, step by step.
Version 6 has a digest of what agents bought.
Version 7 has markets that ended.
Version 8 finds an agent's rows by kind, and knows whether its ended markets are filled in.
Version 9 finds how positions ended by venue.
Version 10 has people, invitations, and finds who changed what.
Version 11 follows the sales of what mirrors bought.
Version 12 keeps the outcome tokens of positions.
Version 13 knows which price alerts the service keeps."""


def create(path: Path, *, version: int) -> None:
    """Create an empty database at `path`, readable by its owner only, atomically.

    It is built under another name, so that an empty file at `path` always means damage.
    """
    unfinished = path.with_name(f"{path.name}.new")
    unfinished.unlink(missing_ok=True)
    os.close(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    connection = sqlite3.connect(unfinished, isolation_level=None)
    try:
        connection.execute("BEGIN IMMEDIATE")
        for each in CREATIONS:
            connection.execute(each)
        connection.execute(f"PRAGMA user_version={version:d}")
        connection.execute("COMMIT")
    finally:
        connection.close()
    unfinished.rename(path)
    sync_directory(path.parent)


def migrate(connection: sqlite3.Connection, *, found: int, schema: Schema) -> None:
    """Upgrade a database from version `found` to the schema's, in one transaction."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        for version in range(found, schema.version):
            for step in schema.steps[version]:
                connection.execute(step)
        connection.execute(f"PRAGMA user_version={schema.version:d}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def sync_directory(directory: Path) -> None:
    """Flush the names in a directory to disk."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
