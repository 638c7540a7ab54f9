"""The terminal desk for people who supervise trading agents.

Two towers stand on one protocol. On the operator's side `console` shows what `desk` knows and
`desk` talks HTTP through `client`; on the service's side `server` speaks HTTP for `engine`. They
share only `wire` (what is said), `terms` and `units` (the words), and meet in one room, `wiring`,
which hands the embedded server's transport to the desk. State flows down, commands flow up, and
every noun bears the same file name on each floor.
"""

__version__ = "0.1.0"
