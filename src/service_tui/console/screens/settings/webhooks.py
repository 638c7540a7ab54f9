"""Webhooks: the list of addresses that the service notifies, and the form of a new one."""

from collections.abc import Mapping
from typing import ClassVar, Final
from urllib.parse import urlsplit

from rich.text import Text
from textual.app import App
from textual.binding import BindingType

from service_tui.console import formats
from service_tui.console.fields import Field, FieldError
from service_tui.console.forms.cursor_list import CursorList
from service_tui.console.forms.form import Form, OptionsRow, OptionsState, Shown
from service_tui.console.forms.secret import Secret
from service_tui.console.keys import bindings_of, with_keys
from service_tui.console.messages import CommandGiven
from service_tui.desk.commands.settings import Forget
from service_tui.desk.commands.webhooks import (
    ReadWebhooks,
    RemoveWebhook,
    SetWebhook,
    TestWebhook,
)
from service_tui.desk.slices.agents import RevealedView
from service_tui.desk.slices.webhooks import WebhookView
from service_tui.desk.state import DeskState
from service_tui.terms import URL_MAX, WEBHOOK_FAILURES_MAX, WebhookEvent
from service_tui.units import Timestamp

_EVENT_NAMES: Final = {
    WebhookEvent.TRADE_EXECUTED: "trades",
    WebhookEvent.MARKET_RESOLVED: "resolutions",
    WebhookEvent.PRICE_MOVEMENT: "price moves",
    WebhookEvent.WINDOW_OPEN: "new fast markets",
    WebhookEvent.PRICE_ALERT: "price alerts",
    WebhookEvent.AGENT_ALERT: "alerts on agents",
}
_CHOICES: Final = (
    ("everything", tuple(WebhookEvent)),
    ("trades", (WebhookEvent.TRADE_EXECUTED, WebhookEvent.MARKET_RESOLVED)),
    ("prices", (WebhookEvent.PRICE_MOVEMENT, WebhookEvent.PRICE_ALERT)),
    ("agents", (WebhookEvent.AGENT_ALERT,)),
)
"""What an address can be notified of, by the label of the choice."""

_NONE: Final = (
    "No webhooks.\n\n{webhooks.new} adds the address of your program. The service sends it "
    "this agent's trades, resolutions and price alerts, signed."
)
_UNKNOWN: Final = "Loading webhooks..."


