"""Import of recorded markets: files of several sources become one file of ours.

DuckDB reads them, in bounded memory; it is loaded here alone, and by nobody but `history import`.
"""
