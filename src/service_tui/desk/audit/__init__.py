"""What was done and why, as a log, as reports and as files."""
