-- /// evaluator
-- id = "task_completed"
-- title = "Whether the task was completed, by the checks of its case"
-- grain = "run"
-- unit = "boolean"
-- better = "higher"
-- needs = ["case", "content"]
--
-- [params.min_share]
-- type = "DOUBLE"
-- unit = "ratio"
-- default = 0.7
-- doc = "Share of the checks, by weight, that must pass."
--
-- [params.min_characters]
-- type = "BIGINT"
-- unit = "count"
-- default = 20
-- doc = "A case without checks is completed by an answer with more characters than this."
-- ///
--
-- The kinds of checks and how they are read stand in `queries/macros/checks.sql`. A run that ended in an error has not
-- completed its task whatever it answered; one that gave no answer fails the checks of the answer. A check that is wrong
-- itself counts neither way and is named in the evidence.
-- NULL: no case; the answer was not captured; every check of the case is wrong; the run is not finished.
with asked as (
    select
        runs.run_id, runs.final_answer, coalesce(runs.llm_calls, 0) + coalesce(runs.tool_calls, 0) as steps,
        json_items(cases.checks) as checks
    from runs
    inner join cases using (run_id)
),
made as (
    select run_id, list(distinct tool_name) as tools
    from tool_calls
    where is_work(is_handoff, is_agent_tool) and run_id in (select run_id from asked)
    group by run_id
),
listed as (
    select run_id, unnest(checks) as ch, unnest(range(1, len(checks) + 1)) as position
    from asked
),
judged_checks as (
    select *, check_problem(ch) as problem
    from listed
),
-- Materialized: planning takes half the time, as the checks are not copied into every aggregate.
checked as materialized (
    select
        judged_checks.run_id,
        judged_checks.position,
        judged_checks.ch ->> '$.kind' as kind,
        coalesce(try_cast(judged_checks.ch ->> '$.weight' as double), 1) as weight,
        judged_checks.problem,
        case when judged_checks.problem is null
            then check_passes(judged_checks.ch, asked.final_answer, coalesce(made.tools, []), asked.steps) end as passes
    from judged_checks
    inner join asked using (run_id)
    left join made using (run_id)
),
counted as (
    select
        run_id,
        count(*) as n,
        count(passes) as n_valid,
        count(*) filter (where passes) as n_passed,
        safe_ratio(sum(weight) filter (where passes), sum(weight) filter (where passes is not null)) as share,
        list({'check': position, 'kind': kind, 'problem': problem} order by position) filter (where passes is null) as wrong,
        list({'check': position, 'kind': kind} order by position) filter (where not passes) as failed
    from checked
    group by run_id
),
judged as (
    select
        runs.run_id,
        runs.status,
        runs.final_answer,
        counted.* exclude (run_id),
        case
            when cases.run_id is null then 'no_case'
            when runs.status = 'running' then 'not_finished'
            when counted.n > 0 and counted.n_valid = 0 then 'invalid_checks'
            when runs.status = 'error' then null
            when runs.final_answer is null and not coalesce(runs.has_content, true) then 'content_not_captured'
        end as reason
    from runs
    left join cases using (run_id)
    left join counted using (run_id)
)
select
    run_id,
    case
        when reason is not null then null
        when status = 'error' then 0.0
        when n_valid is null then (coalesce(length(trim(final_answer)), 0) > $min_characters)::integer
        else (coalesce(share, 0) >= $min_share - 1e-9)::integer
    end::double as score_value,
    reason as not_applicable_reason,
    case
        when reason is not null then null
        when status = 'error' then 'The run ended in an error.'
        when n_valid is null
            then format('The case has no checks; the answer has {}.', things(coalesce(length(trim(final_answer)), 0), 'character'))
        else format('{} of {} passed.', n_passed, things(n_valid, 'check'))
    end as explanation,
    case when reason is null and n > 0
        then to_json({'share': coalesce(share, 0), 'failed': coalesce(failed, []), 'wrong': coalesce(wrong, [])})
    end as evidence
from judged;
