"""A trade that waits for the person: let it go out, at another size, or refuse it with a reason.

Knows the desk's state. Must not know who asked for it, nor how it is decided.
Used by the app, from anywhere, and by the screen of what needs the person.
"""

from collections.abc import Iterator
from typing import ClassVar, Final

from rich.text import Text
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.widget import Widget

from service_tui.console import formats
from service_tui.console.dialogs.confirm import Confirm
from service_tui.console.dialogs.form import Form
from service_tui.console.dialogs.live_order import live_question
from service_tui.console.dialogs.monitor_draft import read_number
from service_tui.console.dialogs.order_draft import MONEY_OF, DraftError
from service_tui.console.keys import bindings_of
from service_tui.console.widgets.door import Door
from service_tui.console.widgets.plain_input import PlainInput
from service_tui.console.widgets.words import Words
from service_tui.desk.commands import PlaceTrade
from service_tui.desk.commands_fleet import ApproveHeld, RefuseHeld
from service_tui.desk.records_fleet import HeldView
from service_tui.desk.reduce_fleet import asked_in_words, order_in_words
from service_tui.desk.state import DeskState
from service_tui.terms import Action, Venue
from service_tui.units import ONE, Micros, Timestamp, decimal

Decision = ApproveHeld | RefuseHeld

HURRY_S: Final = 60.0
"""With less time left the figure turns."""

_CENT: Final = 10_000
_SIGNALS_MAX: Final = 6
_NO_SIGNS: Final = frozenset({"client_ref"})
"""What signal data carry for machines, and say nothing to a person."""


class ApprovalForm(Form[Decision]):
    """Enter approves what stands there; the key of refusing sends the reason that is typed."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("approval")]

    heading: ClassVar[str] = "May it trade?"
    hint: ClassVar[str] = "F4 refuses"
    set_word: ClassVar[str] = "approve"
    cancel_word: ClassVar[str] = "later"

    def __init__(self, state: DeskState, now: Timestamp, held: HeldView) -> None:
        super().__init__(state, now)
        self._held = held

    def parts(self) -> Iterator[Widget]:
        """What is asked, why, the size, and a reason for a no."""
        yield Words(id="form-question")
        yield Words(id="approval-why")
        if self._held.action is Action.BUY:
            yield Horizontal(
                Words(f"for {MONEY_OF[self._held.venue]}", classes="label"),
                PlainInput(
                    f"{decimal(self._held.amount):.2f}",
                    compact=True,
                    max_length=12,
                    id="approval-amount",
                    classes="number",
                ),
                classes="line",
            )
        yield Horizontal(
            Words("reason", classes="label"),
            PlainInput(
                placeholder="of a no: the agent is told it",
                compact=True,
                max_length=200,
                id="approval-reason",
            ),
            classes="line",
        )
        yield Words(id="form-preview")

    def more_doors(self) -> Iterator[Door]:
        """The way to say no with the mouse."""
        yield Door("refuse  F4", id="approval-refuse")

    def other_door(self, name: str) -> None:
        """Refuse."""
        if name == "approval-refuse":
            self.action_refuse()

    def renew(self) -> None:
        """The trade as it is now; gone, when somebody or the deadline has decided it."""
        waiting = {held.held_id: held for held in self.state.supervision.held}
        held = waiting.get(self._held.held_id)
        if held is None:
            self.leave(None)
        else:
            self._held = held

    def judged(self) -> Decision | str:
        """The approval that stands there, or what is against it."""
        held = self._held
        if held.left_s(self.now) <= 0:
            return "its deadline has passed: it is refused"
        words = asked_in_words(held)
        if held.action is not Action.BUY:
            return ApproveHeld(held.held_id, words)
        try:
            amount = Micros(round(read_number(self.typed("approval-amount"), "amount") * ONE))
            _check_live(held, self.state)
        except DraftError as refused:
            return str(refused)
        bad = amount <= 0 or amount % _CENT
        no = "amount: above 0, in whole cents" if bad else over_budget(held, amount, self.state)
        if no:
            return no
        changed = amount != held.amount
        return ApproveHeld(held.held_id, words, amount if changed else None)

    def preview(self, result: Decision | None) -> None:
        """Who asks for what, and what happens next."""
        held = self._held
        asked = f"{held.agent_name}{f' with {held.skill_slug}' if held.skill_slug else ''}"
        head = Text.assemble(
            formats.plain(asked, 60), " asks to ", formats.plain(order_in_words(held), 200)
        )
        self.query_one("#form-question", Words).tell(head)
        self.query_one("#approval-why", Words).tell(why_text(held, self.state))
        left = held.left_s(self.now)
        tone = "breach" if left < HURRY_S else "muted"
        told = Text.assemble((f"{formats.duration(left)} left, then it is refused. ", tone))
        others = len(self.state.supervision.held) - 1
        if others > 0:
            told.append(f"{others} more wait{'s' if others == 1 else ''}. ", "warn")
        if isinstance(result, ApproveHeld):
            size = held.amount if result.amount is None else result.amount
            at = "" if held.average is None else f" at about {formats.price(held.average)}"
            money = f"{decimal(size):,.2f} {MONEY_OF[held.venue]}"
            spends = f"Approving buys for {money} on {held.venue.value}{at}, within every limit."
            told.append(spends if held.action is Action.BUY else "Approving sells.", "muted")
        is_reasoned = bool(self.typed("approval-reason").strip())
        no = "F4 refuses, and tells the reason." if is_reasoned else "F4 refuses without a reason."
        told.append(f" {no}", "muted")
        self.query_one("#form-preview", Words).tell(told)

    def action_refuse(self) -> None:
        """Decline it, with what is typed as the reason."""
        reason = self.typed("approval-reason").strip()
        self.finish(RefuseHeld(self._held.held_id, asked_in_words(self._held), reason))


def _check_live(held: HeldView, state: DeskState) -> None:
    """Make sure that what would spend real money may.

    Raises:
        DraftError: it is switched off.
    """
    if is_real(held, state) and not state.wallet.live:
        raise DraftError("real money is switched off: press 5, W, L, and type LIVE")


def over_budget(held: HeldView, amount: Micros, state: DeskState) -> str:
    """Which day's budget a buy would break, of the agent or of its skill; empty where none."""
    found = (state.supervision.leash_of(held.agent_id, slug) for slug in {"", held.skill_slug})
    full = [
        leash
        for leash in found
        if leash is not None and leash.budget is not None and leash.spent + amount > leash.budget
    ]
    if not full:
        return ""
    leash = min(full, key=lambda one: (one.budget or 0) - one.spent)
    spent, budget = decimal(leash.spent), decimal(leash.budget or Micros(0))
    whose = f"the skill {formats.plain(leash.skill_slug, 40)}" if leash.skill_slug else "the agent"
    return (
        f"over the budget of {whose}: {spent:,.2f} of {budget:,.2f} are spent today. "
        "Raise it first (7, then l), or take a smaller amount"
    )


