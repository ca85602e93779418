-- /// evaluator
-- id = "loop_detected"
-- title = "Whether the run went round in circles: the same calls over and over"
-- grain = "run"
-- unit = "boolean"
-- better = "lower"
-- needs = ["content"]
--
-- [params.min_rounds]
-- type = "BIGINT"
-- unit = "count"
-- default = 3
-- doc = "How often the same round of calls must follow upon itself to be a loop; at least 2."
-- ///
--
-- A round is 1, 2 or 3 calls in a row; a loop is the same round, tools and arguments, at least `$min_rounds` times without
-- anything in between. Calls of all agents count, also those that failed or were refused: an agent that asks again and again
-- for what it cannot have goes in circles too. Transfers are `handoff_ping_pong`.
-- NULL: no tool calls; or the tools alone look like a loop and the trace has no arguments to tell.
with events as (
    select run_id, started_at, 1 as kind, seq, tool_name, arguments
    from tool_calls
    where is_work(is_handoff, is_agent_tool)
    union all
    select run_id, started_at, 2, seq, tool_name, arguments
    from tool_requests
    where outcome in ('invalid_arguments', 'unknown_tool', 'denied') and not coalesce(is_handoff, false)
),
-- A tool that is called less often than that is in no loop, and without such a tool there is none.
frequent as (
    select run_id
    from events
    group by run_id, tool_name
    having count(*) >= greatest($min_rounds, 2)
),
counted as (
    select run_id, count(*) as calls, count(arguments) as captured
    from events
    group by run_id
),
placed as (
    select
        run_id,
        tool_name,
        row_number() over (partition by run_id order by started_at, kind, seq) as place,
        tool_name || ' ' || json_canonical(arguments) as call
    from events
    where run_id in (select run_id from frequent)
),
compared as (
    select
        run_id, place, tool_name, period,
        tool_name = lag(tool_name, period) over (partition by run_id, period order by place) as same_tool,
        call = lag(call, period) over (partition by run_id, period order by place) as same_call
    from placed, range(1, 4) as periods(period)
),
-- Calls that equal the one a round earlier, in unbroken rows: `n` of them make n / period + 1 rounds.
rows_of_same as (
    select
        run_id, period, place, tool_name, same_tool, same_call,
        count(*) filter (where not coalesce(same_tool, false)) over breaks as tool_row,
        count(*) filter (where not coalesce(same_call, false)) over breaks as call_row
    from compared
    window breaks as (partition by run_id, period order by place)
),
loops as (
    select run_id, period, true as by_call, count(*) // period + 1 as rounds, list(distinct tool_name order by tool_name) as tools
    from rows_of_same where same_call group by run_id, period, call_row
    union all
    select run_id, period, false, count(*) // period + 1, list(distinct tool_name order by tool_name)
    from rows_of_same where same_tool group by run_id, period, tool_row
),
found as (
    select
        run_id,
        max(rounds) filter (where by_call) as rounds,
        arg_max(tools, rounds * 4 - period) filter (where by_call) as tools,
        max(rounds) filter (where not by_call) as tool_rounds
    from loops
    group by run_id
),
judged as (
    select
        runs.run_id,
        coalesce(found.rounds >= greatest($min_rounds, 2), false) as is_loop,
        found.rounds,
        found.tools,
        case
            when counted.run_id is null then no_tool_call_reason(runs.run_id)
            when counted.captured = 0 and found.tool_rounds >= greatest($min_rounds, 2) then 'content_not_captured'
        end as reason
    from runs
    left join counted using (run_id)
    left join found using (run_id)
)
select
    run_id,
    case when reason is null then is_loop::integer::double end as score_value,
    reason as not_applicable_reason,
    case
        when reason is null and is_loop then format('{} times the same calls of {}.', rounds, name_list(tools))
        when reason is null then 'No round of calls was made over and over.'
    end as explanation,
    case when reason is null and is_loop then to_json({'rounds': rounds, 'tools': tools}) end as evidence
from judged;
