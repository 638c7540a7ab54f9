"""Installed strategy packages; knows no room above the client."""
