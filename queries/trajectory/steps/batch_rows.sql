-- The raw rows of the batch. Spans of a trace arrive close together, so the rows of a batch lie in a narrow range: told as a range
-- of row numbers, DuckDB reads that part of the tables and no more, however large the store is.
set variable first_span = (select min(rowid) from spans where trace_id in (select trace_id from batch_traces));
set variable last_span = (select max(rowid) from spans where trace_id in (select trace_id from batch_traces));
set variable first_event = (select min(rowid) from span_events where trace_id in (select trace_id from batch_traces));
set variable last_event = (select max(rowid) from span_events where trace_id in (select trace_id from batch_traces));
set variable first_log = (select min(rowid) from log_records where trace_id in (select trace_id from batch_traces));
set variable last_log = (select max(rowid) from log_records where trace_id in (select trace_id from batch_traces));

create or replace temp view raw_spans as
select *, rowid
from spans
where rowid between getvariable('first_span') and getvariable('last_span')
    and trace_id in (select trace_id from batch_traces);

create or replace temp view raw_events as
select *
from span_events
where rowid between getvariable('first_event') and getvariable('last_event')
    and trace_id in (select trace_id from batch_traces);

create or replace temp view raw_logs as
select *
from log_records
where rowid between getvariable('first_log') and getvariable('last_log')
    and trace_id in (select trace_id from batch_traces);
