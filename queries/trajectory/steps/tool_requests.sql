-- What the models asked for and what came back, read from messages: a request per call id (or, where an emitter gives no ids,
-- per position), and the first result that a later message brings for it.
create or replace temp table tool_requests_found as
with no_ids as (
    select run_id from run_parts where part_type = 'tool_call' and direction = 'output' and tool_call_id is null
),
asked as (
    select
        run_id, s, a, start_ns, tool_call_id, tool_name, arguments,
        direction = 'output' as is_output,
        position, part_index
    from run_parts
    where part_type = 'tool_call'
        and tool_name is not null
        and not regexp_matches(tool_name, '(?i)^transfer_back_to_')
        and tool_name not in ('final_answer', 'final_result')
        and (direction = 'output' or (tool_call_id is not null and role = 'assistant' and run_id not in (select run_id from no_ids)))
        and (direction = 'output' or (run_id, tool_call_id) not in (select (run_id, tool_call_id) from run_history))
),
keyed as (
    select
        *,
        coalesce(tool_call_id, s || ':' || position || ':' || part_index) as request_key
    from asked
),
first_asked as (
    select
        run_id,
        request_key,
        any_value(tool_call_id) as tool_call_id,
        arg_min(s, (not is_output, start_ns, s)) as seen_in,
        bool_or(is_output) as is_output,
        arg_min(a, (not is_output, start_ns, s)) as a,
        arg_min(tool_name, (not is_output, start_ns, s)) as tool_name,
        arg_min(arguments, (not is_output, start_ns, s)) as arguments,
        min(start_ns) as start_ns,
        arg_min((position, part_index), (not is_output, start_ns, s)) as place
    from keyed
    group by run_id, request_key
),
answered as (
    select
        run_id,
        tool_call_id,
        arg_min(response, (start_ns, s, position)) as response,
        arg_min(is_error, (start_ns, s, position)) as is_error,
        min(start_ns) as answered_ns
    from run_parts
    where part_type = 'tool_call_response' and tool_call_id is not null
        and (run_id, tool_call_id) not in (select (run_id, tool_call_id) from run_history)
    group by run_id, tool_call_id
),
-- Results without an id that a request has (Gemini: none, or the tool's name and a number): the nth result of a tool, in the
-- order of the conversation, is that of its nth request.
results_by_name as (
    select
        run_id,
        tool_key,
        response,
        is_error,
        answered_ns,
        row_number() over (partition by run_id, tool_key order by answered_ns, position, part_index) as nth
    from (
        select
            run_id, a, position, part_index,
            name_key(coalesce(tool_name, regexp_replace(tool_call_id, '_[0-9]+$', ''))) as tool_key,
            arg_min(response, (start_ns, s)) as response,
            arg_min(is_error, (start_ns, s)) as is_error,
            min(start_ns) as answered_ns
        from run_parts
        where part_type = 'tool_call_response' and direction = 'input'
            and (tool_call_id is null or (run_id, tool_call_id) not in (select (run_id, request_key) from first_asked))
            and (run_id, position, part_index) not in (
                select (run_id, position, part_index) from run_parts as first_part
                inner join first_calls using (run_id, s)
            )
        group by all
    ) as results
    where tool_key is not null
),
requests_by_name as (
    select
        run_id, request_key, name_key(tool_name) as tool_key,
        row_number() over (partition by run_id, name_key(tool_name) order by start_ns, place) as nth
    from first_asked
    where (run_id, coalesce(tool_call_id, '')) not in (select (run_id, tool_call_id) from answered)
)
select
    first_asked.* exclude (seen_in),
    -- A request that only a later input shows was made by the LLM call before that one.
    case
        when first_asked.is_output then seen_in
        else (
            select arg_max(earlier.s, (earlier.start_ns, earlier.s))
            from batch_llm_calls as earlier
            where earlier.run_id = first_asked.run_id and earlier.start_ns < first_asked.start_ns
                and earlier.a is not distinct from first_asked.a
        )
    end as llm_s,
    coalesce(answered.response, results_by_name.response) as response,
    coalesce(answered.is_error, results_by_name.is_error) as is_error,
    coalesce(answered.answered_ns, results_by_name.answered_ns) as answered_ns
from first_asked
left join answered using (run_id, tool_call_id)
left join requests_by_name using (run_id, request_key)
left join results_by_name on results_by_name.run_id = first_asked.run_id
    and results_by_name.tool_key = requests_by_name.tool_key and results_by_name.nth = requests_by_name.nth
    and answered.tool_call_id is null;
