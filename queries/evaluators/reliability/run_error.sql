-- /// evaluator
-- id = "run_error"
-- title = "Whether the run ended in an error"
-- grain = "run"
-- unit = "boolean"
-- better = "lower"
-- ///
--
-- An error inside that the agent got over is none of the run (`recovered_from_error`, `llm_error_rate`). A run that was cut off at
-- a limit, waits for a person or was cancelled did not end in an error; the label says what it did. NULL: the run is not finished,
-- or its end is not in the trace.
select
    run_id,
    case when status not in ('running', 'incomplete') then (status = 'error')::integer::double end as score_value,
    status as score_label,
    case
        when status is null then 'no_status'
        when status = 'running' then 'not_finished'
        when status = 'incomplete' then 'end_not_in_trace'
    end as not_applicable_reason,
    case
        when status = 'error' then format('The run ended in an error{}{}.', coalesce(': ' || error_type, ''),
            coalesce(', ' || error_message[1:200], ''))
        when status not in ('running', 'incomplete') then format('The run ended with status {}.', status)
    end as explanation
from runs;
