"""What a function of a tensor computes, measured from outside: its code is not read."""
