"""Texts on redemptions: the line of sums, and one of them step by step. Pure functions."""

from collections.abc import Sequence
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.chain_text import fee_text, gas_text, key_text
from service_tui.console.figures import LABEL_CELLS, hanging, labelled, section
from service_tui.console.forms.explain import Explanation
from service_tui.console.freshness import is_answered, of_wall, of_world
from service_tui.console.reasons import fix_text, without_amounts
from service_tui.console.screens.redemption.table import stage_text
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.detail_pane import Detail
from service_tui.console.widgets.line_fit import Bit
from service_tui.desk.freshness import age_s
from service_tui.desk.slices.redemption import (
    CallView,
    ChainRunState,
    RedemptionRow,
    RedemptionView,
    RunView,
    Stage,
    Step,
)
from service_tui.desk.slices.topics import Topic
from service_tui.desk.slices.wallet import Ownership
from service_tui.desk.state import DeskState
from service_tui.units import Micros, Timestamp

_STEP: Final = 12
"""Cells of a step's word."""

_BAD: Final = frozenset({ChainRunState.FAILED, ChainRunState.REFUSED})

_DONE: Final = {Step.REQUESTED: "requested"}
"""Steps whose name on disk is not the word of the field."""

_DOING: Final = {
    Step.REQUESTED: "requesting",
    Step.CHECKED: "checking",
    Step.SIGNED: "signing",
    Step.BROADCAST: "sending",
    Step.CONFIRMED: "confirming",
    Step.REPORTED: "reporting",
}
_SERVED: Final = (Step.REQUESTED, Step.CONFIRMED, Step.REPORTED)
"""Steps of a wallet that the service signs for."""

_SINCE: Final = {
    Stage.ACTIVE: "since",
    Stage.AWAITING: "awaiting",
    Stage.READY: "ready",
    Stage.REDEEMED: "redeemed",
}
"""Label of the time at which a position came to its state."""

_NAMES: Final = {"parent collection": "parent"}
"""Width of arguments with a name longer than a label."""


# -- above the table ----------------------------------------------------------------------------


def sums_bits(view: ViewContext) -> tuple[Bit, ...]:
    """All redemptions in one line: redeemable, waiting, gas, and the automatic."""
    state, queue = view.state, view.state.redemption
    if not (queue.rows or is_answered(state, Topic.REDEMPTIONS)):
        return (
            Bit(Text("redemptions not loaded yet", "muted")),
            *_wallet_bits(view),
        )
    ready = queue.ready
    counts = dict.fromkeys(Stage, 0)
    for row in queue.rows:
        counts[row.stage] += not (row.lost and row.stage is Stage.READY)
    # Their transaction is pending: they are no longer redeemable, and not redeemed yet.
    open_keys = {run.key for run in queue.runs if run.state.is_open}
    under_way = sum(row.stage is Stage.READY and row.key in open_keys for row in queue.rows)
    label, tone = auto_text(state)
    bits = [
        Bit(
            Text.assemble(
                (f"{len(ready)} ready", "bold profit" if ready else "muted"),
                ("  ", ""),
                sums_text(ready, view),
            )
        ),
        *_manual_bits(queue, view),
        *([Bit(Text(f"{under_way} pending", "warn"), 2)] if under_way else []),
        Bit(Text(f"{counts[Stage.AWAITING]} awaiting", "muted"), 4),
        Bit(Text(f"{counts[Stage.ACTIVE]} active", "muted"), 5),
        Bit(Text(f"{counts[Stage.REDEEMED]} redeemed", "muted"), 6),
        Bit(Text.assemble(("auto ", "muted"), (label, tone)), 1),
    ]
    return (*bits, *_wallet_bits(view))


def _manual_bits(queue: RedemptionView, view: ViewContext) -> list[Bit]:
    """Won positions that are redeemed elsewhere, if there are any."""
    manual = [row for row in queue.rows if row.manual and row.stage is Stage.READY and not row.lost]
    text = Text.assemble((f"{len(manual)} ready elsewhere  ", "warn"), sums_text(manual, view))
    return [Bit(text, 1)] if manual else []


def _wallet_bits(view: ViewContext) -> tuple[Bit, ...]:
    wallet = view.state.wallet
    if wallet.ownership is Ownership.EXTERNAL:
        return (
            Bit(
                Text.assemble(("gas ", "muted"), gas_text(wallet, masked=view.masked)),
                2,
                right=True,
            ),
            Bit(key_text(wallet), 3, right=True),
        )
    if wallet.ownership is None:
        return ()
    return (Bit(Text("managed wallet", "muted"), 3, right=True),)


def auto_text(state: DeskState) -> tuple[str, str]:
    """The state of automatic redemption, as a word and its tone."""
    auto = state.redemption.auto
    if auto.on_service is None:
        return "not known", "muted"
    if state.wallet.ownership is Ownership.MANAGED:
        return ("on, by the service", "profit") if auto.on_service else ("off", "muted")
    if not auto.is_on:
        return "off", "muted"
    return ("paused", "warn") if auto.paused else ("on", "profit")


def paid(amount: Micros, money: str, view: ViewContext) -> Text:
    """An amount of a redemption with the unit of its venue."""
    return Text.assemble(view.money(amount), f" {money}")


def sums_text(rows: Sequence[RedemptionRow], view: ViewContext) -> Text:
    """The payout of these together, by currency; empty without any."""
    sums: dict[str, int] = {}
    for row in rows:
        sums[row.money] = int(sums.get(row.money, 0) + row.amount)
    amounts = [paid(Micros(total), money, view) for money, total in sums.items()]
    return Text(", ").join(amounts)


