-- What captured runs were asked: a row per question, white space and capitals aside, with the newest run that ended well.
with asked as (
    select
        run_id,
        trim(question) as question,
        final_answer,
        started_at,
        lower(nfc_normalize(trim(regexp_replace(question, '[\s\pZ]+', ' ', 'g')))) as text
    from runs
    where trim(question) <> ''
        and status = 'ok'
        and ($source::varchar is null or source = $source)
        and ($service::varchar is null or service_name = $service)
        and ($since::timestamp is null or started_at >= $since)
),
used as (
    select
        asked.run_id,
        coalesce(
            list_sort(list(distinct tool_calls.tool_name) filter (
                where tool_calls.tool_name is not null
                    and not coalesce(tool_calls.is_handoff, false)
                    and not coalesce(tool_calls.is_agent_tool, false)
            )), []
        ) as tools,
        coalesce(list(tool_calls.result) filter (where tool_calls.result is not null), []) as results
    from asked
    left join tool_calls using (run_id)
    group by asked.run_id
)
select
    arg_max(asked.run_id, (asked.started_at, asked.run_id)) as run_id,
    count(*) as runs,
    arg_max(asked.question, (asked.started_at, asked.run_id)) as question,
    arg_max_null(asked.final_answer, (asked.started_at, asked.run_id)) as answer,
    case when count(distinct used.tools) = 1 then min(used.tools) end as tools,
    arg_max(used.results, (asked.started_at, asked.run_id)) as results
from asked
inner join used using (run_id)
group by asked.text
order by max(asked.started_at) desc, run_id
limit $limit;
