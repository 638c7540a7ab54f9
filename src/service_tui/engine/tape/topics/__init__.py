"""What markets are about: tables of texts, one file a category."""
