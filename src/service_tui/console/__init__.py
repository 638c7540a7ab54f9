"""What the operator sees and presses. Textual and Rich live here and nowhere else."""
