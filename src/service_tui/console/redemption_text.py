"""What is told about redemptions: the line of sums, and one of them step by step."""

import textwrap
from collections.abc import Sequence
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.figures import section
from service_tui.console.freshness import is_heard, is_private, of_wall
from service_tui.console.keys import cap
from service_tui.console.redemption_words import stage_text
from service_tui.console.widgets.line_fit import Bit
from service_tui.desk.slices.records import Phase, Topic
from service_tui.desk.slices.redemption import (
    CallView,
    ChainRunState,
    RedemptionRow,
    RunView,
    Stage,
    Step,
)
from service_tui.desk.slices.wallet import KeyState, Ownership, WalletView
from service_tui.desk.state import DeskState
from service_tui.units import Micros, Timestamp, decimal

_LABEL: Final = 12
_STEP: Final = 12
_NARROWEST: Final = 24
"""Cells of labels and of a step's word; what a value gets at least before it is broken."""

_BAD: Final = frozenset({ChainRunState.FAILED, ChainRunState.REFUSED})

_DOING: Final = {
    Step.ASKED: "asking",
    Step.CHECKED: "checking",
    Step.SIGNED: "signing",
    Step.BROADCAST: "sending",
    Step.CONFIRMED: "confirming",
    Step.REPORTED: "reporting",
}
_SERVED: Final = (Step.ASKED, Step.CONFIRMED, Step.REPORTED)
"""Steps of a wallet that the service signs for."""


def sums_bits(state: DeskState) -> tuple[Bit, ...]:
    """All redemptions in one line: what can be had, what waits, gas, and the automatic."""
    view, masked = state.redemption, is_private(state)
    if not (view.rows or is_heard(state, Topic.REDEMPTIONS)):
        return (Bit(Text("the queue is not known yet", "muted")), *_wallet_bits(state.wallet))
    ready = view.ready
    counts = dict.fromkeys(Stage, 0)
    for row in view.rows:
        counts[row.stage] += not (row.lost and row.stage is Stage.READY)
    # Their transaction is on its way: they are no longer to be had, and not redeemed yet.
    open_keys = {run.key for run in view.runs if run.state.is_open}
    under_way = sum(row.stage is Stage.READY and row.key in open_keys for row in view.rows)
    label, tone = auto_words(state)
    bits = [
        Bit(
            Text.assemble(
                (f"{len(ready)} ready", "bold profit" if ready else "muted"),
                ("  ", ""),
                sums_text(ready, masked=masked),
            )
        ),
        *([Bit(Text(f"{under_way} under way", "warn"), 2)] if under_way else []),
        Bit(Text(f"{counts[Stage.AWAITING]} awaiting", "muted"), 4),
        Bit(Text(f"{counts[Stage.ACTIVE]} active", "muted"), 5),
        Bit(Text(f"{counts[Stage.REDEEMED]} redeemed", "muted"), 6),
        Bit(Text.assemble(("auto ", "muted"), (label, tone)), 1),
    ]
    return (*bits, *_wallet_bits(state.wallet))


def _wallet_bits(wallet: WalletView) -> tuple[Bit, ...]:
    if wallet.ownership is Ownership.EXTERNAL:
        return (
            Bit(Text.assemble(("gas ", "muted"), gas_text(wallet)), 2, right=True),
            Bit(key_text(wallet), 3, right=True),
        )
    if wallet.ownership is None:
        return ()
    return (Bit(Text("managed wallet", "muted"), 3, right=True),)


def paid(amount: Micros, money: str, *, masked: bool) -> Text:
    """An amount of a redemption with the unit of its venue."""
    return Text.assemble(formats.money(amount, masked=masked), f" {money}")


def sums_text(rows: Sequence[RedemptionRow], *, masked: bool) -> Text:
    """What these pay together, each money by itself; empty where there are none."""
    sums: dict[str, int] = {}
    for row in rows:
        sums[row.money] = sums.get(row.money, 0) + row.amount
    told = [paid(Micros(total), money, masked=masked) for money, total in sums.items()]
    return Text(", ").join(told)


def auto_words(state: DeskState) -> tuple[str, str]:
    """Whether it goes by itself, in a word and its tone."""
    auto = state.redemption.auto
    if auto.on_service is None:
        return "not known", "muted"
    if state.wallet.ownership is Ownership.MANAGED:
        return ("on, by the service", "profit") if auto.on_service else ("off", "muted")
    if not auto.is_on:
        return "off", "muted"
    return ("paused", "warn") if auto.paused else ("on", "profit")


def gas_text(wallet: WalletView) -> Text:
    """What lies in the wallet for gas; too little of it says so."""
    if wallet.gas is None:
        return Text(formats.NOT_KNOWN, "muted")
    if wallet.ownership is Ownership.MANAGED and not wallet.gas:
        return Text("none needed: the service pays it", "muted")
    short = wallet.gas_needed is not None and wallet.gas < wallet.gas_needed
    tone = "loss" if short or not wallet.gas else ""
    tail = " too little" if tone else ""
    return Text(f"{decimal(wallet.gas):,.3f} POL{tail}", tone)


def key_text(wallet: WalletView) -> Text:
    """Whether this machine can sign."""
    signs = {
        KeyState.UNLOCKED: ("unlocked", "profit"),
        KeyState.LOCKED: (f"locked  {cap('wallet.unlock')}", "warn"),
        KeyState.NONE: ("no key here", "warn"),
    }
    word, tone = signs[wallet.key_state]
    return Text.assemble(("key ", "muted"), (word, tone))


