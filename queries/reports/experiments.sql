-- The experiments in the store, the newest last: runs that share an experiment id and a variant.
-- Only runs that are attempts at a case belong to one; the case is the one the run names, else the one that asks the same.
select
    runs.experiment_id,
    runs.variant,
    array_agg(distinct coalesce(runs.suite_name, cases.suite_name) order by coalesce(runs.suite_name, cases.suite_name))
        filter (where coalesce(runs.suite_name, cases.suite_name) is not null) as suites,
    array_agg(distinct coalesce(runs.suite_version, cases.suite_version)
        order by coalesce(runs.suite_version, cases.suite_version))
        filter (where coalesce(runs.suite_version, cases.suite_version) is not null) as versions,
    any_value(known.git_commit) as git_commit,
    min(runs.started_at)::timestamp as started_at,
    count(*) as runs
from runs
left join cases using (run_id)
left join spanscore.main.experiments as known using (experiment_id)
where coalesce(runs.case_id, cases.case_id) is not null and coalesce(runs.experiment_id, runs.variant) is not null
group by runs.experiment_id, runs.variant
order by started_at, runs.experiment_id, runs.variant
