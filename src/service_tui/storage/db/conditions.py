"""Which rows of a table are meant, as SQL: conditions of partial indexes, and of queries on them.

A query uses a partial index only where its condition is that of the index, word by word.
"""

from typing import Final

OF_AGENTS: Final = "agent_id IS NOT NULL"
"""Rows of the journal that concern an agent."""

OF_A_VENUE: Final = "venue IS NOT NULL"
"""Rows of the journal with which a side of a position ended."""

OF_THE_TAPE: Final = "agent_id IS NULL AND kind IN ('crowd', 'listed', 'resolved')"
"""Rows that may be deleted once two snapshots include them: trades of the crowd, and markets listed
and resolved. Payouts to agents have rows of their own."""

OF_PEOPLE: Final = "kind = 'acted'"
"""Rows that name the person behind a change: the audit log of the service."""

UNSETTLED: Final = "state IN ('queued', 'sent', 'unknown')"
"""Tickets whose outcome is not known; they are looked up at a start."""

OPEN_RUN: Final = "settled_at IS NULL"
"""Runs on a chain that have no end yet."""

SIGNED_RUN: Final = "raw IS NOT NULL"
"""Runs whose transaction was signed: their nonce is taken."""

STILL_HELD: Final = "open_shares > 0"
"""Trade lots with open shares."""

MAY_HAVE_SPENT: Final = "state NOT IN ('refused', 'failed')"
"""Tickets whose amount counts against a budget."""

DAMAGE_MET: Final = 0.0
"""The time at which a use ended, after damage was found: the next start checks every page."""