def why_empty(state: DeskState) -> str:
    """Why there is nothing in the queue, and what to do."""
    if state.service.phase is Phase.OFFLINE:
        return f"The service does not answer: {state.service.problem}"
    if not is_heard(state, Topic.REDEMPTIONS):
        return "Asking for the positions on the real venues."
    return (
        "Nothing is held on the real venues.\n\n"
        f"What wins there comes here, and turns into money with {cap('redemption.redeem')}. "
        "Positions of sim are paid by "
        "themselves."
    )


def head_of(row: RedemptionRow) -> Text:
    """The question and the state."""
    return Text.assemble(
        formats.plain(row.question, 160), "\n", formats.side(row.side), "  ", stage_text(row)
    )


def steps_text(run: RunView, now: Timestamp) -> Text:
    """Every step of a run with its time; what is to come is pale."""
    lines: list[Text] = []
    steps = _SERVED if run.managed else tuple(Step)
    pending = run.state not in {*_BAD, ChainRunState.DONE}
    for step in steps:
        at = run.at(step)
        told = next((one.words for one in run.steps if one.step is step), "")
        if at is not None:
            when = formats.moment_of(at, now)
            line = Text.assemble(("✓ ", "profit"), (step.value.ljust(_STEP), ""), when)
            if told:
                line.append("  ")
                line.append_text(_told(step, told))
        else:
            glyph, tone = ("▶ ", "bold accent") if pending else ("· ", "faint")
            pending = False
            is_next = glyph == "▶ "
            word = _DOING[step] if is_next else step.value
            line = Text.assemble((glyph, tone), (word.ljust(_STEP), tone if is_next else "muted"))
            if is_next and run.steps:
                since = formats.age(run.steps[-1].at, now)
                line = Text.assemble(line, ("for ", "muted"), since)
        lines.append(line)
    tone = "loss" if run.state in _BAD else "warn" if run.state is ChainRunState.UNCONFIRMED else ""
    if run.words:
        lines.append(Text.assemble("\n", (formats.plain(run.words, 600).plain, tone)))
    if run.fix:
        lines.append(Text(formats.plain(run.fix, 300).plain, "muted"))
    if run.again_at is not None and run.again_at > now:
        lines.append(Text.assemble(("again ", "muted"), formats.until(run.again_at, now)))
    return Text("\n").join(lines)


def _told(step: Step, told: str) -> Text:
    return formats.address(told) if step is Step.BROADCAST else formats.plain(told, 80)


def detail_of(row: RedemptionRow, state: DeskState, now: Timestamp) -> tuple[Text, Text, Text]:
    """One row whole: head, steps, figures."""
    masked, run = is_private(state), state.redemption.run(row.key)
    figures = [
        ("pays", paid(row.amount, row.money, masked=masked)),
        ("shares", formats.shares(row.shares, masked=masked)),
        ("cost", paid(row.cost, row.money, masked=masked)),
        ("venue", Text(row.venue.value + (", simulated" if row.simulated else ""))),
        ("condition", formats.address(row.condition_id or None, masked=masked)),
    ]
    tx_hash = (run.tx_hash if run is not None else "") or row.tx_hash
    if tx_hash:
        figures.append(("transaction", formats.address(tx_hash, masked=masked)))
    rest = labelled(figures)
    if run is None:
        return head_of(row), section("next", formats.plain(row.next_words, 300)), rest
    title = "what would be signed" if run.state is ChainRunState.PREPARED else "what was signed"
    if run.call is not None:
        rest = Text("\n\n").join((rest, section(title, call_text(run.call, is_short=True))))
    return head_of(row), section(f"step by step{of_wall(state)}", steps_text(run, now)), rest


def call_text(call: CallView, *, width: int = 0, is_short: bool = False) -> Text:
    """A transaction decoded: contract, function, arguments, gas and fee.

    Args:
        call: what would be signed, or was.
        width: cells of a line, beyond which a value goes on below itself; 0 leaves it whole.
        is_short: cut addresses and hashes in their middle.

    Returns:
        A line a fact, or more where one is long.
    """
    to = formats.address(call.to).plain if is_short else call.to
    arguments = (
        (_NAMES.get(name, name), _argument(value, is_short=is_short))
        for name, value in call.arguments
    )
    lines = [
        ("contract", f"{call.contract}  {to}"),
        ("function", call.function),
        *arguments,
        ("chain", f"{call.chain_id}, nonce {call.nonce}, value 0"),
        ("gas", f"{call.gas:,} at {call.fee_gwei:,.1f} gwei, at most"),
    ]
    told = [
        (label, hanging(formats.plain(value, 200).plain, width or len(value) + _LABEL, _LABEL))
        for label, value in lines
    ]
    if is_short:
        told.append(("fee", fee_text(call)))
    return labelled(told)


_NAMES: Final = {"parent collection": "parent"}
"""Arguments whose name is longer than a label."""


def fee_text(call: CallView) -> Text:
    """What it can cost at most, in the chain's money and about in dollars."""
    pol = f"{decimal(call.fee_max):,.5f} POL"
    if call.fee_money is None:
        return Text(pol)
    return Text.assemble((pol, "bold"), (f", about {decimal(call.fee_money):,.4f} USD", "muted"))


def _argument(value: str, *, is_short: bool) -> str:
    if not is_short:
        return value
    words = value.split(" ")
    return " ".join(formats.address(one).plain if one.startswith("0x") else one for one in words)


def hanging(text: str, width: int, indent: int) -> Text:
    """A value that goes on below itself, beside its label; what has no gaps is broken anywhere."""
    lines = textwrap.wrap(text, max(_NARROWEST, width - indent), break_on_hyphens=False) or [""]
    return Text(("\n" + " " * indent).join(lines))


def labelled(lines: list[tuple[str, Text]], width: int = _LABEL) -> Text:
    """Labels on the left, values beside them."""
    return Text("\n").join(
        Text.assemble((label.ljust(width), "muted"), value) for label, value in lines
    )
