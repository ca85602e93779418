-- Runs and sessions that have been scored and are there no more, because spans that came later made them a part of another run, or
-- a run of another source than the one that is scored; and `failure` rows of evaluators that have worked since. A run whose trace
-- waits to be derived is not gone, and neither is one whose spans have been deleted.
create or replace temp table leftovers as
with missing as (
    select known.kind, known.subject_id, split_part(known.subject_id, ':', 1) as trace_id
    from scored_subjects as known
    anti join runs on runs.run_id = known.subject_id
    where known.kind = 'run'
),
there as (
    select trace_id from spanscore.main.spans where trace_id in (select trace_id from missing)
    union
    select trace_id from archived_traces where trace_id in (select trace_id from missing)
)
select known.kind, known.subject_id, runs.fingerprint
from scored_subjects as known
inner join runs on runs.run_id = known.subject_id
where known.kind = 'run' and $source::varchar is not null and known.source = $source and runs.source <> $source
union all
select kind, subject_id, null
from missing
where trace_id in (select trace_id from there) and trace_id not in (select trace_id from pending_traces)
union all
select known.kind, known.subject_id, null
from scored_subjects as known
where known.kind = 'session'
    and known.subject_id not in (select session_id from runs where session_id is not null)
    and not exists (select 1 from pending_traces)
union all
select distinct 'failure', scores.evaluator, null
from scores
where scores.error is not null
    and scores.evaluator not in (select unnest($broken::varchar[]))
    and scores.evaluator in (select unnest($wanted::varchar[]))
    and scores.evaluator not in (
        select versions.evaluator
        from evaluator_versions as versions
        where versions.version in (select unnest(failed) from scored_subjects)
    );
