"""Commands about webhooks: they move no money."""

from dataclasses import dataclass
from typing import ClassVar

from service_tui.desk.command import Command
from service_tui.terms import WebhookEvent


@dataclass(frozen=True, slots=True)
class ReadWebhooks(Command):
    """Read the webhooks from the service. A reading."""

    kind: ClassVar[str] = "read_webhooks"

    def describe(self) -> str:
        """Describe the command in plain English."""
        return "read the webhooks"


@dataclass(frozen=True, slots=True)
class SetWebhook(Command):
    """Register an address for events; its secret is shown once."""

    kind: ClassVar[str] = "webhook"

    url: str
    events: tuple[WebhookEvent, ...]

    def describe(self) -> str:
        """Describe the command in plain English."""
        return f"notify {self.url}"


@dataclass(frozen=True, slots=True)
class TestWebhook(Command):
    """Send one test delivery now."""

    # Its name begins like that of a class of tests.
    __test__: ClassVar[bool] = False

    kind: ClassVar[str] = "test_webhook"

    webhook_id: str
    url: str

    def describe(self) -> str:
        """Describe the command in plain English."""
        return f"test {self.url}"


@dataclass(frozen=True, slots=True)
class RemoveWebhook(Command):
    """Remove an address, with what waits for it."""

    kind: ClassVar[str] = "remove_webhook"

    webhook_id: str
    url: str

    def describe(self) -> str:
        """Describe the command in plain English."""
        return f"remove {self.url}"
