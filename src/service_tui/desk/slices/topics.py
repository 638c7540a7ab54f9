"""The topics that the desk polls from the service; each has its own age."""

from enum import StrEnum


class Topic(StrEnum):
    """A topic that is polled; each has its own age."""

    MARKETS = "markets"
    POSITIONS = "positions"
    ACCOUNT = "account"
    BRIEFING = "briefing"
    TRADES = "trades"
    WORLD = "world"
    DETAIL = "detail"
    AGENTS = "agents"
    MONITORS = "monitors"
    REACTOR = "reactor"
    REDEMPTIONS = "redemptions"
    WALLET = "wallet"
    FLEET = "fleet"
    RESEARCH = "research"
    ORDERS = "orders"
    TEAM = "team"
    HOLDINGS = "holdings"
