-- /// evaluator
-- id = "handoff_ping_pong"
-- title = "Whether two agents passed control to and fro"
-- grain = "run"
-- unit = "boolean"
-- better = "lower"
--
-- [params.min_passes]
-- type = "BIGINT"
-- unit = "count"
-- default = 3
-- doc = "Handoffs in a row between the same two agents, each the reverse of the one before; at least 2."
-- ///
--
-- Forth and back is a handoff and its return; forth, back and forth again is to and fro. Delegations, from which control comes
-- back by nature, and agents of one workflow that follow each other do not count. NULL: no agent passed control.
with passes as (
    select run_id, seq, from_agent, to_agent,
        coalesce(
            from_agent = lag(to_agent) over (partition by run_id order by seq)
            and to_agent = lag(from_agent) over (partition by run_id order by seq), false
        ) as is_reverse
    from handoffs
    where coalesce(mode, 'pass_control') = 'pass_control'
),
numbered as (
    select *, count(*) filter (where not is_reverse) over (partition by run_id order by seq) as stretch
    from passes
),
stretches as (
    select run_id, stretch, count(*) as n, arg_min(from_agent, seq) as one, arg_min(to_agent, seq) as other
    from numbered
    group by run_id, stretch
),
longest as (
    select run_id, max(n) as n, arg_max(one, n) as one, arg_max(other, n) as other
    from stretches
    group by run_id
)
select
    runs.run_id,
    case when longest.run_id is not null then (longest.n >= greatest($min_passes, 2))::integer::double end as score_value,
    case when longest.run_id is null then 'no_handoffs' end as not_applicable_reason,
    case
        when longest.n >= greatest($min_passes, 2)
            then format('{} and {} passed control to and fro in {}.', longest.one, longest.other, things(longest.n, 'handoff'))
        when longest.run_id is not null then 'No two agents passed control to and fro.'
    end as explanation,
    case when longest.n >= greatest($min_passes, 2)
        then to_json({'agents': [longest.one, longest.other], 'passes': longest.n}) end as evidence
from runs
left join longest using (run_id);
