"""Stores webhook secrets in a file that only the owner of the data directory can read."""

from pathlib import Path
from typing import Final

from service_tui.credentials.api_keys import ApiKeysError, read_private, write_private
from service_tui.storage.errors import StorageError

SECRETS_FILE: Final = "webhooks.json"


class SecretFile:
    """Secrets by webhook id. Blocks."""

    def __init__(self, data_dir: Path) -> None:
        self._path = data_dir / SECRETS_FILE

    def load(self) -> dict[str, str]:
        """The secrets in the file.

        Raises:
            StorageError: it cannot be read.
        """
        try:
            found = read_private(self._path)
        except ApiKeysError as error:
            raise StorageError(str(error)) from error
        return {key: value for key, value in found.items() if isinstance(value, str)}

    def save(self, secrets: dict[str, str]) -> None:
        """Replace the file.

        Raises:
            StorageError: it cannot be written.
        """
        try:
            write_private(self._path, dict(secrets))
        except ApiKeysError as error:
            raise StorageError(str(error)) from error
