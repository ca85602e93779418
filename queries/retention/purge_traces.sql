-- Traces whose id, or whose run's id, begins with one of `$prefixes`; where a prefix is the whole id of a trace, that trace alone.
with matches as (
    select distinct trace_id, prefix
    from (
        select trace_id, trace_id as id from spans
        union
        select trace_id, trace_id as id from log_records where trace_id is not null
        union
        select trace_id, trace_id as id from archived_traces
        union
        select trace_id, trace_id as id from span_conflicts
        union
        select trace_id, run_id as id from runs
    ) as named
    inner join (select unnest($prefixes::varchar[]) as prefix) as wanted on starts_with(named.id, wanted.prefix)
)
select trace_id, prefix
from matches
where trace_id = prefix
    or prefix not in (select trace_id from matches)
