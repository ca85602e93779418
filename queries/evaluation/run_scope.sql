-- The runs that are evaluated: those that pass every filter that is given. A run id may be cut short.
create or replace temp table run_scope as
select runs.run_id, runs.session_id, runs.fingerprint
from spanscore.main.runs as runs
left join run_cases using (run_id)
where ($since::timestamp is null or runs.started_at >= $since)
    and ($until::timestamp is null or runs.started_at < $until)
    and ($source::varchar is null or runs.source = $source)
    and ($suite::varchar is null or run_cases.suite_name = $suite or runs.suite_name = $suite)
    and ($experiment::varchar is null or runs.experiment_id = $experiment)
    and ($service::varchar is null or runs.service_name = $service)
    and (len($runs::varchar[]) = 0 or list_bool_or(list_transform($runs, lambda prefix: starts_with(runs.run_id, prefix))));
