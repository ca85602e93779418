-- /// evaluator
-- id = "sources_cited"
-- title = "A link in the answer was retrieved by a tool in this run"
-- grain = "run"
-- unit = "boolean"
-- better = "higher"
-- needs = ["content", "tool_results"]
--
-- [params.required]
-- type = "BOOLEAN"
-- default = false
-- doc = "Whether an answer without a link scores 0 where tools retrieved links; otherwise it is not scored."
-- ///
--
-- 1 when at least one link of the final answer is one that a tool of this run gave back or was successfully called with, or that
-- a retrieved document holds; links are compared as in `urls_grounded`. Earlier turns, the question and instructions do not
-- count. NULL: there is no answer or no link in it, or none was retrieved and what the tools gave back was not captured whole.
-- Not to be trusted as a sign that the page says what the answer says.
with cited as (
    select run_id, unnest(urls_in(answer)) as url
    from (select run_id, left(final_answer, 50000) as answer from runs where may_hold_links(final_answer))
),
retrieved as (
    select distinct run_id, normalized_url(trimmed_link(link)) as normalized
    from (
        select distinct run_id, unnest(links_in(text)) as link
        from retrieved_texts()
        where $required or run_id in (select run_id from cited)
    )
),
verdicts as (
    select
        cited.run_id,
        count(*) as claims,
        coalesce(list(struct_pack(text := url.text, start := url.start, "end" := url."end") order by url.start)
            filter (where retrieved.run_id is null), []) as unsupported
    from cited
    left join retrieved on retrieved.run_id = cited.run_id and retrieved.normalized = cited.url.normalized
    group by cited.run_id
)
select
    runs.run_id,
    case when reason is null then (retrieved_count > 0)::integer::double end as score_value,
    reason as not_applicable_reason,
    case
        when reason is null and claims is null then 'The answer cites none of the links that tools retrieved.'
        when reason is null
            then format('{} of {} in the answer were retrieved in this run.', retrieved_count, things(claims, 'link'))
    end as explanation,
    case when reason is null then to_json(struct_pack(
        claims := coalesce(claims, 0), unsupported := coalesce(unsupported, []), derived := []::varchar[])) end as evidence
from (
    select
        runs.run_id,
        verdicts.* exclude (run_id),
        coalesce(verdicts.claims - len(verdicts.unsupported), 0) as retrieved_count,
        case when $required and runs.final_answer is not null and runs.run_id in (select run_id from retrieved) then null
            else ungroundable(runs, verdicts.claims, if(retrieved_count = 0, missing.reason, null), true) end as reason
    from runs
    left join verdicts using (run_id)
    left join (from missing_sources()) as missing using (run_id)
) as runs;
