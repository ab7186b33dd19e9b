"""Gradients: the Jacobian of a layer and its backward pass, by autograd and by formula, in float64."""
