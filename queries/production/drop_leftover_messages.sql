-- What was still to be told of them.
delete from score_outbox
where (kind, subject_id) in (select kind, subject_id from leftovers);
