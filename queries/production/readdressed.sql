-- What waits for one destination, as it waits for another: with what waits for that one already, a row per run or session. Versions
-- of evaluators that have been replaced since are left out: their scores are gone.
create or replace temp table batch_queue as
select
    $new as destination,
    waiting.kind,
    waiting.subject_id,
    list_filter(
        list_sort(list_distinct(flatten(list(waiting.versions)))),
        lambda one: list_contains(any_value(known.done), one) or list_contains(any_value(known.failed), one)
    ) as versions,
    max(waiting.queued_at) as queued_at
from score_outbox as waiting
inner join scored_subjects as known using (kind, subject_id)
where waiting.destination in ($old, $new)
    and (waiting.kind, waiting.subject_id) in (select kind, subject_id from score_outbox where destination = $old)
group by waiting.kind, waiting.subject_id;
