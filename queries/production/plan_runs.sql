-- The runs of the source that is scored, those outside of the window too: a session is scored as a whole. `is_finished`: the span
-- around everything has ended and no parent is missing; other runs are scored when nothing has come for a while.
create or replace temp table plan_runs as
with known_cases as (
    select
        rowid as case_row,
        md5(row(*columns(* exclude (stored_at)))::varchar) as case_fingerprint
    from spanscore.main.cases
)
select
    runs.rowid as place,
    runs.run_id,
    runs.trace_id,
    runs.session_id,
    runs.fingerprint,
    coalesce(runs.spans, 1) as n_spans,
    known_cases.case_fingerprint,
    runs.status not in ('running', 'incomplete') and runs.orphan_spans = 0 and runs.duration_s is not null as is_finished,
    ($since::timestamp is null or runs.started_at >= $since)
        and ($until::timestamp is null or runs.started_at < $until)
        and ($service::varchar is null or runs.service_name = $service) as is_in_scope
from spanscore.main.runs as runs
left join run_cases using (run_id)
left join known_cases using (case_row)
where $source::varchar is null or runs.source = $source;
