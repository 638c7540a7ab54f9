"""Errors of the autoresearch tools: a sentence, and the fix."""


class ToolError(Exception):
    """A refusal with its fix. `status` is the service's if it refused; else 0."""

    def __init__(self, problem: str, fix: str = "", *, status: int = 0) -> None:
        super().__init__(f"{problem}; {fix}" if fix else problem)
        self.status = status


class BusyError(ToolError):
    """Another server works in this repository."""