# -- a row --------------------------------------------------------------------------------------


def describe(row: RedemptionRow, view: ViewContext) -> Detail:
    """One row in full: head, steps, figures."""
    run = view.state.redemption.run(row.key)
    figures = [
        ("pays", paid(row.amount, row.money, view)),
        ("shares", view.shares(row.shares)),
        ("cost", paid(row.cost, row.money, view)),
        ("venue", Text(row.venue.value + (", simulated" if row.simulated else ""))),
        ("condition", formats.address(row.condition_id or None, masked=view.masked)),
    ]
    if row.since is not None and run is None:
        # Steps have their own times.
        figures.append((_SINCE[row.stage], _since(row, view)))
    tx_hash = (run.tx_hash if run is not None else "") or row.tx_hash
    if tx_hash:
        figures.append(("transaction", formats.address(tx_hash, masked=view.masked)))
    rest = labelled(figures)
    if run is None:
        next_text = without_amounts(formats.plain(row.next_text, 300).plain, masked=view.masked)
        return Detail(_head(row), section("next", Text(next_text)), rest)
    title = "to be signed" if run.state is ChainRunState.PREPARED else "signed"
    if run.call is not None:
        rest = Text("\n\n").join((rest, section(title, call_text(run.call, is_short=True))))
    steps = section(f"steps{of_wall(view.state)}", steps_text(run, view.now, masked=view.masked))
    return Detail(_head(row), steps, rest)


def _since(row: RedemptionRow, view: ViewContext) -> Text:
    """Time of the state, and by which clock."""
    clock = of_world(view.state) if row.in_world else of_wall(view.state)
    return Text.assemble(formats.date_time(row.since), (clock, "muted"))


def _head(row: RedemptionRow) -> Text:
    """The question and the state."""
    return Text.assemble(
        formats.plain(row.question, 160), "\n", formats.side(row.side), "  ", stage_text(row)
    )


def steps_text(run: RunView, now: Timestamp, *, masked: bool) -> Text:
    """Every step of a run with its time; future ones are pale."""
    lines: list[Text] = []
    steps = _SERVED if run.managed else tuple(Step)
    pending = run.state not in {*_BAD, ChainRunState.DONE}
    for step in steps:
        at = run.at(step)
        text = next((one.words for one in run.steps if one.step is step), "")
        if at is not None:
            when = formats.moment_of(at, now)
            name = _DONE.get(step, step.value).ljust(_STEP)
            line = Text.assemble(("✓ ", "profit"), name, when)
            if text:
                line.append("  ")
                line.append_text(_step_text(step, text, masked=masked))
        else:
            is_next, pending = pending, False
            glyph, tone = ("▶ ", "bold accent") if is_next else ("· ", "faint")
            word = _DOING[step] if is_next else _DONE.get(step, step.value)
            line = Text.assemble((glyph, tone), (word.ljust(_STEP), tone if is_next else "muted"))
            if is_next and run.steps:
                since = formats.age(run.steps[-1].at, now)
                line = Text.assemble(line, ("for ", "muted"), since)
        lines.append(line)
    tone = "loss" if run.state in _BAD else "warn" if run.state is ChainRunState.UNCONFIRMED else ""
    if run.words:
        shown = without_amounts(formats.plain(run.words, 600).plain, masked=masked)
        lines.append(Text.assemble("\n", (shown, tone)))
    if run.fix:
        lines.append(Text(formats.plain(fix_text(run.fix, masked=masked), 300).plain, "muted"))
    if run.again_at is not None and run.again_at > now:
        lines.append(Text.assemble(("again ", "muted"), formats.until(run.again_at, now)))
    return Text("\n").join(lines)


def _step_text(step: Step, text: str, *, masked: bool) -> Text:
    if step is Step.BROADCAST:
        return formats.address(text, masked=masked)
    return Text(without_amounts(formats.plain(text, 80).plain, masked=masked))


# -- a transaction ------------------------------------------------------------------------------


def call_text(call: CallView, *, width: int = 0, is_short: bool = False) -> Text:
    """A transaction decoded: contract, function, arguments, gas and fee.

    Args:
        call: the transaction to sign, or signed.
        width: cells of a line, beyond which a value continues below itself; 0 leaves it whole.
        is_short: cut addresses and hashes in their middle.

    Returns:
        A line a fact, or more for a long one.
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
        ("gas", f"max {call.gas:,} at {call.fee_gwei:,.1f} gwei"),
    ]
    figures_of_call = [
        (label, hanging(formats.plain(value, 200).plain, width or len(value) + LABEL_CELLS))
        for label, value in lines
    ]
    if is_short:
        figures_of_call.append(("fee", fee_text(call)))
    return labelled(figures_of_call)


def _argument(value: str, *, is_short: bool) -> str:
    if not is_short:
        return value
    text = value.split(" ")
    return " ".join(formats.address(word).plain if word.startswith("0x") else word for word in text)


# -- the numbers of a row -----------------------------------------------------------------------


def explain_row(row: RedemptionRow, view: ViewContext) -> tuple[Explanation, ...]:
    """Inputs of a redemption's payout."""
    inputs = (
        ("shares", view.shares(row.shares)),
        ("cost", paid(row.cost, row.money, view)),
    )
    age = age_s(view.state, Topic.REDEMPTIONS, view.now)
    text = Text(formats.duration(age)) if age is not None else Text("not loaded yet")
    pays = paid(row.amount, row.money, view)
    formula = "a winning share pays 1, a losing one 0; checked on chain again before signing"
    return (Explanation("pays", pays, formula, inputs, "redemptions of the service", text),)
