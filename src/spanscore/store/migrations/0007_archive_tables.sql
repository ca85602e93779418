-- Which traces have moved to Parquet files of the store directory. The files are the rows, these tables say which of them count.

create table archive_parts (
    part varchar not null,
    day date not null,
    traces bigint not null,
    schema_version integer not null,
    model_version integer,
    archived_at timestamp not null
);

comment on table archive_parts is 'One row per archive part: whole traces of one day, in a Parquet file for each raw table.';
comment on column archive_parts.part is 'Name of the part; its files carry it.';
comment on column archive_parts.day is 'Day on which its traces began [UTC].';
comment on column archive_parts.traces is 'Traces in its files, those that have come back included [count].';
comment on column archive_parts.schema_version is 'Schema of the store when it was written: which columns its files have.';
comment on column archive_parts.model_version is
    'Model of the trajectories of its traces; another than that of the store: they wait to be derived again.';
comment on column archive_parts.archived_at is 'When it was written [UTC].';

create table archive_files (
    part varchar not null,
    table_name varchar not null,
    path varchar not null,
    row_count bigint not null,
    bytes bigint not null,
    sha256 varchar not null
);

comment on table archive_files is 'One row per Parquet file of the archive. A file in the folder that is not here does not count.';
comment on column archive_files.part is 'Row of archive_parts.';
comment on column archive_files.table_name is 'Raw table whose rows it holds.';
comment on column archive_files.path is 'Path in the store directory.';
comment on column archive_files.row_count is 'Rows in it [count].';
comment on column archive_files.bytes is 'Size [bytes].';
comment on column archive_files.sha256 is 'SHA-256 of its bytes, lower-case hex.';

create table archived_traces (
    trace_id varchar not null,
    part varchar not null,
    spans bigint not null,
    log_records bigint not null,
    last_at timestamp_ns
);

comment on table archived_traces is 'One row per trace whose raw rows are in the archive and not in the database file.';
comment on column archived_traces.trace_id is 'Trace, 32 lower-case hex digits.';
comment on column archived_traces.part is 'The part that holds it.';
comment on column archived_traces.spans is 'Its spans [count].';
comment on column archived_traces.log_records is 'Its log records [count].';
comment on column archived_traces.last_at is 'End of its last span or log record, or when that arrived if it says later or nothing [UTC].';

create table archive_returned (
    trace_id varchar not null,
    part varchar not null
);

comment on table archive_returned is 'Traces that went from the archive back into the database, as spans of them arrived: their rows in the files do not count.';
comment on column archive_returned.trace_id is 'Trace, 32 lower-case hex digits.';
comment on column archive_returned.part is 'The part whose rows of it do not count.';

comment on table ingest_accounting is 'What became of everything received: per load and signal, received = stored + duplicate + conflict + rejected. Of what was stored, the purged is gone.';
comment on column ingest_accounting.outcome is
    'received, stored, duplicate (known already, same content), conflict (known already, other content), rejected, or purged (stored before, and deleted on demand).';
