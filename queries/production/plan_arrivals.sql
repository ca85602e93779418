-- When the last span or log record of each run that may be scored has come; of a session that may be, those of all its runs.
create or replace temp table plan_arrivals as
with wanted as (
    select plan_runs.run_id, plan_runs.trace_id, plan_runs.session_id, plan_runs.is_finished
    from plan_runs
    where run_id in (select subject_id from plan_subjects where kind = 'run' and verdict in ('scored', 'rescored'))
        or session_id in (select subject_id from plan_subjects where kind = 'session' and verdict in ('scored', 'rescored'))
),
traces as (
    select run_id, trace_id from wanted
    union
    select run_id, trace_id from spanscore.main.llm_calls where run_id in (select run_id from wanted)
    union
    select run_id, trace_id from spanscore.main.tool_calls where run_id in (select run_id from wanted)
    union
    select run_id, trace_id from spanscore.main.agent_invocations where run_id in (select run_id from wanted)
),
received as (
    select trace_id, max(received_at) as received_at
    from spanscore.main.spans
    where trace_id in (select trace_id from traces)
    group by trace_id
    union all
    select trace_id, max(received_at)
    from spanscore.main.log_records
    where trace_id in (select trace_id from traces) and event_name is distinct from 'gen_ai.evaluation.result'
    group by trace_id
),
arrived as (
    select
        traces.run_id,
        max(received.received_at) as received_at,
        bool_or(traces.trace_id in (select trace_id from spanscore.main.pending_traces)) as is_pending
    from traces
    left join received using (trace_id)
    group by traces.run_id
)
select
    wanted.run_id,
    wanted.session_id,
    arrived.received_at,
    not arrived.is_pending and (wanted.is_finished or coalesce(arrived.received_at <= $quiet_before, true)) as is_settled
from wanted
inner join arrived using (run_id);
