"""Screen 3: monitors, alerts and exits."""
