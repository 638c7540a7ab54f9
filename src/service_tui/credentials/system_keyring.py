"""The keyring of the system, if there is one: passphrases, and keys of other services."""

from typing import Final, Protocol

KEYRING_SERVICE: Final = "service-tui"
NO_KEYRING: Final = "no system keyring: pip install 'service-tui[keyring]'"


class Keyring(Protocol):
    """A store of passphrases; the methods of the library `keyring`."""

    def get_password(self, _service_name: str, _username: str, /) -> str | None:
        """The passphrase of a name."""
        ...

    def set_password(self, _service_name: str, _username: str, _password: str, /) -> None:
        """Store a passphrase."""
        ...

    def delete_password(self, _service_name: str, _username: str, /) -> None:
        """Delete a passphrase."""
        ...


def system_keyring() -> Keyring | None:
    """The system's keyring; None if it has none or the extra is not installed.

    Returns:
        A store of passphrases. It blocks, and may prompt the person.
    """
    try:
        import keyring  # noqa: PLC0415
        from keyring.backends import fail  # noqa: PLC0415
    except ImportError:
        return None
    backend = keyring.get_keyring()
    return None if isinstance(backend, fail.Keyring) else backend
