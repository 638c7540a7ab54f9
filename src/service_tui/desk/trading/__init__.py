"""Orders of this desk: sent, judged by their answer, looked up when that is missing."""
