"""The pages as values: sentences, tables and figures that every medium draws."""
