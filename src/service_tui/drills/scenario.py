"""A scenario: a TOML file with events, their times, and the measures of the result."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from service_tui.drills.kinds import (
    ADVICE,
    AGENT,
    EVERY_ROW,
    FOLLOWED,
    KINDS,
    MARKET,
    POSITION,
    SCORE,
    TOP,
    YOU,
    Kind,
)
from service_tui.drills.values import (
    TEXT,
    Required,
    RowField,
    Value,
    ValueProblem,
    clock_text,
)
from service_tui.toml_lines import TomlError, TomlTable, nearest, read_text, tables

ROWS_MAX: Final = 500
"""Rows of a scenario after its repetitions; no person follows more."""

PROBLEMS_SHOWN: Final = 8
DID: Final = (
    "buy", "sell", "cancel", "halt", "resume", "exit", "stop", "unstop", "mirror", "dismiss",
    "reactor", "approve", "refuse", "leash", "agent", "redeem", "wallet",
)  # fmt: skip
"""What advice can ask of the person's commands."""

_BRACES: Final = re.compile(r"\{(\w+)\}")


class ScenarioError(ValueError):
    """A file that is no scenario; one line for each problem, with its place and the reason."""

    def __init__(self, name: str, problems: Sequence[str]) -> None:
        shown = [f"{name}: {problem}" for problem in problems[:PROBLEMS_SHOWN]]
        if len(problems) > PROBLEMS_SHOWN:
            shown.append(f"{name}: {len(problems) - PROBLEMS_SHOWN} more problems")
        super().__init__("\n".join(shown))
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True)
class Row:
    """One table of a scenario with its values; `kind` where its table has kinds.

    `line` is that of its header, `lines` are those of its keys.
    """

    line: int
    values: Mapping[str, Value]
    kind: str = ""
    lines: Mapping[str, int] = field(default_factory=dict[str, int])

    def has(self, name: str) -> bool:
        """Whether the file or a default gives a value."""
        return name in self.values

    def text(self, name: str) -> str:
        """A value that is a text."""
        return str(self.values[name])

    def number(self, name: str) -> float:
        """A value that is a number."""
        return float(self.values[name])

    def flag(self, name: str) -> bool:
        """A value that is true or false."""
        return bool(self.values[name])

    def line_of(self, name: str) -> int:
        """The line of a key, else of the table."""
        return self.lines.get(name, self.line)

    @property
    def at(self) -> float:
        """Seconds from the start of the drill."""
        return self.number("at")

    def describe(self) -> str:
        """The row as the timeline shows it."""
        if self.has("note"):
            return self.text("note")
        return _BRACES.sub(lambda found: self._put(found[1]), KINDS[self.kind].text)

    def _put(self, name: str) -> str:
        value = self.values.get(name, "")
        if isinstance(value, bool):
            return "yes" if value else "no"
        return f"{value:g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True, slots=True)
class Scenario:
    """A whole scenario; `name` is that of its file. Rows are in the order of their times."""

    name: str
    title: str
    brief: str
    minutes: int
    seed: int
    speed: int
    wallet: str
    score: Row
    markets: tuple[Row, ...] = ()
    agents: tuple[Row, ...] = ()
    positions: tuple[Row, ...] = ()
    follows: tuple[Row, ...] = ()
    events: tuple[Row, ...] = ()
    best: tuple[Row, ...] = ()
    worst: tuple[Row, ...] = ()
    advice: tuple[Row, ...] = ()

    @property
    def length_s(self) -> float:
        """Seconds of the whole drill."""
        return self.minutes * 60.0


@dataclass(frozen=True, slots=True)
class _TableKind:
    """A table that a scenario may have."""

    fields: tuple[RowField, ...]
    most: int = 50
    kind_key: str = ""


_NEEDED: Final = {"market": "a [[market]]", "event": "an [[event]]", "best": "a [[best]] course"}
_ROW: Final = (EVERY_ROW[0], EVERY_ROW[3])
_TABLES: Final[Mapping[str, _TableKind]] = {
    "": _TableKind(TOP, 1),
    "score": _TableKind(SCORE, 1),
    "market": _TableKind(MARKET),
    "agent": _TableKind(AGENT),
    "position": _TableKind(POSITION),
    "follow": _TableKind(FOLLOWED),
    "event": _TableKind(EVERY_ROW, 200, "kind"),
    "best": _TableKind(_ROW, 200, "do"),
    "worst": _TableKind(_ROW, 200, "do"),
    "advice": _TableKind(ADVICE),
}


