-- Spans whose id came before, in the store or in this batch. The verdict on each needs its full content; all other spans
-- pay for their ids in a hash table only. The store is searched by span id, and the trace ids are fetched by row:
-- scanning one column costs 20 ms CPU per million spans stored, scanning both 45 ms.

create or replace temp table repeated_ids as
with same_span_id as (
    select
        spans.trace_id,
        spans.span_id
    from spans
    where spans.rowid in (
        select hits.rowid
        from spans as hits
        where hits.span_id in (select batch_ids.span_id from batch_ids)
    )
)
select
    trace_id,
    span_id
from batch_ids
group by all
having count(*) > 1
union
select
    trace_id,
    span_id
from batch_ids
semi join same_span_id using (trace_id, span_id);

-- What happens to a span of the batch that is not simply stored: 'duplicate' or 'conflict'. Empty in the common case.
create or replace temp table set_aside (span_index bigint, verdict varchar);
