"""The interactive shell of `spanscore sql`."""
