"""Bounds a scrolling part, so that the rest of its frame stays visible."""

from textual.widget import Widget


def make_room(frame: Widget, body: Widget) -> None:
    """Bound the height of `body`, so that all else of `frame` is on the screen.

    Textual's own `1fr` does not do that within a frame as high as its content.
    """
    others = (child for child in frame.children if child is not body and child.display)
    needed = sum(child.outer_size.height + child.styles.margin.height for child in others)
    room = max(1, frame.screen.size.height - frame.gutter.height - needed)
    bound = body.styles.max_height
    if bound is None or bound.cells != room:
        body.styles.max_height = room
