-- The sessions in scope; their fingerprint is that of their runs.
create or replace temp table scored_sessions as
select session_id, md5(string_agg(fingerprint, ',' order by run_id)) as fingerprint
from scored_runs
where session_id is not null
group by session_id;
