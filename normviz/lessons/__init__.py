"""The pages as data: sentences, tables and figures, which the app, files and notebooks display."""
