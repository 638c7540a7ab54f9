"""What a run on a history leaves out is there."""

from pathlib import Path

from kit.invented import REASONS

TESTS = Path(__file__).parents[1]


def test_each_test_left_out_on_a_history_exists() -> None:
    missing = [
        start
        for start in REASONS
        for file, _, name in [start.partition("::")]
        if not (TESTS / file).is_file()
        or f"def {name}" not in (TESTS / file).read_text(encoding="utf-8")
    ]
    assert not missing
