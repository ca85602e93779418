-- /// evaluator
-- id = "agent_success"
-- title = "Whether an agent's invocation ended without an error"
-- grain = "agent_invocation"
-- unit = "boolean"
-- better = "higher"
-- ///
--
-- Every invocation counts for itself: an agent that got over the error of one that it called has succeeded, the other has not.
-- It is not said that the answer was right (`task_completed`). NULL: the run is not finished.
with judged as (
    select
        agent_invocations.*,
        case
            when runs.status = 'running' and agent_invocations.status is distinct from 'error' then 'not_finished'
            when agent_invocations.status is null then 'no_status'
        end as reason
    from agent_invocations
    inner join runs using (run_id)
)
select
    run_id,
    agent_invocation_id,
    agent_name,
    case when reason is null then (status = 'ok')::integer::double end as score_value,
    reason as not_applicable_reason,
    case when reason is null then format('{} {}{}.', coalesce(agent_name, 'The agent'),
        if(status = 'ok', 'ended without an error', 'ended in an error'), coalesce(': ' || error_type, '')) end as explanation
from judged;
