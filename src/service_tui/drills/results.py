"""The result of a run: its score, what the person did, advice; kept as JSON and as text."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeGuard

from service_tui.desk.slices.drill import DrillLine, DrillResult
from service_tui.drills.kinds import YOU
from service_tui.drills.scenario import Row, Scenario
from service_tui.drills.values import clock_text
from service_tui.plain_files import read_plain
from service_tui.storage.action_log import newest
from service_tui.units import Micros, Timestamp, decimal

FORMAT: Final = 1
FOLDER: Final = "drills"
RESULTS: Final = "results"
LOGGED_MAX: Final = 1_000
SCORE_MAX: Final = 100
WORDS_MAX: Final = 160

_WORDS: Final = {
    "exit all": "exit",
    "watchlist": "reactor",
    "policy": "reactor",
    "breaker": "reactor",
    "agents": "agent",
    "pause": "agent",
    "prepare redemption": "redeem",
    "live": "wallet",
    "monitors": "stop",
}
"""Kinds of the action log by the words of advice, where these differ."""

_SHOWN: Final = frozenset({"intent", "refusal", "unknown"})
"""Rows of the action log that a timeline shows: what was ordered, and what went wrong."""


def score_of(yours: Micros, best: Micros, worst: Micros) -> int:
    """100 for the best course, 0 for the worst, in whole points and never outside."""
    if best <= worst:
        return SCORE_MAX if yours >= best else 0
    part = (yours - worst) / (best - worst)
    return max(0, min(SCORE_MAX, round(SCORE_MAX * part)))


# -- what the person did --------------------------------------------------------------------------


def person_lines(folder: Path, began_at: Timestamp) -> list[tuple[str, DrillLine]]:
    """The person's commands by the action log, each with its word for advice, oldest first."""
    try:
        entries = newest(folder / "actions.jsonl", LOGGED_MAX)
    except OSError:
        return []
    found: list[tuple[str, DrillLine]] = []
    for line in reversed(entries):
        entry = line.entry
        at, what = entry.get("at"), str(entry.get("what", ""))
        is_drill = entry.get("kind") == "drill"
        if entry.get("who") != "person" or what not in _SHOWN or is_drill:
            continue
        at_s = float(at) - began_at if isinstance(at, int | float) else 0.0
        words = " ".join(str(entry.get("words", "")).split())[:WORDS_MAX]
        shown = words if not entry.get("question") else f"{words}: {entry['question']}"
        word = command_word(str(entry.get("kind", "")), words) if what == "intent" else ""
        found.append((word, DrillLine(max(0.0, at_s), YOU, shown)))
    return found


def command_word(kind: str, words: str) -> str:
    """The word by which advice names a command."""
    if kind == "trade":
        return "sell" if words.startswith("sell") else "buy"
    if kind == "monitor":
        return "unstop" if words.startswith("remove") else "stop"
    return _WORDS.get(kind, kind)


def advice_for(scenario: Scenario, did: Sequence[tuple[str, DrillLine]], score: int) -> list[str]:
    """The advice whose conditions all hold."""
    return [row.text("say") for row in scenario.advice if _holds(row, did, score)]


def _holds(row: Row, did: Sequence[tuple[str, DrillLine]], score: int) -> bool:
    if row.has("below") and not score < row.number("below"):
        return False
    if row.has("above") and not score > row.number("above"):
        return False
    if row.has("never") and any(word == row.text("never") for word, _ in did):
        return False
    if not row.has("did"):
        return True
    before = row.number("before") if row.has("before") else float("inf")
    after = row.number("after") if row.has("after") else 0.0
    return any(word == row.text("did") and after <= line.at_s <= before for word, line in did)


# -- kept -----------------------------------------------------------------------------------------


def results_folder(data_dir: Path) -> Path:
    """Where results lie, below the data directory."""
    return data_dir / FOLDER / RESULTS


def run_name(folder: Path, scenario: Scenario, now: Timestamp) -> str:
    """A name for a run that no result has yet."""
    stem = f"{datetime.fromtimestamp(now, UTC):%Y%m%d-%H%M%S}-{scenario.name}"
    names = (stem, *(f"{stem}-{number}" for number in range(2, 1_000)))
    return next(name for name in names if not (folder / f"{name}.json").exists())


