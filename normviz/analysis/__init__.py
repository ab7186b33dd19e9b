"""What a layer computes on a tensor: sharing, values, gradients, running statistics, rounding."""
