-- What was known of the batch before.
delete from scored_subjects
where (kind, subject_id) in (select kind, subject_id from batch_states);
