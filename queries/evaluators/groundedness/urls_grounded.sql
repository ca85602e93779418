-- /// evaluator
-- id = "urls_grounded"
-- title = "Share of the links in the answer that the run had from somewhere"
-- grain = "run"
-- unit = "ratio"
-- better = "higher"
-- needs = ["content", "tool_results"]
--
-- [params.strict]
-- type = "BOOLEAN"
-- default = false
-- doc = "Only results of tools and documents support a link: not the question, not instructions."
-- ///
--
-- A claim is a link of the final answer (`urls_in`), bare, in angle brackets or in Markdown. It is supported when a source
-- holds the same link: scheme and host in any case, without fragment, default port, tracking parameters and a last slash; the
-- case of the path counts. A link to another page of a site that was retrieved is not supported.
-- NULL: there is no answer or no link in it, or what the tools gave back was not captured whole. Not to be trusted where a
-- tool names pages without their scheme, or a link is spelt with other percent codes than in its source.
with claims as (
    select run_id, unnest(urls_in(answer)) as url
    from (select run_id, left(final_answer, 50000) as answer from runs where may_hold_links(final_answer))
),
verdicts as (
    select
        claims.run_id,
        count(*) as claims,
        coalesce(list(struct_pack(text := url.text, start := url.start, "end" := url."end") order by url.start)
            filter (where sources.run_id is null), []) as unsupported
    from claims
    left join (
        select distinct run_id, normalized_url(trimmed_link(link)) as normalized
        from (
            select distinct run_id, unnest(links_in(text)) as link
            from run_sources((select list(distinct run_id) from claims))
            where not $strict or kind = 'tool'
        )
    ) as sources on sources.run_id = claims.run_id and sources.normalized = claims.url.normalized
    group by claims.run_id
)
select
    runs.run_id,
    case when reason is null then safe_ratio(claims - len(unsupported), claims) end as score_value,
    reason as not_applicable_reason,
    case when reason is null
        then format('{} of {} in the answer are supported{}.', claims - len(unsupported), things(claims, 'link'),
        if(len(unsupported) > 0, '; not found: ' || list_aggregate(list_transform(unsupported, lambda claim: claim.text),
            'string_agg', ', '), '')) end as explanation,
    case when reason is null then to_json(struct_pack(claims := claims, unsupported := unsupported, derived := []::varchar[]))
        end as evidence
from (
    select runs.run_id, verdicts.* exclude (run_id), ungroundable(runs, verdicts.claims, missing.reason, $strict) as reason
    from runs
    left join verdicts using (run_id)
    left join (from missing_sources()) as missing using (run_id)
) as runs;
