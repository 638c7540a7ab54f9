"""How a person proves to own an agent or a wallet: codes, the page, the texts to sign."""
