-- What a pass does with each subject: score it, or leave it until it is finished or quiet.
create or replace temp table plan_verdicts as
with settled as (
    select 'run' as kind, run_id as subject_id, is_settled, received_at
    from plan_arrivals
    union all
    select 'session', session_id, bool_and(is_settled), max(received_at)
    from plan_arrivals
    where session_id is not null
    group by session_id
)
select
    plan_subjects.* replace (
        case
            when plan_subjects.verdict in ('scored', 'rescored') and not coalesce(settled.is_settled, true) then 'waiting'
            else plan_subjects.verdict
        end as verdict
    ),
    settled.received_at
from plan_subjects
left join settled using (kind, subject_id);
