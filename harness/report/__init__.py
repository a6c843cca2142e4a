"""What a study leaves for people and scripts to read."""
