"""Wallets that trade by name, and the signals that agents make of their trades."""
