"""Agents on this desk: governed, put on a leash, given skills to run."""
