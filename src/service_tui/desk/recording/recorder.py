"""Decides when a state is recorded, and writes it: whole once an hour, else its difference.

Every record costs bytes, and the bytes of a day are bounded: they come in evenly, a few are saved
up for a busy hour, and the last of them are kept for what matters most. A halt is always recorded.
"""

import json
import zlib
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from typing import Final, NamedTuple

from service_tui.desk.cached_state import MARKETS_MAX
from service_tui.desk.checked_records import Tree, TreeError, tree_of
from service_tui.desk.recording.differences import difference
from service_tui.desk.slices.agents import AgentDetailView
from service_tui.desk.state import DeskState
from service_tui.storage.recordings import RecordRow
from service_tui.units import Timestamp

EVERY_S: Final = 10.0
"""ours: prices older than this are not traded on, so that nobody misses what lies between."""

AFTER_EVENT_S: Final = 2.0
"""ours: what follows an event within this time is shown with it."""

WHOLE_EVERY_S: Final = 3_600.0
CHAIN_MAX: Final = 500
"""Differences after a whole state: so many are read back within half a second."""

DAY_BYTES: Final = 4_300_000
SAVED_MAX: Final = 400_000
"""ours: bytes that come in over a day, and most that are saved up: below 5 MB a day with up to
`MARKETS_OF_A_DAY` markets; with more of them proportionally more, as each one moves."""

MARKETS_OF_A_DAY: Final = 100
SCALE_MAX: Final = MARKETS_MAX / MARKETS_OF_A_DAY
"""More markets than `MARKETS_MAX` are not recorded."""

FOR_EVENTS: Final = 0.4 * SAVED_MAX
FOR_URGENT: Final = 0.1 * SAVED_MAX
"""ours: what is saved up for events, and the last of it for orders and the connection: with no more
than that left, time alone is not recorded, nor any other event."""

ROW_BYTES: Final = 600
"""What a row costs in the file beside its body: half a page, and its places in the indexes."""

WHOLE_SHARE: Final = 0.2
"""Most of the bytes that whole states may take: a desk of many markets writes them more seldom."""

ROWS_MAX: Final = 1_000
POINTS_MAX: Final = 2_000
"""ours: rows of a list, and points of a curve that are recorded at most."""

DICTIONARY_BYTES: Final = 32_768
"""zlib looks back so far."""

_DAY_S: Final = 86_400.0


class Wholes(NamedTuple):
    """When a state is written whole again: after so long, and after so many differences.

    `markets` is how many of them a day's bytes are for.
    """

    every_s: float = WHOLE_EVERY_S
    differences: int = CHAIN_MAX
    markets: float = MARKETS_OF_A_DAY


_USUAL: Final = Wholes()


class Recorder:
    """Writes records of the states that it is shown.

    Args:
        last_at: time of the last record of an earlier run, if there is one.
        wholes: when a state is written whole.
    """

    def __init__(self, last_at: Timestamp | None = None, wholes: Wholes = _USUAL) -> None:
        self._wholes = wholes
        self._last_at = last_at
        self._state: DeskState | None = None
        self._tree: Tree = None
        self._text = b""
        self._whole_at = Timestamp(0.0)
        self._whole_bytes = 0
        self._chain = 0
        self._scale = 1.0
        self._left = float(SAVED_MAX)
        self._filled_at: Timestamp | None = None

    def is_due(self, state: DeskState, now: Timestamp) -> bool:
        """Whether a state is recorded now; quick enough for each newer state."""
        if self._state is None or self._last_at is None:
            return True
        self._fill(state, now)
        if state is self._state:
            return False
        waited = now - self._last_at
        # A clock that was set back must not stop the recording.
        if 0 <= waited < AFTER_EVENT_S:
            return False
        event = event_between(self._state, state)
        if event:
            needed = 0.0 if event in _URGENT else self._scale * FOR_URGENT
            return event == HALT or self._left > needed
        return self._left > self._scale * FOR_EVENTS and (waited < 0 or waited >= EVERY_S)

    def record(self, state: DeskState, now: Timestamp) -> RecordRow | None:
        """The record of a state, to be kept; takes some milliseconds, and any thread may do it.

        `kept` or `forget` follows.

        Returns:
            None for a state that differs in nothing, or that no record can hold.
        """
        try:
            tree = tree_of(recorded(state))
            event = "" if self._state is None else event_between(self._state, state)
            record = self._written(tree, now, event)
        except (TreeError, ValueError, OverflowError, RecursionError):
            # A number that is none. The next state is compared with the last one that was written.
            return None
        self._state = state
        return record

    def kept(self, row: RecordRow) -> None:
        """The last record was kept, and cost its bytes."""
        self._left -= len(row.body) + ROW_BYTES

    def forget(self) -> None:
        """The last record was not kept: the next one is whole."""
        self._state, self._tree = None, None

    def _written(self, tree: Tree, now: Timestamp, event: str) -> RecordRow | None:
        last = now - 1.0 if self._last_at is None else self._last_at
        # A little earlier than the last one: the order stays. Much earlier: a sequence of its own,
        # with the times that the clock gives now.
        is_set_back = now < last - AFTER_EVENT_S
        at = now if now > last or is_set_back else last + 0.001
        if is_set_back or self._is_whole_due(at):
            text, is_whole = _text(tree), True
            body = zlib.compress(text, 9)
            self._whole_at, self._whole_bytes, self._chain = at, len(body), 0
        else:
            change = difference(self._tree, tree)
            if change is None:
                return None
            text, is_whole = _text(change), False
            body = packed(text, self._text)
            self._chain += 1
        self._tree, self._text, self._last_at = tree, text, Timestamp(at)
        return RecordRow(at, is_whole, event, body)

    def _is_whole_due(self, at: float) -> bool:
        if self._tree is None:
            return True
        waited = at - self._whole_at
        affordable_s = self._whole_bytes / (WHOLE_SHARE * self._scale * DAY_BYTES / _DAY_S)
        is_time = waited >= self._wholes.every_s or self._chain >= self._wholes.differences
        return is_time and waited >= affordable_s

    def _fill(self, state: DeskState, now: Timestamp) -> None:
        self._scale = min(SCALE_MAX, max(1.0, len(state.markets) / self._wholes.markets))
        since = now if self._filled_at is None else self._filled_at
        self._filled_at = now
        earned = max(0.0, now - since) * self._scale * DAY_BYTES / _DAY_S
        self._left = min(self._scale * SAVED_MAX, self._left + earned)


