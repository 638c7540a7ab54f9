"""The slices of the state, one file a noun: what is known, and how it changes. Pure."""
