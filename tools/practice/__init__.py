"""Makes and checks the bank of exercises of the page Practice."""
