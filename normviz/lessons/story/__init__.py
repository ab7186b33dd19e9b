"""The story "Why five layers?": the tensors and the states of its figures, and the parts that show them."""
