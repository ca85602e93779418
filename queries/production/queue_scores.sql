-- The scores of the batch have to be sent, in the transaction that stores them: neither is ever without the other.
insert into score_outbox by name
select
    $destination as destination,
    batch_states.kind,
    batch_states.subject_id,
    (select list(version order by version) from batch_versions) as versions,
    batch_states.scored_at as queued_at
from batch_states;
