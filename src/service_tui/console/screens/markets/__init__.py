"""Screen 2: markets, filtered and charted."""
