"""The heartbeat of the service, and the desk's briefing made from it."""
