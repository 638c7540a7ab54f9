"""The composition root: the one room that knows both towers.

`start` is light, for the first paint; `live` imports everything heavy and is itself
imported after it.
"""
