"""Parts of several screens: tables, columns, texts of one noun."""
