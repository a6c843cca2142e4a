"""Hash curves: precision and recall by Hamming radius and by rank."""