def read_scenario(path: Path) -> Scenario:
    """The scenario of a file.

    Returns:
        A scenario that can be played.

    Raises:
        ScenarioError: it cannot be read; names each line and the reason.
    """
    try:
        file = read_text(path)
    except TomlError as error:
        raise ScenarioError(path.name, [str(error)]) from None
    if file is None:
        raise ScenarioError(path.name, ["there is no such file"])
    return scenario_of(path.stem, file.text, shown=path.name)


def scenario_of(name: str, text: str, *, shown: str = "") -> Scenario:
    """The scenario of a text; ScenarioError names each line and the reason."""
    shown = shown or name
    try:
        found = tables(text)
    except TomlError as error:
        raise ScenarioError(shown, [str(error)]) from None
    reading = _Reading()
    for table in found:
        reading.take(table)
    reading.check()
    if reading.problems:
        ordered = sorted(reading.problems, key=lambda one: one[0])
        raise ScenarioError(
            shown, [f"line {line}: {why}" if line else why for line, why in ordered]
        )
    return reading.scenario(name)


@dataclass(slots=True)
class _Reading:
    """The tables that were read so far, and what is wrong with them, with its line."""

    rows: dict[str, list[Row]] = field(default_factory=dict[str, list[Row]])
    problems: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    seen: set[str] = field(default_factory=set[str])

    def take(self, table: TomlTable) -> None:
        """Read one table."""
        self.seen.add(table.name)
        known = _TABLES.get(table.name)
        if known is None:
            why = f"no table {table.name}{nearest(table.name, list(_TABLES)[1:])}"
            self.problems.append((table.line, why))
            return
        kind_name, kind, values = "", None, dict(table.values)
        if known.kind_key:
            kind_name, kind = self._kind(table, known.kind_key, values)
            if kind is None:
                return
        fields = known.fields if kind is None else (*known.fields, *kind.fields)
        row = Row(table.line, self._values(table, values, fields), kind_name, table.lines)
        rows = self.rows.setdefault(table.name, [])
        if len(rows) == known.most:
            self.problems.append((table.line, f"more than {known.most} tables {table.name}"))
        rows.append(row)

    def _kind(
        self, table: TomlTable, key: str, values: dict[str, object]
    ) -> tuple[str, Kind | None]:
        """The kind of a row, which is taken out of its values."""
        line = table.lines.get(key, table.line)
        name = values.pop(key, None)
        allowed = [one for one, kind in KINDS.items() if key == "kind" or kind.is_course]
        if name is None:
            self.problems.append((line, f"{key} is missing: one of {', '.join(allowed)}"))
        elif not isinstance(name, str) or name not in allowed:
            word = name if isinstance(name, str) else ""
            hint = nearest(word, allowed) or f": one of {', '.join(allowed)}"
            self.problems.append((line, f"no {key} {_shown(name)}{hint}"))
        else:
            return name, KINDS[name]
        return "", None

    def _values(
        self, table: TomlTable, values: Mapping[str, object], fields: Sequence[RowField]
    ) -> dict[str, Value]:
        known = {one.name: one for one in fields}
        for name in values:
            if name not in known:
                why = f"{name} is no key here{nearest(name, list(known))}"
                self.problems.append((table.lines.get(name, table.line), why))
        read: dict[str, Value] = {}
        for name, one in known.items():
            if name in values:
                try:
                    read[name] = one.type.read(values[name])
                except ValueProblem as problem:
                    line = table.lines.get(name, table.line)
                    self.problems.append((line, f"{name}: {problem}"))
            elif isinstance(one.default, Required):
                self.problems.append((table.line, f"{name} is missing ({one.about})"))
            elif one.default is not None:
                read[name] = one.default
        return read

    # -- rules between tables ------------------------------------------------------------------

    def check(self) -> None:
        """Names that must exist, times within the drill, and what a scenario cannot be without."""
        for name, what in _NEEDED.items():
            if name not in self.seen:
                self.problems.append((0, f"a scenario needs {what}"))
        for names, check in (
            (("market", "agent"), self._check_twin),
            (("position", "event", "best", "worst"), self._check_names),
            (("event", "best", "worst"), self._check_time),
            (("advice",), self._check_advice),
        ):
            for name in names:
                for row in self.rows.get(name, ()):
                    check(name, row)

    def _names(self, table: str) -> list[str]:
        return [row.text("name") for row in self.rows.get(table, ()) if row.has("name")]

    def _check_twin(self, table: str, row: Row) -> None:
        names, name = self._names(table), row.values.get("name")
        if name in names[: self.rows[table].index(row)]:
            self.problems.append((row.line_of("name"), f"two tables {table} have the name {name}"))
        if name == YOU:
            self.problems.append((row.line_of("name"), f"the name {YOU} is taken"))

    def _check_names(self, _: str, row: Row) -> None:
        agents = self._names("agent")
        for key, known in (
            ("market", self._names("market")),
            ("who", [YOU, *agents]),
            ("agent", agents),
        ):
            if row.has(key) and row.text(key) not in known:
                hint = nearest(row.text(key), known) or f": one of {', '.join(known) or 'none'}"
                self.problems.append((row.line_of(key), f"no {key} {row.text(key)}{hint}"))

    def _check_time(self, _: str, row: Row) -> None:
        top = self.rows.get("", ())
        if not row.has("at") or not top or not top[0].has("minutes"):
            return
        length_s = top[0].number("minutes") * 60
        if row.at > length_s:
            why = f"at {clock_text(row.at)} is after the end, {clock_text(length_s)}"
            self.problems.append((row.line_of("at"), why))
        if row.has("every") and row.number("every") <= 0:
            self.problems.append((row.line_of("every"), "every is 0:00: an interval is longer"))
        if row.has("until") and not row.has("every"):
            self.problems.append((row.line_of("until"), "until has no effect without every"))

    def _check_advice(self, _: str, row: Row) -> None:
        for key in ("never", "did"):
            if row.has(key) and row.text(key) not in DID:
                hint = nearest(row.text(key), DID) or f": one of {', '.join(DID)}"
                self.problems.append((row.line_of(key), f"{key}: no command {row.text(key)}{hint}"))
        if (row.has("before") or row.has("after")) and not row.has("did"):
            self.problems.append((row.line, "before and after need did"))

    # -- the result -----------------------------------------------------------------------------

    def scenario(self, name: str) -> Scenario:
        """The scenario; nothing was wrong with it."""
        top = self.rows[""][0]
        score = self.rows.get("score") or [Row(0, _defaults(SCORE))]
        length_s = top.number("minutes") * 60
        return Scenario(
            name=name,
            title=top.text("title"),
            brief=top.text("brief"),
            minutes=int(top.number("minutes")),
            seed=int(top.number("seed")),
            speed=int(top.number("speed")),
            wallet=top.text("wallet"),
            score=score[0],
            markets=tuple(self.rows.get("market", ())),
            agents=tuple(self.rows.get("agent", ())),
            positions=tuple(self.rows.get("position", ())),
            follows=tuple(self.rows.get("follow", ())),
            events=_ordered(_repeated(self.rows.get("event", ()), length_s)),
            best=_course(self.rows.get("best", ())),
            worst=_course(self.rows.get("worst", ())),
            advice=tuple(self.rows.get("advice", ())),
        )


