"""Monitors and price alerts on this desk, and the exits of alerts."""
