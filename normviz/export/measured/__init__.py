"""What is measured of functions and models, as views."""
