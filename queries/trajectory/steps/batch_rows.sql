-- The raw rows of the batch. Spans of a trace arrive close together, so the rows of a batch lie in a narrow range: told as a range
-- of row numbers, DuckDB reads that part of the tables and no more, however large the store is.
set variable span_rows = (
    select [min(rowid), max(rowid)] from spans where trace_id in (select trace_id from batch_traces)
);
set variable event_rows = (
    select [min(rowid), max(rowid)] from span_events where trace_id in (select trace_id from batch_traces)
);
set variable log_rows = (
    select [min(rowid), max(rowid)] from log_records where trace_id in (select trace_id from batch_traces)
);

create or replace temp view raw_spans as
select *, rowid
from spans
where rowid between getvariable('span_rows')[1] and getvariable('span_rows')[2]
    and trace_id in (select trace_id from batch_traces);

create or replace temp view raw_events as
select *
from span_events
where rowid between getvariable('event_rows')[1] and getvariable('event_rows')[2]
    and trace_id in (select trace_id from batch_traces);

-- A judgement of a run is no part of it: were it, telling the scores of a run to its own trace would make it another run.
create or replace temp view raw_logs as
select *
from log_records
where rowid between getvariable('log_rows')[1] and getvariable('log_rows')[2]
    and trace_id in (select trace_id from batch_traces)
    and event_name is distinct from 'gen_ai.evaluation.result';
