-- /// evaluator
-- id = "handoff_bounced"
-- title = "Whether control came straight back: the receiver handed back without having done any work"
-- grain = "handoff"
-- unit = "boolean"
-- better = "lower"
-- ///
--
-- Work is a tool call that ran. The score belongs to the agent that handed over: it chose the receiver. NULL: delegations, from
-- which control comes back by nature; agents of one workflow that follow each other; receivers that never started; returns.
with first_given as (
    select run_id, from_agent as agent, min(seq) as seq
    from handoffs
    group by run_id, from_agent
),
-- An agent that was handed control before it handed any over works for the agent that gave it: handing to that one is a return.
givers as (
    select handoffs.run_id, handoffs.to_agent as agent, arg_min(handoffs.from_agent, handoffs.seq) as giver
    from handoffs
    left join first_given on first_given.run_id = handoffs.run_id and first_given.agent = handoffs.to_agent
    where handoffs.seq < coalesce(first_given.seq, handoffs.seq + 1)
    group by handoffs.run_id, handoffs.to_agent
),
judged as (
    select
        handoffs.*,
        case
            when mode = 'sequence' then 'sequence_of_workflow'
            when mode = 'return_to_caller' then 'delegation'
            when not coalesce(succeeded, true) then 'not_started'
            when to_agent = givers.giver then 'return'
            when is_bounce is null then 'not_known'
        end as reason
    from handoffs
    left join givers on givers.run_id = handoffs.run_id and givers.agent = handoffs.from_agent
)
select
    run_id,
    handoff_id,
    from_agent as agent_name,
    case when reason is null then is_bounce::integer::double end as score_value,
    reason as not_applicable_reason,
    case when reason is null then format('{} handed over to {}, which {}.', coalesce(from_agent, 'An agent'),
        coalesce(to_agent, 'another'), if(is_bounce, 'handed back without a tool call', 'did not hand straight back')) end
        as explanation
from judged;
