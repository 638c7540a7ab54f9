"""The headers of a call, as far as access and idempotency read them."""

from typing import Protocol


class HeaderValues(Protocol):
    """Those of starlette, or of a call that no app has seen."""

    def getlist(self, key: str, /) -> list[str]:
        """Every value of a header, whatever the case of its name."""
        ...
