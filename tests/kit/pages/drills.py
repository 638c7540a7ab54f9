"""The page of the drills: how to play, what comes with the program, how to write one."""

from collections.abc import Iterable, Sequence
from typing import Final

from kit.pages.table import code, table
from service_tui.drills.kinds import (
    ADVICE,
    AGENT,
    EVERY_ROW,
    FOLLOWED,
    KINDS,
    MARKET,
    POSITION,
    SCORE,
    TOP,
)
from service_tui.drills.scenario import DID
from service_tui.drills.shipped import shipped_scenarios
from service_tui.drills.values import CLOCK, Required, RowField, clock_text

HEAD: Final = """# Drills

Made from the table of row kinds by `make docs`. A drill is a bad day in ten minutes, on a world of
its own: play money, no network, no key, no other data directory.

```
service-tui drill                       the drills, and below each your last results
service-tui drill flash-crash           play one
service-tui drill path/to/mine.toml     play one of your own; the file may lie anywhere
service-tui drill --check mine.toml     read it, and measure its courses and doing nothing
service-tui drill --list --json         drills and results for programs
service-tui drill --export RUN FILE     a result as JSON (FILE ends in .json) or as text
```

In a console the palette (`ctrl+p`, "drill") and `:drill NAME` end the console, play the drill in
its place, and open the console again afterwards.

A page shows the brief; `enter` starts the clock, `esc` leaves the page first, and the clock stands
still: `:drill` shows the brief again, with `enter` to start. Every key works as usual, only the
world's speed is fixed. The head shows the time. `:drill end` stops early, without a score. At the
end a page shows the score, what happened, what you did and when, the best listed course, and
advice. To play again, leave with `q` and give the same command.

**Score.** The scenario names a figure: equity or cash, yours or of all accounts, in one currency.
The best and the worst course that the scenario lists are played in the same world without you, so
that their figures are measured. The best is 100, the worst 0 (without one: doing nothing); your
own figure lies between, and never outside. *Cost* is the best figure less yours; below zero you
found a better course than the listed one. Equity is cash and open positions, each share at the
price of now, without what selling them would cost; on the chain also money in open orders and
payouts that wait.

Results lie in the data directory in `drills/results`: `RUN.json` (money in millionths) and
`RUN.txt`. The world of a run is removed at its end.

## The drills

"""

WRITING: Final = """
## Write your own

A scenario is one TOML file. Broken ones get the line and the reason for each problem. The smallest:

```toml
title = "A small slide"
brief = "You hold one position. Keep the value of the account."
minutes = 2

[[market]]
name = "dam"
question = "Will the dam be certified?"
price = 0.6

[[position]]
market = "dam"
money = 300

[[event]]
at = "0:30"
kind = "price"
market = "dam"
to = 0.4
over = "0:20"

[[best]]
at = "0:10"
do = "sell"
market = "dam"

[[advice]]
never = "sell"
say = "Sell before the slide."
```

Rows refer to markets and agents by their `name`. Of one second, what the world does comes first,
then what agents and persons do; your own orders come when you send them. The world has the markets
of the file and no others; their prices change by the rows and by trades alone.

- *Minutes* and every time of a row are real ones, from `enter` on. `speed` moves the tape alone,
  by which markets close.
- You and each agent start with 10,000 $SIM, and on the chain with 1,000 USDC.e.
- The positions of the start are bought with that cash in the order of their rows, and each moves
  its price like any buy: the average is above `price`. Then every price returns to `price`, so
  that a drill begins with a small loss. On a market with `venue = "polymarket"` a position is had
  at `price`.
- After a refusal the service refuses the same trade of the agent (market, side, action and skill,
  at any size) by itself for an hour, which is longer than any drill.
- `--check` prints what the best course, the worst one and doing nothing come to. It names each row
  of `[[best]]` and `[[worst]]` that had no effect, with its line and the reason: a stop without a
  position, a refusal with nothing waiting.

"""

COURSES: Final = """
### `[[best]]` and `[[worst]]`: courses

What a person could do, as rows with `at`, `do` and the fields of the kind. They are played after
the events of the same second. `[[best]]` is needed. Kinds that a course may have: {kinds}.

### `[[event]]`: what happens

"""


def page() -> str:
    """The whole page."""
    shipped = (
        (code(one.name), one.title, f"{one.minutes}", one.brief) for one in shipped_scenarios()
    )
    parts = [
        HEAD,
        table(("Name", "Title", "Minutes", "Brief"), shipped),
        WRITING,
        *_tables(),
        COURSES.format(kinds=_codes(name for name, kind in KINDS.items() if kind.is_course)),
        "Every event has these fields, and `kind`:\n\n",
        _fields(EVERY_ROW),
        *_kinds(),
        "\nWords for `never` and `did` in advice: ",
        f"{_codes(DID)}.\n",
    ]
    return "".join(parts)


def _tables() -> Iterable[str]:
    for title, fields in (
        ("The top of the file", TOP),
        ("`[[market]]`", MARKET),
        ("`[[agent]]`", AGENT),
        ("`[[position]]`: held at the start", POSITION),
        ("`[[follow]]`: wallets that your reactor follows", FOLLOWED),
        ("`[score]`: what is measured", SCORE),
        ("`[[advice]]`: shown at the end", ADVICE),
    ):
        yield f"### {title}\n\n{_fields(fields)}\n"


def _kinds() -> Iterable[str]:
    for name, kind in KINDS.items():
        yield f"\n#### {code(name)}\n\n{kind.about}\n"
        if kind.fields:
            yield f"\n{_fields(kind.fields)}"


def _fields(fields: Sequence[RowField]) -> str:
    rows = ((code(one.name), one.type.word, _default(one), one.about) for one in fields)
    return table(("Key", "Value", "Default", "Meaning"), rows)


def _default(one: RowField) -> str:
    if isinstance(one.default, Required):
        return "needed"
    if one.default is None:
        return ""
    if one.type is CLOCK:
        return f'"{clock_text(float(one.default))}"'
    if isinstance(one.default, bool):
        return "true" if one.default else "false"
    return f"{one.default:g}" if isinstance(one.default, float) else str(one.default)


def _codes(names: Iterable[str]) -> str:
    return ", ".join(code(name) for name in names)
