"""ServiceClient: the service for programs that wait for their answers."""

import logging
import os
import secrets
from collections.abc import Mapping
from datetime import datetime
from typing import Final, Self

import httpx

from service_tui.client.errors import OutcomeUnknownError, ServiceError
from service_tui.client.http_request import Names
from service_tui.clock import Clock, SystemClock
from service_tui.config import WALLET_VARIABLE
from service_tui.sdk.arguments import checked, choice_of
from service_tui.sdk.exits import sell_for
from service_tui.sdk.guards import CONFLICT, Guards
from service_tui.sdk.opening import address_of, clock_of, may_be_plain, opening_of, signing_key
from service_tui.sdk.orders import order_of, signal_with
from service_tui.sdk.paper import Paper
from service_tui.sdk.preflight import Preflight, Spending, preflight_of
from service_tui.sdk.reads import Reads, venue_of
from service_tui.sdk.result import TradeResult, TradeUnknownError, answered, skipped
from service_tui.sdk.transport import SyncTransport
from service_tui.sdk.wallets import (
    Approvals,
    OwnWallet,
    Redeemed,
    redeem_all,
    redeemed_by_service,
    wallet_of,
)
from service_tui.terms import Action, Side, Venue
from service_tui.wire.agents import (
    AgentSettingsBody,
    AgentSettingsPatch,
    RegisterBody,
    RegisterRequest,
)
from service_tui.wire.base import SignalValue
from service_tui.wire.briefing import BriefingBody
from service_tui.wire.endpoints import public as on
from service_tui.wire.importing import ImportBody, ImportRequest
from service_tui.wire.monitors import (
    MonitorQuery,
    MonitorRemovedBody,
    MonitorRequest,
    MonitorSetBody,
    RiskAlertBody,
)
from service_tui.wire.orders import CancelBody, CancelQuery
from service_tui.wire.settings import UserSettingsBody, UserSettingsPatch
from service_tui.wire.trades import CLIENT_REF, TradeRequest
from service_tui.wire.wallet import LinkBody

log = logging.getLogger(__name__)

PREFLIGHT_S: Final = 5.0
"""Deadline of each read of the preflight. Source: wire reference, section 1."""

REBUY_FIX: Final = "it is held already: pass allow_rebuy=True to buy more"
CONFLICT_FIX: Final = "another source holds this market: leave it, or sell there first"