def is_real(held: HeldView, state: DeskState) -> bool:
    """Whether it would spend real money; what is embedded has none."""
    is_play = held.venue is Venue.SIM or state.service.embedded
    return held.action is Action.BUY and not is_play


def real_question(held: HeldView, order: ApproveHeld, state: DeskState) -> Confirm:
    """The dialog of an order for real money, for one that an agent asks for."""
    wanted = PlaceTrade(
        held.market_id,
        held.side,
        held.action,
        held.venue,
        held.amount if order.amount is None else order.amount,
        question=held.question,
        price=held.price_limit,
    )
    return live_question(wanted, state, None, agent=held.agent_name)


def why_text(held: HeldView, state: DeskState) -> Text:
    """What the agent says for itself: reasoning, signal data, the price, what is held already."""
    lines = [
        Text((held.reasoning and formats.plain(held.reasoning, 400).plain) or "no reason given")
    ]
    signs = [(name, said) for name, said in held.signal_data.items() if name not in _NO_SIGNS]
    shown = signs[:_SIGNALS_MAX]
    if shown:
        signals = "  ".join(f"{name} {value}" for name, value in shown)
        lines.append(Text(formats.plain(signals, 400).plain, "muted"))
    if held.price is not None:
        limit = "" if held.price_limit is None else f", at most {formats.price(held.price_limit)}"
        side = held.side.value.upper()
        lines.append(Text(f"{side} is at {formats.price(held.price)} now{limit}", "muted"))
    for slug in dict.fromkeys(("", held.skill_slug)):
        leash = state.supervision.leash_of(held.agent_id, slug)
        if leash is not None and leash.budget is not None:
            spent, budget = decimal(leash.spent), decimal(leash.budget)
            whose = f" by {formats.plain(slug, 40)}" if slug else ""
            said = f"{spent:,.2f} of {budget:,.2f} are spent today{whose}"
            lines.append(Text(said, "muted"))
    return Text("\n").join(lines)
