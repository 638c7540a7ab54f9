"""Heavy modules, imported in a thread when they are needed."""

import asyncio
import importlib

_loaded: set[str] = set()


async def imported(module: str) -> None:
    """Import a module in a thread, once; afterwards an import of it costs nothing."""
    # Not `sys.modules`: a module that another thread is still importing stands there, too.
    if module not in _loaded:
        await asyncio.to_thread(importlib.import_module, module)
        _loaded.add(module)
