"""What a tool answers when it cannot do what was asked: a sentence, and what to do."""


class ToolError(Exception):
    """An orderly no. `status` is the service's, where it said no; 0 elsewhere."""

    def __init__(self, problem: str, fix: str = "", *, status: int = 0) -> None:
        super().__init__(f"{problem}; {fix}" if fix else problem)
        self.status = status


class BusyError(ToolError):
    """Another server works in this repository."""
