-- The commits of the agent's code that the runs in scope were made with, where the experiment names one.
select distinct experiments.git_commit
from spanscore.main.experiments as experiments
inner join runs using (experiment_id)
where experiments.git_commit is not null
order by 1
