"""The page Train and eval."""
