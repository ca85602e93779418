-- /// evaluator
-- id = "handoff_success"
-- title = "Whether the agent that control was handed to started"
-- grain = "handoff"
-- unit = "boolean"
-- better = "higher"
-- ///
--
-- Transfers and delegations count, returns to an agent that had control before too. The score belongs to the agent that hands
-- over. NULL: agents of one workflow that only follow each other: none of them decided to hand over; and traces that show no agent
-- at all, only LLM calls. Not to be trusted where the spans of the receiver are missing (`orphan_spans`).
with judged as (
    select
        handoffs.*,
        case
            when handoffs.mode = 'sequence' then 'sequence_of_workflow'
            when not handoffs.succeeded and runs.agent_invocations = 0 then 'no_agents'
            when handoffs.succeeded is null then 'not_known'
        end as reason
    from handoffs
    inner join runs using (run_id)
)
select
    run_id,
    handoff_id,
    from_agent as agent_name,
    case when reason is null then succeeded::integer::double end as score_value,
    reason as not_applicable_reason,
    case when reason is null then format('{} handed over to {}, which {}.', coalesce(from_agent, 'An agent'),
        coalesce(to_agent, 'another'), if(succeeded, 'started', 'never started')) end as explanation
from judged;
