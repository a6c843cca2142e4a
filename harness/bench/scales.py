"""What the numbers of similarities are, in one line for tables and help."""

SCALES = (
    "scales: hamming, levenshtein, manhattan are 1/(1+distance); mahalanobis is an exponent, "
    "0 or less; the others are 0 to 1, cosine of vectors -1 to 1"
)
