-- What was known of the runs and sessions that are there no more.
delete from scored_subjects
where (kind, subject_id) in (select kind, subject_id from leftovers);
