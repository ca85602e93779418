-- What was to be sent before of what has to be sent now.
delete from score_outbox
where (destination, kind, subject_id) in (select destination, kind, subject_id from batch_queue);
