"""Orders of this desk: sent, checked against their answers, looked up if those are missing."""
