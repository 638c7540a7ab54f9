"""The command line: its words, and what carries them out."""
