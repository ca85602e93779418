-- One execution of a suite, as it is planned or as it ended.
insert into experiments (
    experiment_id, suite_name, suite_version, variant, agent, repeats, started_at, ended_at, git_commit, settings
)
values (
    $experiment_id, $suite_name, $suite_version, $variant, $agent, $repeats, $started_at, $ended_at, $git_commit, $settings
);
