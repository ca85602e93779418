-- Spans whose id came before, in the store or in this batch. The verdict on each needs its full content; all other spans
-- pay for two ids in a hash table only.

create or replace temp table repeated_ids as
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
semi join spans using (trace_id, span_id);

-- What happens to a span of the batch that is not simply stored: 'duplicate' or 'conflict'. Empty in the common case.
create or replace temp table set_aside (span_index bigint, verdict varchar);
