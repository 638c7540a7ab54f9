"""The difference between two trees, short where little has changed, and how it is applied.

A difference is a tree itself:

    ["r", tree]                          another tree in its place
    ["d", changed, added, removed, ...]  of an object: differences and new entries by key, and the
                                         keys that went; then, if it is another, the order of all:
                                         the keys, or the difference from the order without it
    ["l", runs]                          of a list: [first, count] takes over former entries,
                                         [place, difference] changes one, [tree] is a new entry
"""

import json
from collections.abc import Sequence
from typing import Final, cast

from service_tui.desk.checked_records import Tree, TreeError

_REPLACED: Final = "r"
_OBJECT: Final = "d"
_LIST: Final = "l"

LIST_MAX: Final = 20_000
"""ours: longest list; more than any list of a recorded state has."""

_OBJECT_PARTS: Final = 4
_RUN_PARTS: Final = 2


def difference(before: Tree, after: Tree) -> Tree:
    """What turns one tree into another; None where nothing does."""
    if before is after or _are_same(before, after):
        return None
    if isinstance(before, dict) and isinstance(after, dict):
        return _of_objects(cast("dict[str, Tree]", before), cast("dict[str, Tree]", after))
    if isinstance(before, list) and isinstance(after, list):
        return _of_lists(cast("list[Tree]", before), cast("list[Tree]", after))
    return [_REPLACED, after]


def applied(before: Tree, change: Tree) -> Tree:
    """The tree after a difference; the former one is left as it is.

    Raises:
        TreeError: it is no difference of this tree.
    """
    if change is None:
        return before
    try:
        return _applied(before, change)
    except (IndexError, KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise TreeError("no difference of this tree") from error


def _are_same(before: Tree, after: Tree) -> bool:
    # 1, 1.0 and True are equal in Python, and are drawn differently.
    return type(before) is type(after) and not isinstance(before, dict | list) and before == after


def _of_objects(before: dict[str, Tree], after: dict[str, Tree]) -> Tree:
    changed: dict[str, Tree] = {}
    for key, entry in before.items():
        if key in after:
            change = difference(entry, after[key])
            if change is not None:
                changed[key] = change
    added = {key: entry for key, entry in after.items() if key not in before}
    removed = [key for key in before if key not in after]
    parts: list[Tree] = [_OBJECT, changed, added, removed]
    order: list[Tree] = [key for key in before if key in after] + list(added)
    if order != list(after):
        parts.append(_of_lists(order, list(after)))
    elif not (changed or added or removed):
        return None
    return parts


def _of_lists(before: list[Tree], after: list[Tree]) -> Tree:
    runs: list[Tree] = []
    # Former entries by their text, made only for a list in which something moved.
    places: dict[str, int] | None = None
    cursor = 0
    for entry in after:
        if cursor < len(before):
            change = difference(before[cursor], entry)
            if change is None:
                _take_over(runs, cursor)
                cursor += 1
                continue
        else:
            change = None
        places = _places(before) if places is None else places
        found = places.get(_text(entry))
        if found is not None:
            # Before any likeness: rows that moved by one place may all begin alike.
            _take_over(runs, found)
            cursor = found + 1
        elif change is not None and _is_same_row(before[cursor], entry):
            runs.append([cursor, change])
            cursor += 1
        else:
            runs.append([entry])
    if runs == [[0, len(before)]] or not (runs or before):
        return None
    return [_LIST, runs]


def _take_over(runs: list[Tree], place: int) -> None:
    last: list[Tree] = runs[-1] if runs else []
    follows = len(last) == _RUN_PARTS and type(last[1]) is int and last[0] + last[1] == place
    if follows:
        last[1] += 1
    else:
        runs.append([place, 1])


def _places(entries: Sequence[Tree]) -> dict[str, int]:
    # The first of equal ones.
    return {_text(entry): place for place, entry in reversed(list(enumerate(entries)))}


def _text(entry: Tree) -> str:
    return json.dumps(entry, separators=(",", ":"))


def _is_same_row(before: Tree, after: Tree) -> bool:
    """Whether two entries describe the same thing: records that begin alike."""
    if not (isinstance(before, dict) and isinstance(after, dict)):
        return False
    former, newer = cast("dict[str, Tree]", before), cast("dict[str, Tree]", after)
    first = next(iter(former), None)
    return first is not None and first in newer and former[first] == newer[first]


def _applied(before: Tree, change: list[Tree]) -> Tree:
    kind = change[0]
    if kind == _REPLACED:
        return change[1]
    if kind == _OBJECT and isinstance(before, dict):
        return _changed_object(cast("dict[str, Tree]", before), change)
    if kind == _LIST and isinstance(before, list):
        return _changed_list(cast("list[Tree]", before), change[1])
    raise TreeError("no difference of this tree")


def _changed_object(before: dict[str, Tree], change: list[Tree]) -> Tree:
    result = {key: entry for key, entry in before.items() if key not in change[3]}
    for key, inner in change[1].items():
        result[key] = _applied(result[key], inner)
    result.update(change[2])
    if len(change) > _OBJECT_PARTS:
        result = {key: result[key] for key in _order(list(result), change[_OBJECT_PARTS])}
    return result


def _order(keys: list[str], change: list[Tree]) -> list[Tree]:
    """The order of an object's keys; older records hold them all."""
    if len(change) == _RUN_PARTS and isinstance(change[1], list):
        return _changed_list(keys, cast("list[list[Tree]]", change[1]))
    return change


def _changed_list(before: list[Tree], runs: list[list[Tree]]) -> Tree:
    result: list[Tree] = []
    for run in runs:
        if len(result) > LIST_MAX:
            raise TreeError("a list without end")
        if len(run) != _RUN_PARTS:
            result.append(run[0])
            continue
        place, what = run
        if not 0 <= place < len(before):
            raise TreeError("no difference of this tree")
        if isinstance(what, list):
            result.append(_applied(before[place], cast("list[Tree]", what)))
        elif 0 < what <= len(before) - place:
            result.extend(before[place : place + what])
        else:
            raise TreeError("no difference of this tree")
    return result
