-- The runs named in `$runs`, to look at first.
select run_id, case_id, trial, entry_agent, status, error_type, error_message, question, duration_s, cost_usd
from runs
where run_id in (select unnest($runs::varchar[]))
