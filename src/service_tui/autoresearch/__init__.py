"""Autoresearch: experiments on a skill, driven by an MCP client.

The `mcp` package is imported by `protocol` and `frames`, and nowhere else.
"""
