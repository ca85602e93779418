"""SQL of users in a process of its own, which the operating system bounds and which can be killed.

DuckDB's own limits do not hold everywhere: `repeat('x', 4000000000)` allocates past `memory_limit`, and a
`regexp_replace` of a huge text runs past `max_execution_time` and `interrupt()` (measured with DuckDB 2.0.1). So text
that spanscore did not write runs in a worker: no environment, no files but those of the store, nothing written, memory
and processor time bounded, and killed when it is late. Modules that the caller imports load no DuckDB: while the worker
loads it, the caller loads the rest.
"""
