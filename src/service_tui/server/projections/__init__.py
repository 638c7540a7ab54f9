"""Engine values as wire bodies, one file a noun."""
