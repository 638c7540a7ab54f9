"""Values as text: money, prices, P&L, ages, addresses. The one place that writes numbers.

A Text's style is a name that `theme.py` turns into a colour.
"""

import math
from datetime import UTC, datetime, tzinfo
from typing import Final

from rich.text import Text

from service_tui.desk.slices.orders import price_text
from service_tui.outcome import Outcome
from service_tui.terms import MONEY_OF, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

NOT_KNOWN: Final = "\N{EN DASH}"
"""Text of None: an unknown value is never shown as zero."""

MASK: Final = "•••"
"""Text of an amount or an address in privacy mode."""

TEXT_MAX: Final = 200
"""Characters of a foreign text that are worth showing on one line."""

_PRICE_CELLS: Final = 6
"""Cells of a price with four decimals."""

_MINUTE: Final = 60
_HOUR: Final = 3_600
_DAY: Final = 86_400
_LAST_SECOND: Final = 253_370_764_800
"""The first second of the year 9999: a zone may add hours, and then calendars give up."""

_SUFFIXES: Final = ("", "k", "M", "B", "T")
_THREE_DIGITS: Final = ((9.995, 2), (99.95, 1), (999.5, 0))
"""Decimals that still make three digits, by the value's upper bound."""


def outcome_ink(outcome: Outcome) -> str:
    """The ink of an outcome's word: that of the side that won, else a quiet one."""
    return "muted" if outcome.winner is None else outcome.winner.value


def skill_name(slug: str, *, is_own: bool) -> str:
    """The skill of a trade; an agent's that names none, or the person's own by hand."""
    return plain(slug, 30).plain or ("by hand" if is_own else "no skill named")


def money(amount: Micros | None, *, masked: bool = False) -> Text:
    """An amount with two decimals and thousands apart, without unit: the header has it."""
    return _amount(amount, _grouped(amount or 0), masked=masked)


def money_short(amount: Micros | None, *, masked: bool = False) -> Text:
    """An amount in at most six cells: three digits and a suffix, `12.3k`."""
    return _amount(amount, _short(amount or 0), masked=masked)


def shares(amount: Micros | None, *, masked: bool = False) -> Text:
    """Shares with two decimals; less than half a hundredth is shown as dust, not as zero."""
    written = _grouped(amount or 0)
    dust = bool(amount) and written == "0.00"
    return _amount(amount, "<0.01" if dust else written, masked=masked)


def pnl(
    amount: Micros | None, *, masked: bool = False, short: bool = False, arrow: bool = False
) -> Text:
    """Profit or loss, always signed; `arrow` puts ▲ or ▼ before it.

    Args:
        amount: micros, signed; None if not known.
        masked: hide the amount, and the colour with it.
        short: three digits and a suffix instead of two decimals.
        arrow: for places outside of tables, such as the header.

    Returns:
        Text in the style profit, loss or flat; muted if unknown or hidden.
    """
    if amount is None or masked:
        return _amount(amount, "", masked=masked)
    written = _short(abs(amount)) if short else _grouped(abs(amount))
    return _signed(int(amount), written, arrow=arrow)


def price(value: float | None, *, aligned: bool = False) -> Text:
    """A probability with three decimals, four near its ends (below 0.01, above 0.99).

    Args:
        value: 0 to 1; None if not known.
        aligned: pad the shorter form with a space, so that the points of a column are aligned.

    Returns:
        Five or six cells.
    """
    if value is None or not math.isfinite(value):
        return _unknown()
    text = price_text(value)
    return Text(text.ljust(_PRICE_CELLS) if aligned else text, no_wrap=True)


def side(held: Side) -> Text:
    """A side, in its colour."""
    return Text(held.value.upper(), held.value)


def points(change: float | None) -> Text:
    """A change of a price in probability points (hundredths), one decimal, signed."""
    return _change(change, "")


def percent_change(fraction: float | None) -> Text:
    """A change as a fraction (0.2), shown as `+20.0%`."""
    return _change(fraction, "%")


def percent(fraction: float | None, decimals: int = 1) -> Text:
    """A fraction as a percentage; unsigned unless negative."""
    if fraction is None or not math.isfinite(fraction * 100):
        return _unknown()
    return Text(f"{fraction:.{decimals}%}", no_wrap=True)


def count(number: int | None) -> Text:
    """A count, thousands apart."""
    return _unknown() if number is None else Text(f"{number:,}", no_wrap=True)


def age(since: Timestamp | None, now: Timestamp) -> Text:
    """Age in its largest unit: `3s`, `4m`, `2h`, `5d`."""
    if since is None or not math.isfinite(now - since):
        return _unknown()
    return Text(_largest_unit(max(0.0, now - since)), no_wrap=True)


def freshness(age_s: float | None, period_s: float) -> Text:
    """The age of a datum against its polling period, both in seconds.

    Returns:
        Empty while younger than its period; then its age; after two periods the word STALE as
        well; after five dimmed, because it is too old to trade on. Source: ux, "Looks".
    """
    if age_s is None or not math.isfinite(age_s):
        return Text("not loaded yet", "muted")
    if age_s <= period_s:
        return Text()
    written = _largest_unit(age_s)
    if age_s <= 2 * period_s:
        return Text(written, "muted")
    return Text(f"STALE {written}", "stale" if age_s <= 5 * period_s else "muted")


def until(at: Timestamp | None, now: Timestamp) -> Text:
    """Time from now, in two units: `in 4m 10s`; `due` once it is past."""
    if at is None or not math.isfinite(at - now):
        return _unknown()
    return Text(f"in {duration(at - now)}" if at > now else "due", no_wrap=True)


def unit(venue: Venue) -> str:
    """The currency of a venue behind an amount or a label; a short sign for play money."""
    return "$" if venue is Venue.SIM else MONEY_OF[venue]


