"""The vault of a start: keys of the data directory and the one of the environment."""

from service_tui.app.options import Options
from service_tui.credentials.system_keyring import system_keyring
from service_tui.credentials.wallet_keys import WalletKeys
from service_tui.desk.vault import Vault
from service_tui.signing.signer import LocalSigner


def vault_of(options: Options) -> Vault:
    """The vault of a desk: the keys of its data directory, and the environment's as its own.

    Returns:
        The vault; nothing is read or loaded yet. A read-only desk has an empty one.

    Raises:
        KeyFormatError: the environment holds a malformed key.
    """
    if options.read_only:
        return Vault()
    signer = LocalSigner(options.wallet_key) if options.wallet_key else None
    return Vault(WalletKeys(options.data_dir, keyring=system_keyring), signer)
