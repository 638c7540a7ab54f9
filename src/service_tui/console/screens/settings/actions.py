"""Actions on a setting: edit it, switch it, restore it.

Tightening needs no confirmation; loosening and starting do. `ACTIONS`, at the end, is
the list.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final, TypeAlias

from rich.text import Text

from service_tui.console.actions import ScreenAction, UnmetReason, read_only_reason
from service_tui.console.buy_limit_text import figure, source_text
from service_tui.console.forms.about import About
from service_tui.console.forms.buy_limit_draft import BuyLimitChange
from service_tui.console.forms.choose_plan import ChoosePlan
from service_tui.console.forms.confirm import Confirm, Question
from service_tui.console.forms.ticket_guards import SLIPPAGE, slippage_max, slippage_text
from service_tui.console.keys import cap, key_named
from service_tui.console.messages import KeyChosen
from service_tui.console.notifications import (
    CHANNELS_OF,
    PROTOCOL,
    QUIET,
    Channel,
    Protocol,
    channels_text,
    choices_of,
)
from service_tui.console.parts.shared_actions import undo
from service_tui.console.parts.table_screen import TableScreen
from service_tui.console.screens.settings.detail import about_text
from service_tui.console.screens.settings.forms import (
    BuyLimitForm,
    ChannelsForm,
    DefaultsForm,
    Hours,
    QuietForm,
    Slippage,
    SlippageForm,
)
from service_tui.console.screens.settings.table import (
    ABOUT,
    AUTO,
    COOLDOWNS,
    PACE,
    PAUSED,
    PLAN,
    PRIVACY,
    PROTOCOL_ROW,
    QUIET_ROW,
    SLIPPAGE_ROW,
    STOP,
    TARGET,
    THEME_ROW,
    WEBHOOKS,
    SettingRow,
)
from service_tui.console.screens.settings.webhooks import WebhookList
from service_tui.console.view_context import ViewContext
from service_tui.desk.command import Command
from service_tui.desk.commands.agents import AgentAct, Govern
from service_tui.desk.commands.buy_limits import SetBuyLimit, SetDefaults, SetPaused
from service_tui.desk.commands.settings import SetPreference, SetSpeed
from service_tui.desk.slices.buy_limits import RULES, BuyLimitView, RiskDefaults
from service_tui.desk.slices.notices import NoticeKind
from service_tui.terms import Plan

Settings: TypeAlias = TableScreen[SettingRow]

_ON_SERVICE: Final = frozenset({STOP, TARGET, AUTO, PAUSED, PLAN})
"""Keys of the rows that the service stores; a limit is a row of its own kind."""

_UNKNOWN: Final = "not loaded yet"

# -- requirements -------------------------------------------------------------------------------


def can_change_setting(screen: Settings) -> UnmetReason:
    """The highlighted setting is this machine's own, or this desk may change things."""
    row = screen.selected()
    is_order = row is not None and (row.limit is not None or row.key in _ON_SERVICE)
    return read_only_reason(screen.state) if is_order else ""


def is_no_fixed_limit(screen: Settings) -> UnmetReason:
    """The highlighted setting is no limit, or one that has a figure to change."""
    row = screen.selected()
    if row is None or row.limit is None:
        return ""
    rule = RULES[row.limit.limit_kind]
    return "" if rule.on_service or rule.on_desk else "this limit is fixed"


def has_changed(screen: Settings) -> UnmetReason:
    """A change made here can be restored."""
    return "" if screen.take_back else "nothing to undo here"


# -- change and bring back ----------------------------------------------------------------------


def edit(screen: Settings) -> None:
    """Change the setting that is highlighted."""
    row = screen.row_in_focus()
    if row is None:
        return
    if row.limit is not None:
        _edit_limit(screen, row.limit)
    elif row.kind is not None:
        _edit_channels(screen, row.kind)
    else:
        _EDITS[row.key](screen)


def bring_back(screen: Settings) -> None:
    """Restore the last change made here, since the console was opened."""
    text = f"restored: {_name_of(screen.take_back[0])}"
    undo(screen)
    screen.show_toast(text)


def _name_of(command: Command) -> str:
    """The setting of a command, in a few words."""
    match command:
        case SetBuyLimit():
            return RULES[command.limit_kind].name
        case SetDefaults():
            return "the risk defaults"
        case Govern():
            return "the plan"
        case _:
            return "the setting"


