-- What the sources of the runs (`run_sources`) hold, in the form in which claims are compared with it.

-- source_numbers: the numbers in the sources of the runs, as (run_id, kind, figures, value, is_percent, sign): one row
-- per run, kind, meaning and unit. figures is the plain decimal without scale; value is never negative, sign is -1, 1 or,
-- where none is written, 0. Every different token is read once, whatever the number of runs that hold it.
create or replace temp macro source_numbers() as table
    with tokens as (
        select distinct
            run_id,
            kind,
            unnest(number_tokens(plain_text(text))) as token
        from run_sources()
    ),
    parsed as (
        select
            token,
            pieces,
            scale_factor(pieces.scale, pieces.currency) * exponent_factor(pieces.exponent)
                * percent_factor(pieces.unit) as factor,
            coalesce(unit_kind(pieces.unit, pieces.currency) = 'percent', false) as is_percent,
            case when pieces.sign || pieces.inner_sign = '' then 0
                when regexp_matches(pieces.sign || pieces.inner_sign, '[-−]') then -1 else 1 end as sign
        from (select token, unnest([number_pieces(token)]) as pieces from (select distinct token from tokens))
        where pieces.core <> ''
    ),
    meanings as (
        select token, factor, is_percent, sign, unnest(source_readings(pieces)) as figures
        from parsed
    )
    select distinct
        tokens.run_id,
        tokens.kind,
        meanings.figures,
        meanings.figures::double * meanings.factor as value,
        meanings.is_percent,
        meanings.sign
    from tokens
    inner join meanings using (token);

-- source_urls: the links in the sources of the runs, as (run_id, kind, normalized).
create or replace temp macro source_urls() as table
    select distinct run_id, kind, normalized_url(trimmed_link(link)) as normalized
    from (
        select distinct run_id, kind, unnest(regexp_extract_all(plain_text(text), link_pattern())) as link
        from run_sources()
    );

-- retrieved_urls: the links that tools fetched or gave back in the runs, as (run_id, normalized).
create or replace temp macro retrieved_urls() as table
    select distinct run_id, normalized_url(trimmed_link(link)) as normalized
    from (
        select distinct run_id, unnest(regexp_extract_all(plain_text(text), link_pattern())) as link
        from work_results()
        union
        select distinct run_id, unnest(regexp_extract_all(plain_text(arguments::varchar), link_pattern()))
        from tool_calls
        where status = 'ok' and not coalesce(is_handoff, false) and not coalesce(is_agent_tool, false)
    );
