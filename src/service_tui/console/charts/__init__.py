"""Charts as data and as lines of text; `forms/chart.py` shows them."""
