"""A desk full of plausible things, guarded: monitors, alerts, exits and price alerts."""

from dataclasses import replace

from kit.samples.desk import NOW, sample_state
from service_tui.desk.slices.positions import PositionView
from service_tui.desk.slices.risk import (
    AlertState,
    AlertView,
    ExitView,
    MonitorState,
    MonitorView,
    PriceAlertView,
    RiskView,
)
from service_tui.desk.state import DeskState
from service_tui.terms import AlertCondition, MarketStatus, Side
from service_tui.units import Micros, Timestamp

STOPS = (0.2, 0.2, 0.125, None, 0.35, 0.2)
TARGETS = (None, 0.5, 0.4, 0.75, None, 4.0)


def monitor_of(held: PositionView, place: int) -> MonitorView:
    is_open = held.status is MarketStatus.ACTIVE
    return MonitorView(
        market_id=held.market_id,
        question=held.question,
        side=held.side,
        venue=held.venue,
        shares=held.shares,
        cost=held.cost,
        entry=held.average,
        mark=held.mark_price,
        exit_value=held.exit_value,
        stop_loss_pct=STOPS[place % 6],
        take_profit_pct=TARGETS[place % 6],
        automatic=place % 2 == 0,
        state=MonitorState.WATCHING if is_open else MonitorState.CLOSED,
    )


def alert_of(held: PositionView, place: int, state: AlertState) -> AlertView:
    breached = Timestamp(NOW - 700 * (place + 1))
    words = {
        AlertState.PENDING: "its exit comes with the next heartbeat",
        AlertState.FAILED: "refused: the market takes no orders now; tried again in 30 s",
        AlertState.EXECUTED: "sold 51.20 shares for 17.43",
        AlertState.EXPIRED: "its hour passed without an exit: nothing was sold",
    }
    return AlertView(
        alert_id=f"al-{place}",
        market_id=held.market_id,
        question=held.question,
        side=held.side,
        venue=held.venue,
        shares=held.shares,
        reason="stop loss" if place % 2 == 0 else "take profit",
        trigger_price=held.mark_price,
        breached_at=breached,
        expires_at=Timestamp(breached + 3_600),
        state=state,
        detail=words.get(state, ""),
        attempts=place,
        ticket_id="k-0" if state is AlertState.EXECUTED else "",
    )


def exit_of(held: PositionView, place: int) -> ExitView:
    return ExitView(
        exit_id=f"ex-{place}",
        at=Timestamp(NOW - 5_000 * (place + 1)),
        market_id=held.market_id,
        question=held.question,
        side=held.side,
        venue=held.venue,
        shares=held.shares,
        trigger_price=held.mark_price,
        proceeds=Micros(int(held.shares * held.mark_price * 0.98)),
        pnl=Micros((1 - 2 * (place % 2)) * 7_310_000),
        cause="stop loss" if place % 2 else "take profit",
        by_service=place % 2 == 0,
    )


def risk(state: DeskState) -> RiskView:
    held = state.positions
    states = (AlertState.PENDING, AlertState.FAILED, AlertState.EXECUTED, AlertState.EXPIRED)
    watched = list(state.markets.values())[2:6]
    return RiskView(
        monitors=tuple(monitor_of(each, place) for place, each in enumerate(held[:6])),
        alerts=tuple(
            alert_of(each, place, kind)
            for place, (each, kind) in enumerate(zip(held, states, strict=False))
        ),
        exits=tuple(exit_of(each, place) for place, each in enumerate(held[2:6])),
        price_alerts=tuple(
            PriceAlertView(
                alert_id=f"pa-{place}",
                market_id=market.market_id,
                question=market.question,
                side=Side.YES if place % 2 else Side.NO,
                condition=tuple(AlertCondition)[place % 4],
                threshold=0.35 + 0.1 * place,
                created_at=Timestamp(NOW - 9_000 * (place + 1)),
                triggered_at=Timestamp(NOW - 300) if place == 3 else None,
                triggered_price=0.6512 if place == 3 else None,
                # One is kept by the console alone, one was sent and is not answered.
                service_id="" if place in {1, 2} else f"pa{place}",
                sent_at=Timestamp(NOW - 5) if place == 2 else None,
            )
            for place, market in enumerate(watched)
        ),
        executes=True,
    )


def guarded_state(count: int = 80, *, held: int = 7) -> DeskState:
    state = sample_state(count, held=held)
    return replace(state, risk=risk(state))
