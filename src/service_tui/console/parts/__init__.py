"""Parts that several screens are made of: tables, columns, texts of one noun."""