def _shown(value: object) -> str:
    """A value as a message repeats it."""
    try:
        return str(TEXT.read(value))[:40]
    except ValueProblem:
        return "of this type"


def _defaults(fields: Sequence[RowField]) -> dict[str, Value]:
    return {
        one.name: one.default
        for one in fields
        if one.default is not None and not isinstance(one.default, Required)
    }


def _ordered(rows: Sequence[Row]) -> tuple[Row, ...]:
    return tuple(sorted(rows, key=lambda row: row.at))


def _course(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Rows of a course: the person is who does them."""
    own = [
        Row(row.line, {**row.values, **({"by": YOU} if row.has("by") else {})}, row.kind)
        for row in rows
    ]
    return _ordered(own)


def _repeated(rows: Sequence[Row], length_s: float) -> list[Row]:
    """The rows with their repetitions, at most `ROWS_MAX`."""
    return [one for row in rows for one in _times(row, length_s)][:ROWS_MAX]


def _times(row: Row, length_s: float) -> Iterator[Row]:
    yield row
    if not row.has("every"):
        return
    until = min(row.number("until"), length_s) if row.has("until") else length_s
    at = row.at + row.number("every")
    while at <= until:
        yield Row(row.line, {**row.values, "at": at}, row.kind)
        at += row.number("every")
