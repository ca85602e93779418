-- What has to be sent of the batch: the scores of the evaluators that ran, and those that have waited since earlier and still stand.
-- One row per run or session, however many passes its scores wait for.
create or replace temp table batch_queue as
select
    $destination as destination,
    batch_states.kind,
    batch_states.subject_id,
    list_sort(list_distinct(list_concat(
        (select list(version) from batch_versions),
        list_filter(
            coalesce(waiting.versions, []),
            lambda one: list_contains(batch_states.done, one) or list_contains(batch_states.failed, one)
        )
    ))) as versions,
    batch_states.scored_at as queued_at
from batch_states
left join score_outbox as waiting
    on waiting.destination = $destination
    and waiting.kind = batch_states.kind
    and waiting.subject_id = batch_states.subject_id;
