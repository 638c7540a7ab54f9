"""One file a noun: `async def place_trade(command, ports)` turns a command into facts."""
