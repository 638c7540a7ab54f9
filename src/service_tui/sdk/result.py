"""Result of a trade, with the field names of the answer."""

from service_tui.client.errors import OutcomeUnknownError
from service_tui.terms import Action, Venue
from service_tui.wire.base import AnyVenue
from service_tui.wire.trades import TradeBody, TradeRequest


class TradeResult(TradeBody):
    """An answer, or the reason why nothing was sent.

    Attributes:
        venue: where the order went, or would have gone.
        skip_reason: why the client itself held the order back; None when it was sent.
        on_paper: filled in memory only (`live=False`).
        client_ref: the reference under which the trade is found in `get_trades`.
    """

    venue: AnyVenue = Venue.SIM
    skip_reason: str | None = None
    on_paper: bool = False
    client_ref: str | None = None

    @property
    def shares_filled(self) -> float:
        """Shares that changed hands."""
        return self.shares_bought or self.shares_sold

    @property
    def fully_filled(self) -> bool:
        """True when nothing of the order is left to be filled."""
        return self.success and 0 < self.shares_requested <= self.shares_filled


class TradeUnknownError(OutcomeUnknownError):
    """The order may have been carried out: look for `client_ref` in the trades, never repeat it."""

    def __init__(self, cause: OutcomeUnknownError, client_ref: str) -> None:
        sentence = f"{cause.sentence}; look for client_ref {client_ref} before trading again"
        super().__init__(sentence, cause.called)
        self.client_ref = client_ref


def answered(body: TradeBody, request: TradeRequest, client_ref: str | None) -> TradeResult:
    """The service's answer as a result."""
    return TradeResult.model_validate({
        **dict(body),
        "venue": request.venue,
        "client_ref": client_ref,
    })


def skipped(request: TradeRequest, skip_reason: str, error: str, fix: str) -> TradeResult:
    """An order that the client held back: nothing was sent."""
    return TradeResult(
        success=False,
        market_id=request.market_id,
        side=request.side,
        shares_requested=request.shares if request.action is Action.SELL else 0.0,
        venue=request.venue,
        skip_reason=skip_reason,
        dry_run=request.dry_run,
        error=error,
        error_code=skip_reason.upper().replace(" ", "_"),
        error_hint=fix,
        fix=fix,
    )
