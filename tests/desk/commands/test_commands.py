"""How every command is called in the blotter and the action log, in plain English."""

import importlib
import pkgutil
from dataclasses import dataclass

import pytest

from service_tui.desk import commands
from service_tui.desk.command import Command
from service_tui.desk.commands import agents as of_agents
from service_tui.desk.commands import buy_limits as of_limits
from service_tui.desk.commands import drill as of_drills
from service_tui.desk.commands import halt as of_halt
from service_tui.desk.commands import own_commands as of_own
from service_tui.desk.commands import reactor as of_reactor
from service_tui.desk.commands import research as of_research
from service_tui.desk.commands import risk as of_risk
from service_tui.desk.commands import settings as of_settings
from service_tui.desk.commands import trading as of_trading
from service_tui.desk.commands import wallet as of_wallet
from service_tui.desk.commands import webhooks as of_webhooks
from service_tui.desk.slices.buy_limits import BuyLimit, RiskDefaults
from service_tui.desk.slices.reactor import MIRROR, Policy
from service_tui.desk.slices.risk import Thresholds
from service_tui.desk.slices.supervision import Pace
from service_tui.terms import (
    Action,
    AgentAlertKind,
    AlertCondition,
    LeashMode,
    LimitGroup,
    Side,
    Venue,
)
from service_tui.units import ONE, Micros, Timestamp

NO, EVM, SIM = Side.NO, Venue.EVM, Venue.SIM
GUARD = of_risk.SetMonitor("m", NO, SIM, Thresholds(0.125, 0.5))
BUY = of_trading.PlaceTrade("m", NO, Action.BUY, SIM, Micros(1_234_500_000))
SALE = of_trading.PlaceTrade("m", Side.YES, Action.SELL, SIM, shares=Micros(12_500_001))
HERON = of_agents.AgentSide("a", "heron", "m", NO, SIM)
UNTIL = Timestamp(1_800_000_000.0)


def real(**other: object) -> of_trading.PlaceTrade:
    given = {"venue": EVM, "amount": Micros(20 * ONE), "price": 0.4, **other}
    return of_trading.PlaceTrade("m", NO, Action.BUY, **given)  # type: ignore[arg-type]


