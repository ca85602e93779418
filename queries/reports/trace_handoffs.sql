-- The handoffs of a run in order.
select
    handoff_id,
    seq,
    from_agent,
    to_agent,
    from_invocation_id,
    to_invocation_id,
    mode,
    mechanism,
    handoffs.at as at,
    is_back,
    is_bounce,
    succeeded,
    confidence
from handoffs
where run_id = $run_id
order by handoffs.at nulls last, seq
