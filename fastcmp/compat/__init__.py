"""Other libraries' names and signatures on fastcmp's engine: change only the import."""
