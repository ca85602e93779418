-- Which failed tool calls were tried again with success?
--
-- The next call of the same tool in the same run that went well, whatever its arguments.
--
-- Columns: run_id; tool_name; error_message; failed_seq and succeeded_seq (place among the tool calls of the run);
-- seconds_later [s].
select
    failed.run_id,
    failed.tool_name,
    failed.error_message,
    failed.seq as failed_seq,
    retried.seq as succeeded_seq,
    round(date_diff('microsecond', failed.started_at, retried.started_at) / 1e6, 3) as seconds_later
from tool_calls as failed
inner join lateral (
    select seq, started_at
    from tool_calls as later
    where later.run_id = failed.run_id
        and later.tool_name = failed.tool_name
        and later.seq > failed.seq
        and later.status = 'ok'
    order by later.seq
    limit 1
) as retried on true
where failed.status = 'error'
order by failed.run_id, failed.seq
