-- The values of a metric over the runs that began in a window, each with its series and its cluster: turns of one session belong
-- together. A score counts only while it is one of the run as it is, by the evaluator as it is. `value` NULL = not measured.
with chosen as (
    select
        run_id,
        coalesce('session ' || session_id, 'run ' || run_id) as cluster,
        service_name,
        entry_agent,
        status,
        duration_s,
        cost_usd,
        fingerprint
    from runs
    where started_at >= $since
        and started_at < $until
        and status <> 'running'
        and ($source::varchar is null or source = $source)
        and ($service::varchar is null or service_name = $service)
),
facts as (
    select
        cluster,
        service_name,
        entry_agent as agent_name,
        case $metric
            when 'cost' then cost_usd
            when 'error_rate' then (status = 'error')::double
            else duration_s
        end as value
    from chosen
    where $is_fact
),
given as (
    select chosen.cluster, chosen.service_name, coalesce(scores.agent_name, chosen.entry_agent) as agent_name, scores.score_value as value
    from chosen
    inner join scores on scores.run_id = chosen.run_id
    inner join evaluators
        on evaluators.evaluator = scores.evaluator
        and evaluators.evaluator_sha256 = scores.evaluator_sha256
    where not $is_fact
        and scores.evaluator = $metric
        and scores.error is null
        and scores.trace_fingerprint = chosen.fingerprint
    union all
    select
        'session ' || sessions.session_id,
        sessions.service_name,
        coalesce(scores.agent_name, sessions.entry_agent),
        scores.score_value
    from (
        select
            split_part(cluster, 'session ', 2) as session_id,
            any_value(service_name order by run_id) as service_name,
            any_value(entry_agent order by run_id) as entry_agent
        from chosen
        where starts_with(cluster, 'session ')
        group by cluster
    ) as sessions
    inner join scores on scores.run_id is null and scores.subject_id = sessions.session_id and scores.grain = 'session'
    where not $is_fact and scores.evaluator = $metric and scores.error is null
)
select
    case $by when 'service' then service_name when 'agent' then agent_name else 'all' end as series,
    cluster,
    value
from (from facts union all from given)
order by all;
