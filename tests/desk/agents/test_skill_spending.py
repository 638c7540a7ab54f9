"""The file of what skills have spent today: kept by day, and never guessed."""

from pathlib import Path

import pytest

from service_tui.desk.agents.skill_spending import SPENDING, SkillSpending
from service_tui.units import Micros


def test_the_spending_of_a_day_is_kept_and_that_of_earlier_days_dropped(tmp_path: Path) -> None:
    file = SkillSpending(tmp_path)
    assert file.rows() == {}
    file.keep("rain", 7, Micros(5))
    file.keep("snow", 8, Micros(6))
    file.keep("hail", 8, Micros(0))
    file.keep("snow", 8, Micros(9))
    assert SkillSpending(tmp_path).rows() == {"snow": (8, 9), "hail": (8, 0)}
    assert (tmp_path / SPENDING).stat().st_mode & 0o777 == 0o600


def test_what_is_spent_is_on_the_disk_before_it_takes_the_place_of_the_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = SkillSpending(tmp_path)
    file.keep("rain", 7, Micros(5))
    written: list[str] = []
    before = (tmp_path / SPENDING).read_text()

    def fsync(_: int) -> None:
        assert (tmp_path / SPENDING).read_text() == before
        written.append((tmp_path / f"{SPENDING}.new").read_text())

    monkeypatch.setattr("service_tui.desk.agents.skill_spending.os.fsync", fsync)
    file.keep("rain", 7, Micros(6))
    assert written == [(tmp_path / SPENDING).read_text()]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        '{"rain": 5}',
        '{"rain": [7]}',
        '{"rain": [7, -1]}',
        '{"rain": [-1, 5]}',
        '{"rain": [7, 5.5]}',
        "[" * 100_000,
    ],
    ids=lambda text: text[:20],
)
def test_a_file_that_is_not_ours_is_a_fault_and_stays(tmp_path: Path, text: str) -> None:
    (tmp_path / SPENDING).write_text(text)
    file = SkillSpending(tmp_path)
    with pytest.raises(ValueError, match="cannot read"):
        file.rows()
    with pytest.raises(ValueError, match="cannot read"):
        file.keep("rain", 7, Micros(5))
    assert (tmp_path / SPENDING).read_text() == text