def packed(text: bytes, before: bytes) -> bytes:
    """A text compressed by what the one before has in common with it: names, and most figures."""
    packer = zlib.compressobj(9, zdict=before[-DICTIONARY_BYTES:])
    return packer.compress(text) + packer.flush()


def _text(tree: Tree) -> bytes:
    return json.dumps(tree, separators=(",", ":"), allow_nan=False).encode()


def recorded(state: DeskState) -> DeskState:
    """The part of a state that is recorded: no secret, and lists of a bounded length.

    Of many markets those with a position, a star or the most volume; of every list the newest rows.
    """
    markets = state.markets
    if len(markets) > MARKETS_MAX:
        held = {held.market_id for held in (*state.positions, *state.on_venues)} | state.stars
        if state.detail is not None:
            held |= {state.detail.market_id}
        ranked = sorted(
            markets.values(), key=lambda one: (one.market_id not in held, -(one.volume or 0))
        )
        kept = {market.market_id for market in islice(ranked, MARKETS_MAX)}
        markets = {name: market for name, market in markets.items() if name in kept}
    return replace(
        state,
        markets=markets,
        # A secret is shown once, by the program that received it.
        revealed=None,
        # What a skill prints may hold a key; the whole past of every agent is large, and asked for.
        supervision=replace(
            state.supervision,
            tail=None,
            pasts=(),
            pasts_at=None,
            detail=_short_detail(state.supervision.detail),
        ),
        # Reports of evaluations are files that stay; a replay looks at what was then.
        research=replace(state.research, evaluations=None),
        log=replace(state.log, entries=state.log.entries[:ROWS_MAX]),
        trades=state.trades[:ROWS_MAX],
        closed=state.closed[:ROWS_MAX],
        equity=state.equity[-POINTS_MAX:],
    )


def _short_detail(detail: AgentDetailView | None) -> AgentDetailView | None:
    if detail is None:
        return None
    return replace(detail, trades=detail.trades[:ROWS_MAX], points=detail.points[-POINTS_MAX:])


def event_between(before: DeskState, after: DeskState) -> str:
    """What happened between two states, the gravest first; empty where only figures moved."""
    for event, part in _EVENTS:
        if part(before) != part(after):
            return event
    return ""


def _orders(state: DeskState) -> object:
    return tuple((ticket.ticket_id, ticket.state) for ticket in state.tickets)


HALT: Final = "halt"
_URGENT: Final = frozenset({"connection", "order"})

_EVENTS: Final[tuple[tuple[str, Callable[[DeskState], object]], ...]] = (
    (HALT, lambda state: state.halt is None),
    ("connection", lambda state: state.service.phase),
    ("order", _orders),
    ("fill", lambda state: (state.fills[:1], len(state.closed))),
    ("approval", lambda state: {trade.pending_id for trade in state.supervision.pending_trades}),
    ("notice", lambda state: state.notices[-1:]),
)
"""Events, the gravest first, and the part of the state by which each is known."""

EVENTS: Final = frozenset(event for event, _ in _EVENTS)
"""What a record may name as its event."""
