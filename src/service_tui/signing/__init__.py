"""Signing of orders, messages and transactions; private keys never leave this package.

Imports of Ethereum's libraries stand inside functions: nothing that draws a screen pays for them.
One below eth_account and web3 raises the depth to which Python may recurse to 100,000 for the whole
process. JSON that is nested as deep, from whichever service, would then overrun the stack and end
the program, where it is refused in order otherwise.
"""

import sys
from typing import Final

DEEPEST: Final = sys.getrecursionlimit()
"""What held before any of these libraries was imported."""


def keep_recursion_limit() -> None:
    """Undo what the import of eth_account or web3 has done; called right behind each."""
    sys.setrecursionlimit(DEEPEST)