def _change(screen: Settings, commands: Sequence[Command], take_back: Sequence[Command]) -> None:
    for command in commands:
        screen.give(command)
    if take_back:
        screen.take_back = tuple(take_back)


def _prefer(screen: Settings, name: str, value: str, before: str) -> None:
    _change(screen, (SetPreference(name, value),), (SetPreference(name, before),))


def _press(ident: str) -> Callable[[Settings], None]:
    """An action that presses another key of the table."""

    def press(screen: Settings) -> None:
        screen.post_message(KeyChosen(key_named(ident)))

    return press


# -- limits -------------------------------------------------------------------------------------


def _edit_limit(screen: Settings, limit: BuyLimitView) -> None:
    def written(change: BuyLimitChange) -> None:
        _write_limit(screen, change)

    screen.open_dialog(BuyLimitForm(screen.state, screen.now, limit), written)


def _write_limit(screen: Settings, change: BuyLimitChange) -> None:
    def answered(confirmed: bool) -> None:  # noqa: FBT001 - a dialog's result
        if confirmed:
            _change(screen, change.commands, change.undone)

    if change.is_loosened:
        question = Question("Loosen this limit?", _loosened(change, screen.view), "loosen")
        screen.open_dialog(Confirm(question), answered)
    else:
        answered(confirmed=True)


def _loosened(change: BuyLimitChange, view: ViewContext) -> Text:
    before, after = change.before, change.after
    limit_kind = before.limit_kind
    return Text.assemble(
        (RULES[limit_kind].name, "bold"),
        "\n\n",
        ("now   ", "muted"), figure(limit_kind, before.limit, masked=view.masked),
        (f"  {source_text(before)}\n", "muted"),
        ("then  ", "muted"), figure(limit_kind, after.limit, masked=view.masked),
        (f"  {source_text(after)}\n\n", "muted"),
        f"You may lose more. Applies from the next order; {cap('settings.undo')} restores the "
        "old limit.",
    )  # fmt: skip


# -- risk ---------------------------------------------------------------------------------------


def _defaults(screen: Settings) -> RiskDefaults | None:
    if screen.state.buy_limits is None:
        screen.show_toast(_UNKNOWN, "warn")
        return None
    return screen.state.buy_limits.defaults


def _edit_defaults(screen: Settings) -> None:
    before = _defaults(screen)
    if before is None:
        return

    def written(after: RiskDefaults) -> None:
        _write_defaults(screen, before, after)

    screen.open_dialog(DefaultsForm(screen.state, screen.now, before), written)


def _turn_auto(screen: Settings) -> None:
    before = _defaults(screen)
    if before is not None:
        stop, target = before.stop_loss_pct, before.take_profit_pct
        requested = RiskDefaults(stop, target, auto_monitor=not before.auto_monitor)
        _write_defaults(screen, before, requested)


def _write_defaults(screen: Settings, before: RiskDefaults, after: RiskDefaults) -> None:
    """Confirm if future buys, or present positions, are less protected than before."""

    def answered(confirmed: bool) -> None:  # noqa: FBT001 - a dialog's result
        if confirmed:
            # Automatic monitors that this removed are not restored.
            _change(screen, (SetDefaults(after),), (SetDefaults(before),))

    why = _less_guarded(before, after)
    if not why:
        answered(confirmed=True)
        return
    body = Text(
        f"{why}\n\n{cap('settings.undo')} restores the defaults; removed monitors stay removed."
    )
    screen.open_dialog(Confirm(Question("Reduce protection?", body, "reduce")), answered)


def _less_guarded(before: RiskDefaults, after: RiskDefaults) -> str:
    """The reduced protection, in a sentence; empty for none."""
    if before.auto_monitor and not after.auto_monitor:
        return (
            "New buys get no monitor. Automatic monitors are removed now: those positions lose "
            "their stop. Manual monitors stay."
        )
    old, new = before.stop_loss_pct, after.stop_loss_pct
    if old is not None and (new is None or new > old):
        far = (
            "without a stop" if new is None else f"with a stop {new:.1%} down instead of {old:.1%}"
        )
        return f"New buys are protected {far}."
    return ""


# -- trading ------------------------------------------------------------------------------------


