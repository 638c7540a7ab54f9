"""How an agent of this machine registers at the embedded service."""

from rich.text import Text

from service_tui.desk.slices.service import Phase
from service_tui.desk.state import DeskState


def how_to_register(state: DeskState) -> Text:
    """How to register an agent."""
    address = state.service.address
    if not address and state.service.phase is Phase.CONNECTING:
        return Text("Loading the service's address.", "muted")
    if not address:
        return Text("The service has no address yet. Agents cannot connect.", "muted")
    return Text.assemble(
        ("Register an agent of this machine with:\n", "muted"),
        f"curl -s -X POST {address}/api/sdk/agents/register "
        "-H 'Content-Type: application/json' -d '{\"name\": \"my-agent\"}'",
    )
