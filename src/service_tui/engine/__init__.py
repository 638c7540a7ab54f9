"""The venue as pure arithmetic: deterministic, no I/O, no await, no clock, no global random."""
