-- What is known of the batch from now on. Evaluators that have seen a subject as it is still have, unless they ran in another version.
create or replace temp table batch_states as
with versions as (
    select
        coalesce(list(version) filter (where not failed), []) as succeeded,
        coalesce(list(version) filter (where failed), []) as failed,
        coalesce(flatten(list(superseded)), []) as superseded
    from batch_versions
),
earlier as (
    select
        batch_subjects.*,
        coalesce(known.done, []) as done,
        coalesce(known.failed, []) as failed,
        coalesce(known.attempts, 0) as attempts
    from batch_subjects
    left join scored_subjects as known
        on known.kind = batch_subjects.kind
        and known.subject_id = batch_subjects.subject_id
        and known.fingerprint is not distinct from batch_subjects.fingerprint
        and known.case_fingerprint is not distinct from batch_subjects.case_fingerprint
)
select
    earlier.kind,
    earlier.subject_id,
    earlier.source,
    earlier.fingerprint,
    earlier.case_fingerprint,
    list_sort(list_distinct(list_concat(
        list_filter(earlier.done, lambda one: not list_contains(list_concat(versions.superseded, versions.failed), one)),
        versions.succeeded
    ))) as done,
    list_sort(list_distinct(list_concat(
        list_filter(earlier.failed, lambda one: not list_contains(list_concat(versions.superseded, versions.succeeded), one)),
        versions.failed
    ))) as failed,
    case when versions.failed = [] then 0 else earlier.attempts + 1 end as attempts,
    now() at time zone 'UTC' as scored_at
from earlier
cross join versions;
