-- What of the batch is still as it was when it was read; the rest is left to the next pass.
create or replace temp table batch_subjects as
select batch.kind, batch.subject_id, batch.fingerprint, batch.case_fingerprint, runs.source
from given_subjects as batch
inner join runs on runs.run_id = batch.subject_id and runs.fingerprint = batch.fingerprint
where batch.kind = 'run'
union all
select batch.kind, batch.subject_id, batch.fingerprint, batch.case_fingerprint, $source::varchar
from given_subjects as batch
inner join (
    select session_id, md5(string_agg(fingerprint, ',' order by run_id)) as fingerprint
    from runs
    where session_id in (select subject_id from given_subjects where kind = 'session')
        and ($source::varchar is null or source = $source)
    group by session_id
) as sessions on sessions.session_id = batch.subject_id and sessions.fingerprint = batch.fingerprint
where batch.kind = 'session';