def duration(seconds: float) -> str:
    """A length of time in its two largest units, rounded down: `4m 10s`, `3d 4h`."""
    if not math.isfinite(seconds):
        return NOT_KNOWN
    whole = max(0, int(seconds))
    if whole < _MINUTE:
        return f"{whole}s"
    if whole < _HOUR:
        return f"{whole // _MINUTE}m {whole % _MINUTE:02d}s"
    if whole < _DAY:
        return f"{whole // _HOUR}h {whole % _HOUR // _MINUTE:02d}m"
    return f"{whole // _DAY}d {whole % _DAY // _HOUR:02d}h"


def duration_short(seconds: float) -> str:
    """A length of time in its two largest units and at most six cells: `4m10s`, `13d04h`."""
    return duration(seconds).replace(" ", "")


def clock_time(at: Timestamp | None, zone: tzinfo | None = None) -> Text:
    """The time of day, `14:05:09`. `zone` None is the machine's own."""
    return Text(_written(at, "%H:%M:%S", zone), no_wrap=True)


def date_time(at: Timestamp | None, zone: tzinfo | None = None) -> Text:
    """Day and time of day, `21 Nov 14:05`."""
    return Text(_written(at, "%d %b %H:%M", zone), no_wrap=True)


def date_time_s(at: Timestamp | None, zone: tzinfo | None = None) -> str:
    """Day and time to the second, `21 Nov 14:05:09`."""
    return _written(at, "%d %b %H:%M:%S", zone)


def day(at: Timestamp) -> str:
    """A day in UTC, `2024-06-03`: of a history, whose days are those of its sources."""
    return _written(at, "%Y-%m-%d", UTC)


def moment_of(at: Timestamp | None, now: Timestamp, zone: tzinfo | None = None) -> Text:
    """A time to the second, `14:05:09`; with its day if that is not today's."""
    today = _written(now, "%d %b %Y", zone) == _written(at, "%d %b %Y", zone)
    return Text(_written(at, "%H:%M:%S" if today else "%d %b %H:%M:%S", zone), no_wrap=True)


def moment(at: Timestamp, span_s: float, zone: tzinfo | None = None) -> str:
    """A time with the precision of a chart over `span_s` seconds; for axes and readings."""
    if span_s <= 10 * _MINUTE:
        return _written(at, "%H:%M:%S", zone)
    if span_s <= _DAY:
        return _written(at, "%H:%M", zone)
    return _written(at, "%d %b %H:%M" if span_s <= 7 * _DAY else "%d %b", zone)


def address(text: str | None, *, masked: bool = False) -> Text:
    """A wallet or a hash by its ends: `0x1234…abcd`."""
    if text is None or masked:
        return Text(MASK if masked else NOT_KNOWN, "muted", no_wrap=True)
    line = _one_line(text)
    return Text(line if len(line) <= len("0x1234…abcd") else f"{line[:6]}…{line[-4:]}")


def plain(text: str | None, limit: int = TEXT_MAX) -> Text:
    """Text from outside, never read as markup: one line of at most `limit` characters."""
    if text is None:
        return _unknown()
    # A foreign text may be long: characters beyond the limit are not worth cleaning.
    line = _one_line(text[: 4 * limit])
    return Text(line if len(line) <= limit else line[: limit - 1].rstrip() + "…")


def _amount(amount: Micros | None, written: str, *, masked: bool) -> Text:
    if masked:
        return Text(MASK, "muted", no_wrap=True)
    return _unknown() if amount is None else Text(written, no_wrap=True)


def _unknown() -> Text:
    return Text(NOT_KNOWN, "muted", no_wrap=True)


def _change(fraction: float | None, unit: str) -> Text:
    if fraction is None or not math.isfinite(fraction * 100):
        return _unknown()
    return _signed(fraction, f"{abs(fraction) * 100:.1f}{unit}", arrow=False)


def _signed(value: float, written: str, *, arrow: bool) -> Text:
    # A change that rounds to zero has no sign: "+0.00" would state a profit.
    if not any(digit in written for digit in "123456789"):
        return Text(written, "flat", no_wrap=True)
    if value > 0:
        return Text(f"▲ +{written}" if arrow else f"+{written}", "profit", no_wrap=True)
    return Text(f"▼ -{written}" if arrow else f"-{written}", "loss", no_wrap=True)


def _grouped(amount: Micros | int) -> str:
    # In whole hundredths from the start: a double would lose cents of large amounts.
    hundredth = ONE // 100
    cents = (abs(amount) + hundredth // 2) // hundredth
    sign = "-" if amount < 0 < cents else ""
    return f"{sign}{cents // 100:,}.{cents % 100:02d}"


def _short(amount: Micros | int) -> str:
    value, sign = abs(amount) / ONE, "-" if amount < 0 else ""
    for suffix in _SUFFIXES:
        for below, decimals in _THREE_DIGITS:
            if value < below:
                written = f"{value:.{decimals}f}{suffix}"
                return written if written == "0.00" else sign + written
        value /= 1_000
    return f"{sign}{value * 1_000:.3g}{_SUFFIXES[-1]}"


def _largest_unit(seconds: float) -> str:
    for length, unit in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "m")):
        if seconds >= length:
            return f"{int(seconds // length)}{unit}"
    return f"{int(seconds)}s"


def _written(at: Timestamp | None, pattern: str, zone: tzinfo | None) -> str:
    if at is None or not (0 <= at <= _LAST_SECOND):
        return NOT_KNOWN
    return datetime.fromtimestamp(at, tz=UTC).astimezone(zone).strftime(pattern)


def _one_line(text: str) -> str:
    if not text.isprintable():
        text = "".join(letter if letter.isprintable() else " " for letter in text)
    return " ".join(text.split())
