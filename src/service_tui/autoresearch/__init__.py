"""Autoresearch: experiments on a skill, driven by an MCP client.

Knows client and wire. Must not know a desk, a console or a server.
The `mcp` package is imported by `protocol` and `frames`, and nowhere else.
"""
