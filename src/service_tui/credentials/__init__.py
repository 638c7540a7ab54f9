"""Keys of agents, operators, wallets and webhooks: private files, or the system's keyring."""