class WebhookList(CursorList[None, WebhookView]):
    """The addresses that are notified."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("webhooks")]

    name_in_keys: ClassVar[str] = "webhooks"
    title_text: ClassVar[str] = "Webhooks"
    lines_of_a_row: ClassVar[int] = 2

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        super().__init__(state, now)
        self._shown: RevealedView | None = None

    def on_mount(self) -> None:
        """Show the known rows, and read them again."""
        super().on_mount()
        self.post_message(CommandGiven(ReadWebhooks()))

    def take(self, state: DeskState, now: Timestamp) -> None:
        """Receive a newer state; the secret of a new webhook gets a page of its own."""
        super().take(state, now)
        revealed = state.revealed
        if revealed is None or not revealed.is_webhook or revealed == self._shown:
            return
        # Not above a form: what is typed there would go to the secret.
        if self.is_active:
            self._shown = revealed
            self._app().push_screen(Secret(revealed), self._forget)

    def rows(self) -> tuple[WebhookView, ...]:
        """The webhooks, oldest first."""
        known = self.state.webhooks
        return () if known is None else known.rows

    def key_of(self, row: WebhookView) -> str:
        """The webhook's id."""
        return row.webhook_id

    def action_new(self) -> None:
        """Add an address."""

        def written(order: SetWebhook | None) -> None:
            if order is not None:
                self.post_message(CommandGiven(order))

        self._app().push_screen(WebhookForm(self.state, self.now), written)

    def action_test(self) -> None:
        """Send a test delivery to the address under the cursor."""
        row = self.row_or_toast()
        if row is not None:
            self.post_message(CommandGiven(TestWebhook(row.webhook_id, row.url)))

    def action_remove(self) -> None:
        """Remove the address under the cursor; it is added again in a moment."""
        row = self.row_or_toast()
        if row is not None:
            self.post_message(CommandGiven(RemoveWebhook(row.webhook_id, row.url)))

    def text(self) -> Text:
        """The webhooks, or why none is listed."""
        known = self.state.webhooks
        lines = [self._lines(row) for row in self.rows()]
        if known is not None and known.problem:
            lines.append(Text.assemble(("not loaded: ", "warn"), formats.plain(known.problem)))
        elif known is None or known.at is None:
            lines.append(Text(_UNKNOWN, "muted"))
        elif not lines:
            lines.append(Text(with_keys(_NONE), "muted"))
        return Text("\n").join(lines)

    def _lines(self, row: WebhookView) -> Text:
        """Two lines: the address, then its events and how its deliveries go."""
        is_here = row.webhook_id == self.at
        mark = ("▌ " if is_here else "  ", "accent")
        events = ", ".join(_EVENT_NAMES[event] for event in row.events) or "price alerts only"
        return Text.assemble(
            mark,
            Text(formats.plain(row.url, URL_MAX).plain, "bold" if is_here else ""),
            ("\n", ""),
            mark,
            self._health(row),
            (f"  {events}", "muted"),
        )

    def _health(self, row: WebhookView) -> Text:
        if not row.is_active:
            line = f"disabled after {WEBHOOK_FAILURES_MAX} failures: {row.error}"
            return Text(formats.plain(line).plain, "loss")
        if row.failures:
            line = f"{row.failures} failed, {row.waiting} waiting: {row.error}"
            return Text(formats.plain(line).plain, "warn")
        if row.last_delivery_at is None:
            return Text("no delivery yet", "muted")
        return Text.assemble("delivered ", formats.age(row.last_delivery_at, self.now), " ago")

    def _forget(self, _: None) -> None:
        # A newer secret that came meanwhile has not been seen yet.
        if self.state.revealed == self._shown:
            self.post_message(CommandGiven(Forget()))

    def _app(self) -> App[object]:
        app: App[object] = self.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - untyped
        return app


def parse_url(text: str) -> str:
    """The typed address; FieldError with the fix."""
    url = text.strip()
    if not url:
        raise FieldError("enter the address of your program, as http://127.0.0.1:9000/in")
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise FieldError("not an address") from error
    if parts.scheme not in {"https", "http"} or not parts.hostname:
        raise FieldError("start with https://, or with http:// on this machine")
    if not url.isascii() or not url.isprintable() or " " in url:
        raise FieldError("invalid characters in the address")
    return url


URL: Final = Field(
    "webhook-url",
    "address",
    parse_url,
    None,
    "https://my.example/in, or http://127.0.0.1:9000/in",
    URL_MAX,
    "wide",
)
EVENTS: Final = OptionsRow("webhook-events", "events")


class WebhookForm(Form[SetWebhook]):
    """Adds a webhook."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("webhook_form")]

    heading: ClassVar[str] = "Webhook"
    hint: ClassVar[str] = "{webhook.events} events  {form.cancel} leaves"
    body = ("form-question", URL, EVENTS, "form-preview", "form-hint")

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        super().__init__(state, now)
        self._choice = 0

    def validate(self) -> SetWebhook:
        """The typed webhook."""
        return SetWebhook(self.read(URL), _CHOICES[self._choice][1])

    def describe(self, result: SetWebhook | None) -> Mapping[str, Shown]:
        """The events, and the signature."""
        del result
        names = ", ".join(_EVENT_NAMES[event] for event in _CHOICES[self._choice][1])
        return {
            "form-question": "The service notifies your program of each event.",
            EVENTS.name: OptionsState(tuple(label for label, _ in _CHOICES), self._choice),
            "form-preview": Text(names),
            "form-hint": Text(
                "Deliveries are signed. The next page shows the secret once.", "muted"
            ),
        }

    def choose(self, name: str, index: int) -> None:
        """Select the events."""
        del name
        self._choice = index
        self.refresh_form()

    def action_events(self) -> None:
        """Select the next choice of events."""
        self.choose(EVENTS.name, (self._choice + 1) % len(_CHOICES))
