-- What could be scored: runs, and where an evaluator wants them sessions, with the evaluators that have not seen them as they are.
-- A score that another command has replaced since counts as not given. `sample_key` is the same on every machine and for ever.
create or replace temp table plan_subjects as
with subjects as (
    select
        'run' as kind,
        run_id as subject_id,
        fingerprint,
        case_fingerprint,
        place,
        1 as n_runs,
        n_spans,
        md5(trace_id) as sample_key
    from plan_runs
    where is_in_scope
    union all
    select
        'session',
        session_id,
        md5(string_agg(fingerprint, ',' order by run_id)),
        null,
        min(place),
        count(*),
        sum(n_spans),
        md5(session_id)
    from plan_runs
    where session_id is not null and exists (select 1 from plan_wanted where kind = 'session')
    group by session_id
    having bool_or(is_in_scope)
),
replaced as (
    select
        if(scores.run_id is null, 'session', 'run') as kind,
        coalesce(scores.run_id, scores.subject_id) as subject_id,
        list(distinct plan_wanted.version) as versions
    from spanscore.main.scores as scores
    inner join plan_wanted using (evaluator)
    inner join subjects
        on subjects.subject_id = coalesce(scores.run_id, scores.subject_id)
        and subjects.kind = if(scores.run_id is null, 'session', 'run')
    where scores.error is null
        and (
            scores.evaluator_sha256 <> plan_wanted.evaluator_sha256
            or scores.params::varchar <> plan_wanted.params
            or scores.trace_fingerprint is distinct from subjects.fingerprint
        )
    group by 1, 2
),
states as (
    select
        subjects.*,
        known.subject_id is not null as is_known,
        known.fingerprint is not distinct from subjects.fingerprint
            and known.case_fingerprint is not distinct from subjects.case_fingerprint as is_same,
        coalesce(list_filter(known.done, lambda version: not list_contains(coalesce(replaced.versions, []), version)), []) as done,
        coalesce(known.failed, []) as failed,
        coalesce(known.attempts, 0) as attempts
    from subjects
    left join spanscore.main.scored_subjects as known using (kind, subject_id)
    left join replaced using (kind, subject_id)
),
lacking as (
    select
        states.*,
        list_filter(
            wanted.evaluators,
            lambda one: not states.is_same or one.version is null or not list_contains(states.done, one.version)
        ) as missing
    from states
    inner join (
        select kind, list({'position': position, 'version': version} order by position) as evaluators
        from plan_wanted
        group by kind
    ) as wanted using (kind)
)
select
    kind,
    subject_id,
    fingerprint,
    case_fingerprint,
    place,
    n_runs,
    n_spans,
    list_transform(missing, lambda one: one.position) as missing,
    list_filter(missing, lambda one: is_same and coalesce(list_contains(failed, one.version), false)) <> [] as has_failed,
    case
        when $sample_below::varchar is not null and sample_key >= $sample_below then 'sampled_out'
        when missing = [] then 'unchanged'
        when attempts >= $most_attempts
            and len(list_filter(missing, lambda one: is_same and coalesce(list_contains(failed, one.version), false))) = len(missing) then 'unchanged'
        when is_known then 'rescored'
        else 'scored'
    end as verdict
from lacking;
