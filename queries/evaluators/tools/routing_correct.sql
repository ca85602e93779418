-- /// evaluator
-- id = "routing_correct"
-- title = "Whether the task went to the right agent: 1 the expected one, 0.5 an acceptable one, 0 another"
-- grain = "run"
-- unit = "ratio"
-- better = "higher"
-- needs = ["case"]
--
-- [params.which]
-- type = "VARCHAR"
-- default = "first"
-- doc = "first: the agent that the first handoff goes to; last: the one that the last handoff goes to."
-- ///
--
-- The task goes where the entry agent sends it: to the receiver of a handoff or delegation (also one that never started: the
-- decision is what counts); where there is none, to the entry agent itself. Returns to an agent that had it before and agents
-- that only follow each other in a workflow are no decision. Names are compared by letters and digits: `Refund Agent` is
-- `refund_agent`. Acceptable agents are those that the case lists, such as the neighbours in an order of tiers.
-- NULL: no case, no expected agent, or a trace that names no agent.
with decisions as (
    select
        run_id,
        arg_min(to_agent, seq) as first_agent,
        arg_max(to_agent, seq) as last_agent
    from handoffs
    where not coalesce(is_back, false) and coalesce(mode, '') <> 'sequence' and to_agent is not null
    group by run_id
),
routed as (
    select
        runs.run_id,
        cases.expected_agent,
        coalesce(cases.acceptable_agents, []) as acceptable_agents,
        coalesce(case when $which = 'last' then decisions.last_agent else decisions.first_agent end, runs.entry_agent) as agent,
        case
            when cases.run_id is null then 'no_case'
            when cases.expected_agent is null then 'no_expectation'
            when $which not in ('first', 'last') then 'unknown_choice'
            when coalesce(decisions.first_agent, runs.entry_agent) is null then 'no_agent'
        end as reason
    from runs
    left join cases using (run_id)
    left join decisions using (run_id)
),
judged as (
    select
        *,
        case
            when name_key(agent) = name_key(expected_agent) then 'expected'
            when list_contains(list_transform(acceptable_agents, lambda name: name_key(name)), name_key(agent)) then 'acceptable'
            else 'wrong'
        end as label
    from routed
)
select
    run_id,
    case when reason is null then case label when 'expected' then 1.0 when 'acceptable' then 0.5 else 0.0 end end::double
        as score_value,
    case when reason is null then label end as score_label,
    reason as not_applicable_reason,
    case when reason is null then format('The task went to {}; expected was {}.', agent, expected_agent) end as explanation,
    case when reason is null then agent end as agent_name
from judged;
