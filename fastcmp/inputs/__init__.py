"""What users hand in becomes codes, scores and costs, or is refused by name."""
