-- Executions and requests joined: by call id where both have one, else by tool name in order of time. What ran is a tool
-- call; a request that nothing ran is kept in `tool_requests` with the reason.
create or replace temp table tool_matches as
with by_id as (
    select tool_executions.s, tool_requests_found.request_key, tool_requests_found.run_id
    from tool_executions
    inner join tool_requests_found
        on tool_requests_found.run_id = tool_executions.run_id
        and tool_requests_found.tool_call_id = tool_executions.tool_call_id
),
open_executions as (
    select
        s, run_id, name_key(tool_name) as tool_key,
        row_number() over (partition by run_id, name_key(tool_name) order by start_ns, s) as nth
    from tool_executions
    where s not in (select s from by_id)
),
open_requests as (
    select
        run_id, request_key, name_key(tool_name) as tool_key,
        row_number() over (partition by run_id, name_key(tool_name) order by start_ns, llm_s, place) as nth
    from tool_requests_found
    where (run_id, request_key) not in (select (run_id, request_key) from by_id)
)
select s, request_key, run_id from by_id
union all
select open_executions.s, open_requests.request_key, run_id
from open_executions
inner join open_requests using (run_id, nth)
where open_executions.tool_key = open_requests.tool_key
    or regexp_matches(open_executions.tool_key, open_requests.tool_key || '$');

create or replace temp table tool_rows as
with merged as (
    select
        coalesce(tool_executions.run_id, tool_requests_found.run_id) as run_id,
        tool_executions.s,
        tool_requests_found.request_key,
        tool_executions.s is not null as has_span,
        tool_requests_found.request_key is not null as requested,
        coalesce(tool_executions.a, tool_requests_found.a) as a,
        tool_executions.named,
        tool_requests_found.llm_s,
        coalesce(tool_executions.tool_name, tool_requests_found.tool_name) as tool_name,
        tool_requests_found.tool_name as requested_name,
        coalesce(tool_requests_found.tool_call_id, tool_executions.tool_call_id) as call_id,
        -- Arguments as JSON from either side: an emitter may write a bare value or a language's own notation on the span.
        case
            when json_type(as_json(tool_executions.arguments)) = 'OBJECT' then tool_executions.arguments
            when json_type(as_json(tool_requests_found.arguments)) = 'OBJECT' then tool_requests_found.arguments
            else coalesce(tool_executions.arguments, tool_requests_found.arguments)
        end as arguments,
        -- A limit cuts off the long document of a span before the short one of a message.
        case
            when is_cut_json(tool_executions.result) and as_json(tool_executions.result) is null and tool_requests_found.response is not null
                then tool_requests_found.response
            else coalesce(tool_executions.result, tool_requests_found.response)
        end as result,
        tool_executions.is_error_envelope,
        coalesce(tool_executions.start_ns, tool_requests_found.start_ns) as start_ns,
        tool_executions.start_time,
        tool_executions.duration_ns,
        tool_executions.convention,
        tool_executions.subagent_type,
        tool_executions.status_code,
        tool_executions.error_type,
        tool_executions.error_message,
        coalesce(tool_executions.has_exception, false) as has_exception,
        coalesce(tool_executions.has_child_error, false) as has_child_error,
        tool_executions.tool_status,
        tool_executions.tool_success,
        tool_executions.tool_decision,
        tool_executions.tool_deferral,
        tool_executions.failure_stage,
        coalesce(tool_requests_found.is_error, false) as response_is_error,
        tool_requests_found.response,
        tool_requests_found.place
    from tool_executions
    left join tool_matches using (s)
    full join tool_requests_found
        on tool_requests_found.run_id = tool_matches.run_id and tool_requests_found.request_key = tool_matches.request_key
),
judged as (
    select
        *,
        case
            when regexp_matches(coalesce(error_type, '') || ' ' || coalesce(error_message, ''),
                '(?i)GraphBubbleUp|GraphInterrupt|ParentCommand|HandoffException|Command\(graph') then null
            when regexp_matches(coalesce(error_type, ''), '(?i)cancell?ed|GeneratorExit') then null
            when status_code = 2 or has_exception then 'span_status'
            when has_child_error then 'span_status'
            when error_type is not null or tool_status in ('error', 'failure', 'failed') or tool_success = 'false' then 'attribute'
            when response_is_error or is_error_envelope then 'result_flag'
            when is_error_text(coalesce(result, response)) or is_error_text(response) then 'result'
        end as error_source
    from merged
)
select
    judged.*,
    case
        when tool_decision in ('reject', 'denied', 'deny') then 'denied'
        when tool_deferral is not null then 'deferred'
        -- The tool does not exist: nobody could run it.
        when (error_source is not null or not has_span) and offered.run_id is not null and tool_schemas.run_id is null
            and not is_transfer_tool(judged.tool_name) and not is_delegation_tool(judged.tool_name) then 'unknown_tool'
        when (error_source is not null or not has_span) and is_unknown_tool_text(coalesce(error_message, result, response))
            then 'unknown_tool'
        -- The arguments break the tool's own schema, and the answer is an error: the framework refused them.
        when failure_stage = 'validation' then 'invalid_arguments'
        when error_source is not null and tool_schemas.has_schema and json_type(as_json(arguments)) = 'OBJECT' and (
            len(list_filter(tool_schemas.required, lambda k: not list_contains(json_keys(as_json(arguments)), k))) > 0
        ) then 'invalid_arguments'
        when error_source is not null
            and is_invalid_arguments_text(coalesce(error_type, '') || ' ' || coalesce(error_message, '') || ' ' || coalesce(result, response, ''))
            then 'invalid_arguments'
        when not has_span and response is null then 'no_result'
        else 'executed'
    end as outcome
from judged
left join tool_schemas on tool_schemas.run_id = judged.run_id
    and name_key(tool_schemas.tool_name) in (name_key(judged.tool_name), name_key(judged.requested_name))
left join (select distinct run_id from tool_schemas) as offered on offered.run_id = judged.run_id;
