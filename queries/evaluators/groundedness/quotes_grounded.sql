-- /// evaluator
-- id = "quotes_grounded"
-- title = "Share of the quotations in the answer that stand in a source"
-- grain = "run"
-- unit = "ratio"
-- better = "higher"
-- needs = ["content", "tool_results"]
--
-- [params.min_words]
-- type = "BIGINT"
-- unit = "count"
-- default = 5
-- doc = "Words that a text between quotation marks needs to be a quotation: shorter ones are names, titles and irony."
--
-- [params.strict]
-- type = "BOOLEAN"
-- default = false
-- doc = "Only results of tools and documents support a quotation: not the question, not instructions."
-- ///
--
-- A claim is a text of the final answer between quotation marks (`quotes_in`). It is supported when one source holds all its
-- words in order; case, white space, kinds of marks and dashes, and sentence marks at its ends do not count. Parts around an
-- omission (… or [...]) are looked for one by one. An answer that is JSON has no quotations.
-- NULL: there is no answer or no quotation, or what the tools gave back was not captured whole. Not to be trusted for
-- quotations in single quotation marks or set as a block, which are not seen, and for translated ones, which are not found.
with claims as (
    select run_id, quote.*
    from (
        select run_id, unnest(quotes_in(answer)) as quote
        from (select run_id, left(final_answer, 50000) as answer from runs)
        where may_hold_quotes(answer) and not regexp_matches(answer, '^\s*[\[{]')
    )
    where quote.words >= $min_words
),
sources as (
    select run_id, quotable(plain_text(text)) as text
    from run_sources((select list(distinct run_id) from claims))
    where not $strict or kind = 'tool'
),
found as (
    select distinct claims.run_id, claims.start
    from claims
    inner join sources using (run_id)
    where list_bool_and(list_transform(claims.parts, lambda part: contains(sources.text, part)))
),
verdicts as (
    select
        claims.run_id,
        count(*) as claims,
        coalesce(list(struct_pack(text := text, start := start, "end" := "end") order by start)
            filter (where found.run_id is null), []) as unsupported
    from claims
    left join found using (run_id, start)
    group by claims.run_id
)
select
    runs.run_id,
    case when reason is null then safe_ratio(claims - len(unsupported), claims) end as score_value,
    reason as not_applicable_reason,
    case when reason is null then format('{} of {} in the answer stand in a source{}.', claims - len(unsupported),
        things(claims, 'quotation'), if(len(unsupported) > 0, '; not found: ' || list_aggregate(list_transform(unsupported,
            lambda claim: '“' || claim.text || '”'), 'string_agg', ', '), '')) end as explanation,
    case when reason is null then to_json(struct_pack(claims := claims, unsupported := unsupported, derived := []::varchar[]))
        end as evidence
from (
    select runs.run_id, verdicts.* exclude (run_id), ungroundable(runs, verdicts.claims, missing.reason, $strict) as reason
    from runs
    left join verdicts using (run_id)
    left join (from missing_sources()) as missing using (run_id)
) as runs;
