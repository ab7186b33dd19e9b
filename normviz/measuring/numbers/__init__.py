"""The formula of a normalization: statistics, gamma, beta and eps."""
