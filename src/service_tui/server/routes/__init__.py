"""One file a noun: each maps endpoints to what answers them."""