def keep(folder: Path, result: DrillResult) -> Path:
    """Write a result as JSON and as text; raises OSError.

    Returns:
        The JSON file.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / f"{result.run}.json"
    _write(path, as_json(result))
    _write(path.with_suffix(".txt"), as_text(result))
    return path


def _write(path: Path, text: str) -> None:
    draft = path.with_name(f".{path.name}.new")
    draft.write_text(text, encoding="utf-8")
    os.replace(draft, path)  # noqa: PTH105  (atomic, whatever stands there)


def kept_results(folder: Path) -> list[DrillResult]:
    """Every result that can be read, newest first."""
    try:
        paths = sorted(folder.glob("*.json"), reverse=True)
    except OSError:
        return []
    return [found for path in paths if (found := read_result(path)) is not None]


def read_result(path: Path) -> DrillResult | None:
    """The result of a file; None where it is none."""
    try:
        return result_of(json.loads(read_plain(path)))
    except (
        OSError,
        LookupError,
        ValueError,
        OverflowError,
        TypeError,
        AttributeError,
        RecursionError,
    ):
        return None


def as_json(result: DrillResult) -> str:
    """A result as JSON, money in whole micros."""
    fields = asdict(result) | {"format": FORMAT, "cost": int(result.cost)}
    return json.dumps(fields, indent=1, sort_keys=True) + "\n"


def result_of(fields: object) -> DrillResult:
    """The result that JSON holds; raises ValueError, KeyError or TypeError for anything else."""
    if not _is_object(fields) or fields.get("format") != FORMAT:
        raise ValueError("no result of a drill")
    score = fields["score"]
    return DrillResult(
        run=str(fields["run"]),
        name=str(fields["name"]),
        title=str(fields["title"]),
        ended_at=Timestamp(float(fields["ended_at"])),
        minutes=int(fields["minutes"]),
        played_s=float(fields["played_s"]),
        figure=str(fields["figure"]),
        currency=str(fields["currency"]),
        yours=Micros(int(fields["yours"])),
        best=Micros(int(fields["best"])),
        worst=Micros(int(fields["worst"])),
        score=None if score is None else int(score),
        lines=tuple(_lines(fields["lines"])),
        best_lines=tuple(_lines(fields["best_lines"])),
        advice=tuple(str(one) for one in fields["advice"]),
    )


def _lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[DrillLine]:
    for row in rows:
        yield DrillLine(float(row["at_s"]), str(row["who"]), str(row["text"]))


def _is_object(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def as_text(result: DrillResult) -> str:
    """A result for a person, as plain text."""
    ended = f"{datetime.fromtimestamp(result.ended_at, UTC):%Y-%m-%d %H:%M} UTC"
    played = f"played {clock_text(result.played_s)} of {result.minutes}:00"
    parts = [
        f"{result.title} ({result.name})",
        f"run {result.run}, {ended}, {played}",
        "",
        *score_lines(result),
        "",
        "What happened",
        *(line_text(line) for line in result.lines),
        "",
        "The best listed course",
        *(line_text(line) for line in result.best_lines),
    ]
    if result.advice:
        parts += ["", "Next time", *(f"  - {one}" for one in result.advice)]
    return "\n".join(parts) + "\n"


def score_lines(result: DrillResult) -> list[str]:
    """The score and the figures that made it."""
    score = "no score: left early" if result.score is None else f"score {result.score} of 100"
    money = f"{result.currency} {result.figure}"
    return [
        score,
        f"  you    {decimal(result.yours):>12,.2f} {money}",
        f"  best   {decimal(result.best):>12,.2f}",
        f"  worst  {decimal(result.worst):>12,.2f}",
        f"  cost   {decimal(result.cost):>12,.2f} against the best listed course",
    ]


def line_text(line: DrillLine) -> str:
    """One line of a timeline."""
    return f"  {clock_text(line.at_s):>5}  {line.who:<12} {line.text}"
