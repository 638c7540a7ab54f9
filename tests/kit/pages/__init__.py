"""The pages of docs/ that are made from the source. `make docs` writes them; tests compare them."""
