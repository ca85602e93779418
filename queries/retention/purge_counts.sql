-- How much `purged_traces` and `purged_logs` are.
with archived as (
    select
        count(*) as traces,
        coalesce(sum(spans), 0)::bigint as spans,
        coalesce(sum(log_records), 0)::bigint as log_records
    from archived_traces
    where trace_id in (select trace_id from purged_traces)
)
select
    (select count(*) from purged_traces) as traces,
    (select count(*) from spans where trace_id in (select trace_id from purged_traces)) + archived.spans as spans,
    (
        select count(*)
        from log_records
        where trace_id in (select trace_id from purged_traces)
            or log_record_id in (select log_record_id from purged_logs)
    ) + archived.log_records as log_records,
    (select count(distinct run_id) from runs where trace_id in (select trace_id from purged_traces)) as runs,
    (
        select count(*)
        from scores
        where run_id in (select run_id from touched_runs)
            or (grain = 'session' and subject_id in (select session_id from touched_runs))
    ) as scores,
    archived.traces as archived_traces,
    (select count(*) from shared_traces) as shared_traces
from archived
