from service_tui.signing.signer import LocalSigner


class CountingSigner:
    """A signer that counts how often it was asked."""

    def __init__(self, key: str = "4c" * 32) -> None:
        self._own = LocalSigner(key)
        self.signatures = 0

    @property
    def address(self) -> str:
        return self._own.address

    def sign(self, digest: bytes) -> bytes:
        self.signatures += 1
        return self._own.sign(digest)
