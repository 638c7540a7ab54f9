"""Heavy modules are imported in a thread, before whoever asks goes on."""

import threading
from types import SimpleNamespace

import pytest

from service_tui import loading

MODULE = "a.heavy.module"


async def test_a_module_is_imported_once_in_a_thread_before_it_counts_as_loaded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done: list[tuple[str, bool]] = []
    errors = [ImportError("half of it is missing")]

    def import_module(name: str) -> None:
        done.append((name, threading.current_thread() is threading.main_thread()))
        if errors:
            raise errors.pop()

    monkeypatch.setattr(loading, "importlib", SimpleNamespace(import_module=import_module))
    monkeypatch.setattr(loading, "_loaded", set[str]())
    with pytest.raises(ImportError, match="half of it is missing"):
        await loading.imported(MODULE)
    # What failed is tried again, and what is there is not.
    await loading.imported(MODULE)
    await loading.imported(MODULE)
    assert done == [(MODULE, False)] * 2
