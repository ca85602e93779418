"""The archive: raw rows of old traces in Parquet files, beside the database and still part of every table."""
