-- Runs and sessions that have been scored and are there no more, because spans that came later made them a part of another run, or
-- a run of another source than the one that is scored; and `failure` rows of evaluators that have worked since. A run whose trace
-- waits to be derived is not gone, and neither is one whose spans have been deleted.
create or replace temp table leftovers as
select known.kind, known.subject_id, runs.fingerprint
from scored_subjects as known
left join runs on runs.run_id = known.subject_id
where known.kind = 'run'
    and case
        when runs.run_id is not null then $source::varchar is not null and known.source = $source and runs.source <> $source
        else split_part(known.subject_id, ':', 1) in (
                select trace_id from spanscore.main.spans
                union all select trace_id from archived_traces
            )
            and split_part(known.subject_id, ':', 1) not in (select trace_id from pending_traces)
    end
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
