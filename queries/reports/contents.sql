-- What the store holds, and how much of it the trajectory does not know yet.
select
    (select count(*) from spans) as spans,
    (select count(distinct trace_id) from spans) as traces,
    (select count(*) from log_records) as log_records,
    (select count(*) from span_conflicts) as span_conflicts,
    (select count(*) from runs) as runs,
    (select count(distinct trace_id) from pending_traces)
    + (
        select count(*)
        from archived_traces
        inner join archive_parts using (part)
        where archive_parts.model_version is distinct from (
            select value::integer from store_meta where key = 'model_version'
        )
    ) as pending_traces,
    (select count(*) from archived_traces) as archived_traces,
    (select count(*) > 0 from store_meta where key = 'compaction_due') as compaction_due,
    greatest(
        (select max(received_at) from spans),
        (select max(received_at) from log_records)
    ) as last_received_at
