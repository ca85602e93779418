-- Who and what each run is: identity from its top spans, times and quality marks from all of them. The span that the harness of
-- a benchmark puts around a trial lends the run its identity, and neither its name nor its times unless the trial failed there.
create or replace temp table run_spans as
select
    span_runs.run_id,
    batch_spans.s,
    batch_spans.trace_id,
    batch_spans.span_id,
    batch_spans.parent,
    batch_spans.parent_span_id,
    batch_spans.name,
    batch_spans.flags,
    batch_spans.start_ns,
    batch_spans.end_ns,
    batch_spans.start_time,
    batch_spans.end_time,
    batch_spans.status_code,
    batch_spans.status_message,
    batch_spans.service_name,
    batch_spans.dropped_attributes_count,
    span_class.class,
    span_class.convention,
    span_tree.depth,
    span_tree.top = batch_spans.s as is_top,
    -- A span whose parent lives in another process is where a trace enters this service, not an orphan; the parent of one that a
    -- cycle was opened at is here.
    batch_spans.parent_span_id is not null and batch_spans.parent is null
        and (coalesce(batch_spans.flags, 0) & 768) <> 768
        and batch_spans.s not in (select root from cycles) as is_orphan
from span_runs
inner join batch_spans using (s)
inner join span_class using (s)
inner join span_tree using (s);

create or replace temp table run_identity as
select
    run_spans.run_id,
    arg_min(run_spans.trace_id, run_spans.s) as trace_id,
    min(run_spans.start_time) filter (where own.is_own) as started_at,
    max(run_spans.end_time) filter (where own.is_own) as ended_at,
    case
        when bool_and(run_spans.start_ns > 0 and run_spans.end_ns >= run_spans.start_ns)
            then (max(run_spans.end_ns) filter (where own.is_own) - min(run_spans.start_ns) filter (where own.is_own)) / 1e9
    end as duration_s,
    count(*) as spans,
    md5(string_agg(run_spans.trace_id || run_spans.span_id, ',' order by run_spans.s)) as span_fingerprint,
    count(*) filter (where run_spans.is_orphan) as orphan_spans,
    bool_or(run_spans.end_ns = 0) or bool_or(span_facts.logfire_span_type = 'pending_span') as is_running,
    arg_min(run_spans.service_name, run_spans.s) as service_name,
    list(distinct run_spans.convention order by run_spans.convention) filter (where run_spans.convention is not null)
        as conventions,
    arg_min(span_facts.session_id, (run_spans.depth, run_spans.s)) as session_id,
    arg_min(span_facts.conversation_id, (run_spans.depth, run_spans.s)) as conversation_id,
    arg_min(span_facts.user_id, (run_spans.depth, run_spans.s)) as user_id,
    arg_min(span_facts.experiment_id, (run_spans.depth, run_spans.s)) as experiment_id,
    arg_min(span_facts.suite_name, (run_spans.depth, run_spans.s)) as suite_name,
    arg_min(span_facts.suite_version, (run_spans.depth, run_spans.s)) as suite_version,
    arg_min(span_facts.case_id, (run_spans.depth, run_spans.s)) as case_id,
    arg_min(try_cast(span_facts.trial as integer), (run_spans.depth, run_spans.s)) as trial,
    arg_min(span_facts.variant, (run_spans.depth, run_spans.s)) as variant,
    arg_min(coalesce(span_facts.workflow_name, span_facts.display_name, run_spans.name), (run_spans.depth, run_spans.s))
        filter (where own.is_own) as name,
    arg_min(span_facts.trace_input, run_spans.s) as trace_input,
    arg_min(span_facts.trace_output, run_spans.s) as trace_output
from run_spans
inner join span_facts using (s)
cross join lateral (select span_facts.trial_outcome is distinct from 'ok' as is_own) as own
group by run_spans.run_id;