SAID: list[tuple[Command, str, str]] = [
    (of_agents.SetLeash("a", "heron", LeashMode.AUTO), "leash", "permissions of heron: auto"),
    (of_agents.ApproveTrade("h", "buy YES"), "approve", "approve: buy YES"),
    (of_agents.RefuseTrade("h", "buy YES", "no"), "refuse", "refuse: buy YES"),
    (of_agents.WatchAgent("a-1"), "watch", "watch a-1"),
    (of_agents.WatchHoldings(is_wanted=True), "watch", "watch everything held"),
    (of_agents.WatchHoldings(is_wanted=False), "watch", "leave everything held"),
    (
        of_agents.SetExposureLimit(
            LimitGroup.CATEGORY, "weather", "weather", Venue.SIM, Micros(9_000_000)
        ),
        "limit", "limit category weather to 9.00 $SIM",
    ),
    (
        of_agents.SetExposureLimit(
            LimitGroup.AGENT, "a-1", "heron", Venue.EVM, Micros(9_000_000), refuses=False
        ),
        "limit", "limit agent heron to 9.00 USDC.e, warn only",
    ),
    (
        of_agents.SetHeldStops((HERON,), (("stop_loss_pct", 0.2), ("take_profit_pct", None))),
        "monitor", "monitor NO of heron: stop 20%, target off",
    ),
    (
        of_agents.SetHeldStops((HERON, HERON), (("stop_loss_pct", 0.125),)),
        "monitor", "monitor 2 positions: stop 12.5%",
    ),
    (
        of_agents.SetExposureLimit(LimitGroup.EVENT, "m-1", "Rain?", Venue.SIM, None),
        "limit", "no limit on event Rain? in $SIM",
    ),
    (
        of_agents.SetAgentAlert("a", "heron", AgentAlertKind.SILENT, Micros(30_000_000)),
        "agent alert",
        "alert on heron: silent for 30 min, then tell you",
    ),
    (
        of_agents.RemoveAgentAlert("a", "heron", "aa1", "silent for 30 min"),
        "agent alert end",
        "remove the alert on heron: silent for 30 min",
    ),
    (of_agents.PauseAll(paused=True), "agents", "pause all agents"),
    (of_agents.StartSkill("gauge", Pace.LOOP), "skill", "run gauge without pause as a new agent"),
    (of_agents.StopSkill("r1"), "skill", "stop r1"),
    (of_agents.StopSkill("r1", "gauge"), "skill", "stop gauge"),
    (of_agents.RestartSkill("r1"), "skill", "restart r1"),
    (of_agents.RestartSkill("r1", "gauge"), "skill", "restart gauge"),
    (of_agents.DetachSkill("r1"), "skill", "detach r1"),
    (of_agents.InstallSkill("here"), "skill", "install the skill in here"),
    (of_agents.ExportData(), "export", "export"),
    (of_agents.ExportData("there"), "export", "export to there"),
    (of_agents.SaveOutput("gauge", ("x",)), "export", "save the output of gauge"),
    (of_agents.ReadLog(), "log", "verify the action log"),
    (of_agents.ReadDay(), "day", "load the day of all agents"),
    (of_agents.NoteConfirmed("Halt?"), "confirm", "Halt?"),
    (of_agents.Govern(of_agents.AgentAct.CODE, "a", "heron"), "agent",
        "make a claim code for heron"),
    (of_limits.SetBuyLimit(BuyLimit.DESK_DAY, None), "limit", "no limit"),
    (of_limits.SetBuyLimit(BuyLimit.DESK_DAY, 1_234_560_000, own=True), "limit", "1,234.56"),
    (of_limits.SetDefaults(RiskDefaults(None, 0.25, auto_monitor=False)), "defaults",
        "guard buys: no stop, target 25.0% up, off"),
    (of_limits.SetDefaults(RiskDefaults(0.125, None, auto_monitor=True)), "defaults",
        "guard buys: stop 12.5% down, no target"),
    (of_limits.SetPaused(paused=True), "pause", "pause trading"),
    (of_limits.SetPaused(paused=False), "pause", "resume trading"),
    (of_drills.BeginDrill(), "drill", "begin the drill"),
    (of_drills.EndDrill(), "drill", "end the drill"),
    (of_halt.Halt(), "halt", "halt"),
    (of_halt.Resume("RESUME"), "resume", "resume trading"),
    (of_halt.ExitAll(("a",)), "exit all", "sell 1 position"),
    (of_halt.ExitAll(("a", "b")), "exit all", "sell 2 positions"),
    (of_reactor.MirrorSignal("s"), MIRROR, "mirror a signal"),
    (of_reactor.MirrorSignal("s", "Rain?"), MIRROR, "mirror a signal, Rain?"),
    (of_reactor.MirrorAllFrom("0x1"), MIRROR, "mirror every signal of 0x1"),
    (of_reactor.MirrorAllFrom("0x1", "ada"), MIRROR, "mirror every signal of ada"),
    (of_reactor.DismissSignal("s"), "dismiss", "dismiss a signal"),
    (of_reactor.SetWalletPolicy("0x1", Policy.AUTO), "policy", "signals of 0x1: auto"),
    (of_reactor.SetWalletPolicy("0x1", Policy.OFF, "ada"), "policy", "signals of ada: off"),
    (of_reactor.LabelWallet("0x1", "ada"), "label", "call 0x1 'ada'"),
    (of_reactor.LabelWallet("0x1", ""), "label", "unname 0x1"),
    (of_reactor.FollowWallet("0x1"), "watchlist", "follow 0x1"),
    (of_reactor.FollowWallet("0x1", known_as="bob"), "watchlist", "follow bob"),
    (of_reactor.FollowWallet("0x1", "ada", "bob"), "watchlist", "follow ada"),
    (of_reactor.UnfollowWallet("0x1"), "watchlist", "unfollow 0x1"),
    (of_reactor.UnfollowWallet("0x1", "ada"), "watchlist", "unfollow ada"),
    (of_reactor.SetReactorConfig(enabled=True), "reactor", "turn the reactor on"),
    (of_reactor.SetReactorConfig(enabled=False), "reactor", "turn the reactor off"),
    (of_reactor.SetReactorConfig(mirror_fraction=0.5), "reactor", "change the reactor's config"),
    (of_reactor.ResetBreaker(), "breaker", "reset the circuit breaker"),
    (of_research.RunBacktest(1, "gauge", days=3), "backtest", "backtest gauge over 3 days"),
    (of_research.RunBacktest(1, "gauge", sweep=(("a", (1.0,)),)), "backtest",
        "sweep gauge over 7 days"),
    (of_research.ReadEvaluations(), "evaluations", "read the evaluations"),
    (of_research.StartSession("first", "gauge", "pnl"), "research",
        "start the session first on gauge"),
    (of_research.EndSession("gauge"), "research", "turn autoresearch off for gauge"),
    (of_research.ResetSession("gauge"), "research", "new baseline of gauge"),
    (of_research.ShowDiff("k", "abc1"), "diff", "show the diff of abc1"),
    (GUARD, "monitor", "monitor NO: stop 12.5% down, target 50.0% up"),
    (of_risk.SetMonitors((GUARD,)), "monitors", "monitor 1 position"),
    (of_risk.RemoveMonitor("m", NO, SIM), "monitor", "remove the monitor of NO"),
    (of_risk.ExitAlert("a"), "exit", "sell for an alert now"),
    (of_risk.SetPriceAlert("m", NO, AlertCondition.BELOW, 0.25), "price alert",
        "alert when NO < 0.25"),
    (of_risk.SetPriceAlert("m", NO, AlertCondition.CROSSES_ABOVE, 0.5), "price alert",
        "alert when NO crosses above 0.50"),
    (of_risk.RemovePriceAlert("p"), "price alert", "remove a price alert"),
    (of_settings.SetSpeed(0), "speed", "World paused"),
    (of_settings.SetSpeed(10), "speed", "World speed 10x"),
    (of_settings.StepWorld(5_400), "step", "World moved on by 1:30:00"),
    (of_settings.WatchMarket("m"), "watch", "watch m"),
    (of_settings.Refresh(), "refresh", "refresh"),
    (of_settings.SetStar("m", on=True), "star", "star m"),
    (of_settings.SetStar("m", on=False), "star", "unstar m"),
    (of_settings.SetPreference("theme", "dark"), "preference", "remember theme"),
    (of_own.RunOwnCommand("browse", 'xdg-open "$MARKET_URL"', (("MARKET_URL", "https://v.test"),)),
        "own command", "own command browse"),
    (of_settings.Forget(), "forget", "clear the cached state"),
    (BUY, "trade", "buy NO for 1,234.50"),
    (SALE, "trade", "sell 12.50 YES"),
    (of_trading.BuySet("Who wins", (BUY,)), "set", "set of Who wins"),
    (of_trading.PlaceTrade("m", NO, Action.SELL, SIM, shares=Micros(10)), "trade",
        "sell 0.00001 NO"),
    (of_trading.PlaceTrade("m", NO, Action.SELL, SIM, shares=Micros(10), everything=True),
        "trade", "sell all NO"),
    (real(), "trade", "LIVE buy NO for 20.00 USDC.e on evm_venue"),
    (real(rests=True), "trade", "LIVE buy NO at 0.40 for 20.00 USDC.e on evm_venue"),
    (real(whole=True), "trade", "LIVE buy NO fill-or-kill for 20.00 USDC.e on evm_venue"),
    (real(rests=True, expires_at=UNTIL, stop_loss_pct=0.2, take_profit_pct=0.35), "trade",
        ("LIVE buy NO at 0.40 until 15 Jan 08:00 UTC for 20.00 USDC.e on evm_venue, "
        "stop 20.0% down, target 35.0% up")),
    (of_trading.RequestQuote(1, BUY), "quote", "quote: buy NO for 1,234.50"),
    (of_trading.GiveUp("t"), "give up", "close an unknown order"),
    (of_trading.CancelOrders(("a", "b")), "cancel", "cancel 2 open orders"),
    (of_trading.CancelOrders(("a",), "buy YES"), "cancel", "cancel buy YES"),
    (of_wallet.PrepareRedemption("m", NO, EVM), "prepare redemption",
        "prepare the redemption of NO"),
    (of_wallet.Redeem("m", NO, EVM), "redeem", "redeem NO"),
    (of_wallet.RedeemAll(("a", "b")), "redeem", "redeem 2 positions"),
    (of_wallet.AbandonRun("m:no"), "redeem", "abandon a redemption"),
    (of_wallet.SetAutoRedeem(on=True), "auto-redeem", "turn auto-redeem on"),
    (of_wallet.SetAutoRedeem(on=False), "auto-redeem", "turn auto-redeem off"),
    (of_wallet.UnlockWallet("words"), "wallet", "unlock the wallet"),
    (of_wallet.LockWallet(), "wallet", "lock the wallet"),
    (of_wallet.KeepKey("words"), "wallet", "create a key"),
    (of_wallet.KeepKey("words", "secret"), "wallet", "import a key"),
    (of_wallet.RemoveKey("0x1"), "wallet", "remove the key of 0x1"),
    (of_wallet.RequestLink("0x1"), "wallet", "request the challenge to link the wallet 0x1"),
    (of_wallet.LinkWallet("0x1", "n"), "wallet", "link the wallet 0x1"),
    (of_wallet.ReadApprovals(), "wallet", "check the approvals"),
    (of_wallet.SetApprovals(("a", "b"), "APPROVE"), "wallet", "give 2 approvals"),
    (of_wallet.MakeCredentials(), "wallet", "derive the venue's credentials"),
    (of_wallet.AllowReal(), "wallet", "allow this agent real trades"),
    (of_wallet.SetLive(on=True), "live", "turn live trading on"),
    (of_wallet.SetLive(on=False), "live", "turn live trading off"),
    (of_wallet.SetPay(None), "pay per call", "turn payments per call off"),
    (of_wallet.SetPay(Micros(1_500_000)), "pay per call", "pay for calls, max 1.500 a day"),
    (of_wallet.PayOffer("o"), "pay per call", "pay for one call"),
    (of_webhooks.ReadWebhooks(), "read_webhooks", "read the webhooks"),
    (of_webhooks.SetWebhook("http://x", ()), "webhook", "notify http://x"),
    (of_webhooks.TestWebhook("w", "http://x"), "test_webhook", "test http://x"),
    (of_webhooks.RemoveWebhook("w", "http://x"), "remove_webhook", "remove http://x"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("command", "kind", "text"),
    SAID,
    ids=[f"{type(one).__name__}: {text}" for one, _, text in SAID],
)
def test_a_command_is_said_in_plain_english(command: Command, kind: str, text: str) -> None:
    said = command.describe()
    if isinstance(command, of_limits.SetBuyLimit):
        whose = "this desk's own" if command.own else "the service's"
        assert said.endswith(f": {text} ({whose})")
    else:
        assert said == text
    assert command.kind == kind


def test_every_command_is_said() -> None:
    for module in pkgutil.iter_modules(commands.__path__):
        importlib.import_module(f"{commands.__name__}.{module.name}")
    ours = [one for one in Command.__subclasses__() if one.__module__.startswith(commands.__name__)]
    made = {type(command) for command, _, _ in SAID}
    assert {one.__name__ for one in ours} - {one.__name__ for one in made} == set()


@dataclass(frozen=True)
class Secret:
    words: str = "correct horse"
    key: str = "0xdeadbeef"


def test_no_secret_is_said() -> None:
    for one in (
        of_wallet.UnlockWallet(Secret.words, "0x1"),
        of_wallet.KeepKey(Secret.words, Secret.key),
    ):
        for text in (repr(one), one.describe()):
            assert Secret.words not in text
            assert Secret.key not in text


def test_an_order_is_of_the_type_that_its_terms_make_it() -> None:
    types = [
        real(),
        real(whole=True),
        real(rests=True),
        real(rests=True, expires_at=UNTIL),
        real(expires_at=UNTIL),
    ]
    assert [one.order_type.value for one in types] == ["FAK", "FOK", "GTC", "GTD", "FAK"]
    assert BUY.holding == "m:no"
    assert [one.key for one in (
        of_wallet.PrepareRedemption("m", NO, EVM), of_wallet.Redeem("m", Side.YES, EVM),
    )] == ["m:no", "m:yes"]  # fmt: skip
