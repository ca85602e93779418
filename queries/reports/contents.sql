-- What the store holds, and how much of it the trajectory does not know yet.
select
    (select count(*) from spans) as spans,
    (select count(distinct trace_id) from spans) as traces,
    (select count(*) from log_records) as log_records,
    (select count(*) from span_conflicts) as span_conflicts,
    (select count(*) from runs) as runs,
    (select count(distinct trace_id) from pending_traces) as pending_traces,
    (select max(received_at) from spans) as last_received_at
