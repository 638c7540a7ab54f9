"""The console: screens, keys and dialogs. No other package imports Textual or Rich."""
