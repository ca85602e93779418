-- /// evaluator
-- id = "answer_supported"
-- title = "The right source was retrieved, the answer is right and its citation leads to what was retrieved"
-- grain = "run"
-- unit = "boolean"
-- better = "higher"
-- needs = ["content", "tool_results", "case"]
-- ///
--
-- For runs of a case that names `expected_sources` and has checks of the answer. 1 when all three hold: a tool of the run
-- gave back or fetched one of the expected sources; every check of the answer passes (contains, excludes, exact, regex, numeric,
-- json; see `checks.sql`); and a link of the answer was retrieved in the run, or the answer names an expected source that is
-- no link. Else 0, and the label says what failed first: source_not_retrieved, answer_wrong or citation_unresolved.
-- A link is compared as in `urls_grounded`; a source that is no link (a document id, a title) must stand in what was retrieved.
-- NULL: no case, no expectation, or what the tools gave back was not captured. Not to be trusted where the answer is right for
-- another reason than its source.
with expected as (
    select run_id, source, regexp_matches(source, '^(?i:https?://|www\.)') as is_link
    from (select run_id, unnest(expected_sources) as source from cases)
),
retrieved as (
    select distinct run_id, normalized_url(trimmed_link(link)) as normalized
    from (
        select distinct run_id, unnest(links_in(text)) as link
        from retrieved_texts()
        where run_id in (select run_id from expected)
    )
),
cited as (
    select run_id, unnest(urls_in(answer)).normalized as normalized
    from (select run_id, left(final_answer, 50000) as answer from runs
        where may_hold_links(final_answer) and run_id in (select run_id from expected))
),
sourced as (
    select expected.run_id
    from expected
    inner join retrieved on retrieved.run_id = expected.run_id and retrieved.normalized = normalized_url(expected.source)
    where expected.is_link
    union
    select expected.run_id
    from expected
    inner join (from work_results()) as results using (run_id)
    where not expected.is_link and contains(quotable(plain_text(results.text)), quotable(expected.source))
),
resolved as (
    select cited.run_id
    from cited
    inner join retrieved using (run_id, normalized)
    union
    select expected.run_id
    from expected
    inner join runs using (run_id)
    inner join sourced using (run_id)
    where not expected.is_link and contains(quotable(runs.final_answer), quotable(expected.source))
),
judged as (
    select
        runs.run_id,
        bool_and(check_passes(item, runs.final_answer, []::varchar[], 0)) as is_right
    from runs
    inner join (select run_id, unnest(json_extract(checks, '$[*]')) as item from cases) as items using (run_id)
    where item ->> '$.kind' not in ('abstains', 'tool_called', 'tool_not_called', 'max_steps')
    group by runs.run_id
),
verdicts as (
    select
        runs.run_id,
        sourced.run_id is not null as is_sourced,
        judged.is_right,
        resolved.run_id is not null as is_resolved,
        case
            when cases.run_id is null then 'no_case'
            when coalesce(len(cases.expected_sources), 0) = 0 or judged.is_right is null then 'no_expectation'
            else ungroundable(runs, 1, if(sourced.run_id is null or resolved.run_id is null, missing.reason, null), true)
        end as reason
    from runs
    left join cases using (run_id)
    left join sourced using (run_id)
    left join resolved using (run_id)
    left join judged using (run_id)
    left join (from missing_sources()) as missing using (run_id)
)
select
    run_id,
    case when reason is null then (is_sourced and is_right and is_resolved)::integer::double end as score_value,
    case
        when reason is not null then null
        when not is_sourced then 'source_not_retrieved'
        when not is_right then 'answer_wrong'
        when not is_resolved then 'citation_unresolved'
        else 'supported'
    end as score_label,
    reason as not_applicable_reason,
    case when reason is null then format('The expected source was {}retrieved, the answer is {}, its citation {}.',
        if(is_sourced, '', 'not '), if(is_right, 'right', 'wrong'),
        if(is_resolved, 'leads to what was retrieved', 'leads to nothing that was retrieved')) end as explanation,
    case when reason is null then to_json(struct_pack(source_retrieved := is_sourced, answer_right := is_right,
        citation_resolved := is_resolved)) end as evidence
from verdicts;
