"""One approval on its way: signed, broadcast, confirmed.

Knows the steps that every run on the chain has. Must not know which approvals are needed.
Used by desk.handlers.wallet.
"""

from service_tui.desk.facts import Noticed
from service_tui.desk.records_redemption import ChainRunState, Step
from service_tui.desk.run_turn import DONE, RunTurn
from service_tui.signing.chain import Receipt


class Approving(RunTurn):
    """A run that gives one approval of the list."""

    def say(self) -> None:
        """Approvals are shown by the wallet, not among the redemptions."""

    async def finish(self, receipt: Receipt) -> None:
        """Confirmed: it is given."""
        await self.settle(
            DONE,
            done=Step.CONFIRMED,
            state=ChainRunState.DONE,
            words=f"given in block {receipt.block}",
            reason=None,
            fix="",
        )
        self.ports.say(Noticed("good", f"approved: {self.view.question}"))
