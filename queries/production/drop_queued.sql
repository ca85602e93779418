-- What was to be sent of the batch before: it is sent with the new scores.
delete from score_outbox
where destination = $destination
    and (kind, subject_id) in (select kind, subject_id from batch_states);