def _turn_paused(screen: Settings) -> None:
    limits = screen.state.limits
    if limits is None:
        screen.show_toast(_UNKNOWN, "warn")
    elif screen.state.halted_since is not None:
        screen.show_toast(
            f"halted. {cap('app.halt')} opens Halt, {cap('halt.resume')} there resumes (typed "
            "word)",
            "warn",
        )
    elif not limits.paused:
        screen.give(SetPaused(paused=True))
    else:
        body = Text(
            "The service accepts buys of this desk's agent again: manual, skills and mirrors, "
            "within its limits. A halt or an operator's pause stays in force."
        )

        def answered(confirmed: bool) -> None:  # noqa: FBT001 - a dialog's result
            if confirmed:
                screen.give(SetPaused(paused=False))

        screen.open_dialog(Confirm(Question("Resume trading?", body, "resume")), answered)


def _edit_plan(screen: Settings) -> None:
    account = screen.state.account
    if account is None or not screen.state.service.embedded:
        screen.show_toast("plan set by the service: not changeable here")
        return

    def set_plan(plan: Plan) -> None:
        if plan is not account.plan:
            orders = [
                Govern(AgentAct.PLAN, account.agent_id, account.name, one)
                for one in (plan, account.plan)
            ]
            _change(screen, orders[:1], orders[1:])

    screen.open_dialog(ChoosePlan("this desk's agent", account.plan), set_plan)


def _show_cooldowns(screen: Settings) -> None:
    buy_limits = screen.state.buy_limits
    known = () if buy_limits is None else buy_limits.cooldowns
    waiting = [one for one in known if one.until > screen.now]
    text = "none now" if not waiting else f"{len(waiting)}, longest first"
    screen.show_toast(f"cooldowns end automatically: {text}")


# -- notices ------------------------------------------------------------------------------------


def _edit_channels(screen: Settings, kind: NoticeKind) -> None:
    before = choices_of(screen.state.preferences).channels_of(kind)

    def set_channels(channels: frozenset[Channel]) -> None:
        if channels != before:
            _prefer(
                screen, CHANNELS_OF + kind.value, channels_text(channels), channels_text(before)
            )

    screen.open_dialog(ChannelsForm(screen.state, screen.now, kind, before), set_channels)


def _edit_quiet(screen: Settings) -> None:
    before = choices_of(screen.state.preferences).quiet

    def written(hours: Hours) -> None:
        if hours.quiet != before:
            texts = ["" if one is None else one.describe() for one in (hours.quiet, before)]
            _prefer(screen, QUIET, texts[0], texts[1])

    screen.open_dialog(QuietForm(screen.state, screen.now, before), written)


def _turn_protocol(screen: Settings) -> None:
    before = choices_of(screen.state.preferences).protocol
    other = next(protocol for protocol in Protocol if protocol is not before)
    _prefer(screen, PROTOCOL, other.value, before.value)


# -- the desk -----------------------------------------------------------------------------------


def _next_pace(screen: Settings) -> None:
    world = screen.state.world
    if world is None:
        return
    place = world.speeds.index(world.speed) if world.speed in world.speeds else 0
    screen.give(SetSpeed(world.speeds[(place + 1) % len(world.speeds)]))


def _edit_slippage(screen: Settings) -> None:
    before = slippage_max(screen.state)

    def written(given: Slippage) -> None:
        if given.points != before:
            _prefer(screen, SLIPPAGE, slippage_text(given.points), slippage_text(before))

    screen.open_dialog(SlippageForm(screen.state, screen.now, before), written)


def _show_about(screen: Settings) -> None:
    make_text = partial(about_text, program=screen.program)
    screen.open_dialog(About("This desk", make_text, screen.state, screen.now))


def _show_webhooks(screen: Settings) -> None:
    screen.open_dialog(WebhookList(screen.state, screen.now))


_EDITS: Final[Mapping[str, Callable[[Settings], None]]] = {
    STOP: _edit_defaults,
    TARGET: _edit_defaults,
    AUTO: _turn_auto,
    PAUSED: _turn_paused,
    PLAN: _edit_plan,
    COOLDOWNS: _show_cooldowns,
    QUIET_ROW: _edit_quiet,
    PROTOCOL_ROW: _turn_protocol,
    SLIPPAGE_ROW: _edit_slippage,
    THEME_ROW: _press("app.themes"),
    PACE: _next_pace,
    PRIVACY: _press("app.privacy"),
    ABOUT: _show_about,
    WEBHOOKS: _show_webhooks,
}
"""The editor of each setting that is no limit and no kind of notice, by its key."""

ACTIONS: Final[tuple[ScreenAction[Settings], ...]] = (
    ScreenAction("settings.edit", edit, requires=(can_change_setting, is_no_fixed_limit)),
    ScreenAction("settings.undo", bring_back, requires=(has_changed,)),
)
