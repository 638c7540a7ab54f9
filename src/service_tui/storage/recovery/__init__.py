"""Recovers a damaged database: salvages it, and puts a replacement in its place."""
