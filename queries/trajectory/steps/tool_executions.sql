-- Tool spans, one per execution. A tool span directly inside a tool span of the same name (a transport layer, a second
-- instrumentation) is the same execution told twice: which ones are is settled by their names, before any text is touched.
create or replace temp table tool_executions as
with named_tools as (
    select
        batch_spans.s,
        span_tree.tool_above,
        coalesce(
            span_facts.tool_name,
            case when span_class.convention in ('langfuse', 'mlflow', 'langsmith', 'openinference', 'mastra')
                then regexp_replace(batch_spans.name, '(\.(run|tool|__call__)|^tool: )$', '') end,
            span_facts.entity_name,
            case when batch_spans.name like 'execute\_tool %' escape '\' then substr(batch_spans.name, 14) end,
            case when batch_spans.name like 'running tool: %' then substr(batch_spans.name, 15) end
        ) as tool_name
    from batch_spans
    inner join span_class using (s)
    inner join span_tree using (s)
    inner join span_runs using (s)
    inner join span_facts using (s)
    where span_class.class = 'tool' and not span_tree.is_judged
),
told_once as (
    select *
    from named_tools
    where not exists (
        select 1 from named_tools as outer_tool
        where outer_tool.s = named_tools.tool_above and name_key(outer_tool.tool_name) = name_key(named_tools.tool_name)
    )
),
tools as (
    select
        batch_spans.s,
        span_runs.run_id,
        span_agents.a,
        span_agents.named,
        batch_spans.start_ns,
        batch_spans.start_time,
        batch_spans.duration_ns,
        batch_spans.status_code,
        batch_spans.status_message,
        told_once.tool_above,
        span_class.convention,
        span_facts.subagent_type,
        told_once.tool_name,
        coalesce(span_facts.tool_call_id, as_json(span_facts.tool_result) ->> '$.data.tool_call_id',
            as_json(span_facts.tool_result) ->> '$.output.kwargs.tool_call_id',
            as_json(span_facts.tool_result) ->> '$.output.tool_call_id',
            as_json(span_facts.tool_result) ->> '$.tool_call_id') as tool_call_id,
        unwrapped_arguments(span_facts.tool_arguments) as arguments,
        unwrapped_result(span_facts.tool_result) as result,
        envelope_is_error(span_facts.tool_result) as is_error_envelope,
        coalesce(span_facts.error_type, span_exceptions.exception_type) as error_type,
        coalesce(nullif(batch_spans.status_message, ''), span_facts.error_message, span_exceptions.exception_message) as error_message,
        span_exceptions.s is not null as has_exception,
        lower(span_facts.tool_status) as tool_status,
        span_facts.tool_success,
        span_facts.tool_decision,
        span_facts.tool_deferral,
        span_facts.tool_retry_cause,
        span_facts.failure_stage
    from told_once
    inner join batch_spans using (s)
    inner join span_class using (s)
    inner join span_runs using (s)
    inner join span_facts using (s)
    left join span_agents using (s)
    left join span_exceptions using (s)
),
-- Children that tell of their parent's execution: a step that ran the tool carries the error that the tool span lacks.
child_errors as (
    select
        batch_spans.parent as s,
        any_value(coalesce(span_facts.error_type, 'error')) as error_type,
        any_value(coalesce(nullif(batch_spans.status_message, ''), span_facts.error_message)) as error_message
    from batch_spans
    inner join span_class using (s)
    inner join span_facts using (s)
    where span_class.class = 'node' and span_class.convention = 'claude_code' and batch_spans.status_code = 2
    group by batch_spans.parent
)
select
    tools.* exclude (error_type, error_message),
    coalesce(tools.error_type, child_errors.error_type) as error_type,
    coalesce(tools.error_message, child_errors.error_message) as error_message,
    child_errors.s is not null as has_child_error
from tools
left join child_errors using (s);
