"""The files with which a pick is put into production."""
