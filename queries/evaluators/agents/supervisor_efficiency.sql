-- /// evaluator
-- id = "supervisor_efficiency"
-- title = "Share of the handoffs that were not a second try: 1 - reassignments / handoffs"
-- grain = "run"
-- unit = "ratio"
-- better = "higher"
-- ///
--
-- A reassignment is a handoff by an agent whose last handoff came to nothing: its receiver never started, or handed back
-- without having done any work. Transfers, returns and delegations all count as handoffs; agents of one workflow that follow
-- each other do not. 1 where nothing was handed over. NULL: the trace shows no agent, only LLM calls; whether receivers started
-- is not known then.
with given as (
    select *
    from handoffs
    where coalesce(mode, '') <> 'sequence'
),
-- An agent that was handed control before it handed any over works for the agent that gave it: handing to that one is a return.
givers as (
    select takers.run_id, takers.to_agent as agent, arg_min(takers.from_agent, takers.seq) as giver
    from given as takers
    left join (select run_id, from_agent, min(seq) as seq from given group by run_id, from_agent) as first_given
        on first_given.run_id = takers.run_id and first_given.from_agent = takers.to_agent
    where takers.seq < coalesce(first_given.seq, takers.seq + 1)
    group by takers.run_id, takers.to_agent
),
forward as (
    select
        given.run_id,
        lag(coalesce(given.is_bounce, false) or not coalesce(given.succeeded, true))
            over (partition by given.run_id, given.from_agent order by given.seq) as came_to_nothing
    from given
    left join givers on givers.run_id = given.run_id and givers.agent = given.from_agent
    where given.to_agent is distinct from givers.giver or givers.giver is null
),
reassigned as (
    select run_id, count(*) filter (where came_to_nothing) as n
    from forward
    group by run_id
),
counted as (
    select given.run_id, count(*) as handoffs, coalesce(any_value(reassigned.n), 0) as reassignments
    from given
    left join reassigned using (run_id)
    group by given.run_id
)
select
    runs.run_id,
    case
        when runs.agent_invocations = 0 then null
        when counted.run_id is not null then 1 - safe_ratio(counted.reassignments, counted.handoffs)
        else 1.0
    end::double as score_value,
    case when runs.agent_invocations = 0 then 'no_agents' end as not_applicable_reason,
    case
        when runs.agent_invocations = 0 then null
        when counted.run_id is not null
            then format('{} of {} were reassignments.', counted.reassignments, things(counted.handoffs, 'handoff'))
        else 'Nothing was handed over.'
    end as explanation
from runs
left join counted using (run_id);