@checked  # noqa: PLR0904  (one face with the names of the service)
class ServiceClient(Reads):
    """One agent's way to the service; may be used from several threads.

    Reads are repeated while their deadline allows. A trade is sent exactly once: when its answer
    may have been lost, `TradeUnknownError` says so. Close it, or use it in a `with` block.

    Errors of all methods are those of `service_tui.client.errors`; an order that the service or
    this client declines in order is no error but a result with `success` False.
    """

    def __init__(  # noqa: PLR0913  (all by name, and all with a default)
        self,
        api_key: str | None = None,
        base_url: str | None = None,
        *,
        venue: str | Venue = Venue.SIM,
        live: bool = True,
        names: Names = "neutral",
        clock: Clock | None = None,
        private_key: str | None = None,
        over: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """Bind a key to an address.

        Sends nothing, but for a live client with a signing key: that first makes the exits that
        wait for it, as `get_briefing` does later. Failures of that are logged, and met again then.

        Args:
            api_key: or SERVICE_API_KEY.
            base_url: or SERVICE_API_URL; plain http only to loopback, unless
                SERVICE_ALLOW_INSECURE_BASE_URL is 1, true or yes.
            venue: where `trade` goes by default, in any of its names.
            live: False trades on paper: in memory, never on the service.
            names: how venues are called towards the service, `neutral` or `public`.
            clock: time; the machine's own by default.
            private_key: or WALLET_PRIVATE_KEY, 64 hex digits; it signs here, and goes nowhere.
            over: carries the calls in the place of HTTP; closed with the client.

        Raises ValueError for a missing or unacceptable argument.
        """
        clock = clock or clock_of(os.environ)
        self.venue: Final = venue_of(venue)
        self.live: Final = live
        self._opening: Final = opening_of(api_key, base_url, os.environ)
        self._guards: Final = Guards(clock)
        line = SyncTransport(
            self._opening.base_url,
            self._opening.api_key,
            clock=clock,
            allow_insecure=self._opening.allow_insecure,
            names=names,
            over=over,
        )
        super().__init__(line, None if live else Paper(clock))
        self._clock: Final = clock
        # Source: decisions, "Does opening a client trade?".
        key = signing_key(private_key, os.environ)
        self._exits: Final = live and bool(key)
        self._wallet: Final = wallet_of(line, key, self._opening, clock) if live else None
        if self._exits:
            try:
                self.execute_risk_alerts()
            except ServiceError as error:
                log.warning("waiting exits are not known: %s", error)

    def __enter__(self) -> Self:
        """The client itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    def close(self) -> None:
        """Let calls on their way end, at most two seconds, and close the connections."""
        self._transport.close()

    def pause(self, seconds: float) -> None:
        """Wait, on the client's clock; ValueError for a time before now."""
        if seconds < 0:
            raise ValueError("seconds is not below 0")
        self._transport.pause(seconds)

    @staticmethod
    def register(
        name: str, *, description: str | None = None, base_url: str | None = None
    ) -> RegisterBody:
        """Register a new agent; its key is in this answer and never again."""
        url = address_of(base_url, os.environ)
        insecure = may_be_plain(os.environ)
        line = SyncTransport(url, None, clock=SystemClock(), allow_insecure=insecure)
        try:
            return line.call(on.REGISTER, body=RegisterRequest(name=name, description=description))
        finally:
            line.close()

    def trade(  # noqa: PLR0913  (the spec's parameters)
        self,
        market_id: str,
        side: str,
        amount: float = 0.0,
        *,
        shares: float = 0.0,
        action: str = "buy",
        venue: str | Venue | None = None,
        order_type: str | None = None,
        price: float | None = None,
        reasoning: str | None = None,
        source: str | None = None,
        skill_slug: str | None = None,
        signal_data: Mapping[str, SignalValue] | None = None,
        allow_rebuy: bool = False,
        dry_run: bool = False,
        skip_preflight: bool = False,
        expiration: float | None = None,
        stop_loss_pct: float | None = None,
        take_profit_pct: float | None = None,
    ) -> TradeResult:
        """Buy or sell; `dry_run` returns a quote instead.

        Args:
            market_id: which market.
            side: `yes` or `no`.
            amount: money of a buy, rounded to 2 decimals.
            shares: shares of a sale, rounded to 5 decimals.
            action: `buy` or `sell`.
            venue: the client's own by default.
            order_type: GTC, GTD, FOK or FAK; the venue's default where it is None.
            price: bound, 0.001 to 0.999.
            reasoning: why; others may read it.
            source: tag of the strategy; another source's holding is left alone.
            skill_slug: the skill that trades.
            signal_data: flat, strings and numbers; private to the owner of the key.
            allow_rebuy: buy although the market is held already.
            dry_run: change nothing.
            skip_preflight: on a real venue, do not check first that the agent may trade.
            expiration: when a GTD order dies, Unix seconds.
            stop_loss_pct: stop of the monitor that a buy sets when it fills; none on paper. A
            service other than the embedded one may ignore it: read the monitors afterwards.
            take_profit_pct: its target. Of the two one left out stays, or is the agent's default.

        Returns:
            Result of the order. `skip_reason` is why nothing was sent.

        Raises:
            ValueError: no service would take this order; nothing was sent.
            TradeUnknownError: it may have been carried out, and must not be repeated.
            ServiceError: the request was refused, or nothing was sent.
        """
        ref = None if dry_run else secrets.token_hex(16)
        notes = signal_data if ref is None else signal_with(signal_data, CLIENT_REF, ref)
        fields = {
            "market_id": market_id,
            "side": side,
            "action": action,
            "venue": self.venue if venue is None else venue_of(venue),
            "order_type": order_type,
            "expiration": expiration,
            "price": price,
            "reasoning": reasoning,
            "source": source,
            "skill_slug": skill_slug,
            "signal_data": None if notes is None else dict(notes),
            "dry_run": dry_run,
            "stop_loss_pct": stop_loss_pct,
            "take_profit_pct": take_profit_pct,
        }
        request = order_of(fields, amount=amount, shares=shares)
        if self._paper is not None:
            return self._on_paper(request, self._paper)
        may_skip = skip_preflight or self._opening.skip_preflight
        if request.venue is not Venue.SIM and not dry_run and not may_skip:
            verdict = self.ensure_can_trade(request.amount, venue=request.venue)
            if not verdict.ok:
                return skipped(
                    request, "preflight_blocked", verdict.reasons[0], "see ensure_can_trade()"
                )
        if request.action is Action.BUY:
            why = self._guarded(request, allow_rebuy=allow_rebuy)
            if why is not None:
                return skipped(
                    request,
                    why,
                    f"{why}: {market_id}",
                    CONFLICT_FIX if why == CONFLICT else REBUY_FIX,
                )
        if self._wallet is not None:
            request = self._wallet.sign_order(request)
        return self._send(request, ref)

    def _guarded(self, request: TradeRequest, *, allow_rebuy: bool) -> str | None:
        """Reserve a buy, or the reason why it is blocked; reads positions that are too old."""
        if self._guards.is_stale and not (allow_rebuy and not request.source):
            self._guards.learn(self._transport.call(on.POSITIONS).positions)
        return self._guards.reserve(request, allow_rebuy=allow_rebuy)

    def _send(self, request: TradeRequest, ref: str | None) -> TradeResult:
        """Send an order once, and remember what it brought."""
        try:
            body = self._transport.call(on.PLACE_TRADE, body=request, idempotency_key=ref)
        except BaseException as error:
            self._guards.settle(request, None)
            if not isinstance(error, OutcomeUnknownError) or ref is None:
                raise
            # What is held is not known now: the next buy reads it again.
            self._guards.forget()
            raise TradeUnknownError(error, ref) from error
        self._guards.settle(request, body)
        return answered(body, request, ref)

    def link_wallet(self) -> LinkBody:
        """Link the wallet of the signing key to the agent, in the place of the managed one."""
        return self._own_wallet().link()

    def set_approvals(self) -> Approvals:
        """Give the venue the approvals that trading needs; skip those already set."""
        return self._own_wallet().approve()

    def redeem(self, market_id: str, side: str) -> Redeemed:
        """Turn a winning side into money; with an own wallet in three steps, up to 60 s."""
        self._check_live()
        if self._wallet is not None:
            return self._wallet.redeem(market_id, side)
        return redeemed_by_service(self._transport, market_id, side)

    def auto_redeem(self) -> list[Redeemed]:
        """Redeem everything that can be; nothing while the agent's `auto_redeem_enabled` is off.

        Returns:
            A result a position. What the service or the chain refuses raises nothing: it is a
            result that failed; without a market where the positions could not be read.
        """
        self._check_live()
        return redeem_all(self._transport, self.redeem, by_side=self._wallet is not None)

    def _own_wallet(self) -> OwnWallet:
        """The wallet of the signing key.

        Returns:
            The wallet.

        Raises:
            ValueError: this client trades on paper, or has no key.
        """
        self._check_live()
        if self._wallet is None:
            raise ValueError(f"no signing key: pass private_key or set {WALLET_VARIABLE}")
        return self._wallet

    def _on_paper(self, request: TradeRequest, paper: Paper) -> TradeResult:
        path = {"market_id": request.market_id}
        market = self._transport.call(on.MARKET, path=path).market
        return self._seen(paper).trade(market, request)

    def cancel_order(self, order_id: str) -> CancelBody:
        """Cancel one open order."""
        self._check_live()
        return self._transport.call(on.CANCEL_ORDER, path={"order_id": order_id})

    def cancel_market_orders(self, market_id: str, side: str | None = None) -> CancelBody:
        """Cancel the open orders of a market, of one side where it is named."""
        self._check_live()
        query = CancelQuery(side=None if side is None else choice_of(Side, side, "side"))
        return self._transport.call(
            on.CANCEL_MARKET_ORDERS, path={"market_id": market_id}, query=query
        )

    def cancel_all_orders(self) -> CancelBody:
        """Cancel every open order."""
        self._check_live()
        return self._transport.call(on.CANCEL_ALL_ORDERS)

    def _check_live(self) -> None:
        """Keep paper trading away from real orders.

        Raises:
            ValueError: this client trades on paper.
        """
        if not self.live:
            raise ValueError("a client on paper touches no order of the service")

    def import_market(self, url: str) -> ImportBody:
        """List a question of a venue by its address; counts against the day's imports."""
        return self._transport.call(on.IMPORT_MARKET, body=ImportRequest(polymarket_url=url))

    def get_briefing(self, *, since: datetime | None = None) -> BriefingBody:
        """Read the heartbeat. A live client with a signing key also makes its exits."""
        body = super().get_briefing(since=since)
        if self._exits:
            triggered = body.triggered_risk_alerts or ()
            alerts = [one for one in triggered if isinstance(one, RiskAlertBody)]
            sell_for(self._transport, alerts, self._clock.now())
        return body

    def execute_risk_alerts(self) -> list[TradeResult]:
        """Make the exits that wait for a client, once each.

        Returns:
            What became of the sales that were answered; none on paper or without a signing key.
        """
        if not self._exits:
            return []
        return sell_for(self._transport, self.get_risk_alerts(), self._clock.now())

    def dismiss_signal(self, signal_id: str) -> None:
        """Remove a reactor signal, by its id or its transaction hash."""
        self._transport.call(on.DELETE_SIGNAL, path={"signal_id": signal_id})

    def set_monitor(  # noqa: PLR0913  (one keyword a threshold)
        self,
        market_id: str,
        side: str,
        *,
        stop_loss_pct: float | None = None,
        take_profit_pct: float | None = None,
        trailing_stop_pct: float | None = None,
        trailing_stop_points: float | None = None,
        exit_at: float | None = None,
        venue: str | Venue | None = None,
    ) -> MonitorSetBody:
        """Watch a side that is held; a threshold that is left out stays as it is.

        Args:
            market_id: which market.
            side: `yes` or `no`.
            stop_loss_pct: fraction down at which to close, above 0, at most 1.
            take_profit_pct: fraction up at which to close, above 0.
            trailing_stop_pct: fraction below the highest mark at which to close.
            trailing_stop_points: price below the highest mark at which to close.
            exit_at: when to close, Unix seconds.
            venue: where it is held; the service looks for it by default.

        Returns:
            The monitor as it is.

        Raises:
            ValueError: no service would take this; nothing was sent.
            ServiceError: the side is not held, or the market is over.
        """
        self._check_live()
        fields = {
            "side": side,
            "stop_loss_pct": stop_loss_pct,
            "take_profit_pct": take_profit_pct,
            "trailing_stop_pct": trailing_stop_pct,
            "trailing_stop_points": trailing_stop_points,
            "exit_at": exit_at,
            "venue": None if venue is None else venue_of(venue),
        }
        sent = {name: value for name, value in fields.items() if value is not None}
        request = MonitorRequest.model_validate(sent, strict=False)
        return self._transport.call(on.SET_MONITOR, path={"market_id": market_id}, body=request)

    def delete_monitor(
        self, market_id: str, side: str, *, venue: str | Venue | None = None
    ) -> MonitorRemovedBody:
        """Remove the monitor of a side; the position stays."""
        self._check_live()
        where = None if venue is None else venue_of(venue)
        query = MonitorQuery(side=choice_of(Side, side, "side"), venue=where)
        return self._transport.call(on.DELETE_MONITOR, path={"market_id": market_id}, query=query)

    def ensure_can_trade(
        self, amount: float = 0.0, *, venue: str | Venue | None = None
    ) -> Preflight:
        """Check whether `amount` may be spent on a venue now; three reads."""
        where = self.venue if venue is None else venue_of(venue)
        if amount < 0:
            raise ValueError("amount is not below 0")
        return preflight_of(
            Spending(where, amount, self._opening.exposure_cap),
            self._transport.call(on.AGENT, deadline_s=PREFLIGHT_S),
            self._transport.call(on.BRIEFING, deadline_s=PREFLIGHT_S),
            self._transport.call(on.POSITIONS, deadline_s=PREFLIGHT_S).positions,
        )

    def update_settings(
        self,
        *,
        max_trades_per_day: int | None = None,
        max_position_usd: float | None = None,
        default_stop_loss_pct: float | None = None,
        default_take_profit_pct: float | None = None,
        auto_risk_monitor_enabled: bool | None = None,
        trading_paused: bool | None = None,
    ) -> UserSettingsBody:
        """Change risk defaults and limits that are not None. A threshold of 0 is off."""
        changes = UserSettingsPatch(
            max_trades_per_day=max_trades_per_day,
            max_position_usd=max_position_usd,
            default_stop_loss_pct=default_stop_loss_pct,
            default_take_profit_pct=default_take_profit_pct,
            auto_risk_monitor_enabled=auto_risk_monitor_enabled,
            trading_paused=trading_paused,
        )
        return self._transport.call(on.PATCH_USER_SETTINGS, body=changes)

    def update_agent(
        self, *, auto_redeem_enabled: bool | None = None, name: str | None = None
    ) -> AgentSettingsBody:
        """Change the agent's own settings: what is not None."""
        changes = AgentSettingsPatch(auto_redeem_enabled=auto_redeem_enabled, name=name)
        return self._transport.call(on.PATCH_AGENT, body=changes)
