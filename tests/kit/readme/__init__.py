"""The pictures of the README: exported screens, redrawn so that charts are whole lines."""
