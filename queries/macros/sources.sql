-- What the sources of the runs (`run_sources`) hold, in the form in which claims are compared with it.

-- meanings_of: all that the pieces of a token mean in a source, as in `source_numbers_in`; NULL when it is no number.
create or replace temp macro meanings_of(pieces) as
    case when pieces.core <> '' then list_transform(source_readings(pieces), lambda figures: struct_pack(
        figures := figures,
        value := figures::double * (scale_factor(pieces.scale, pieces.currency) * exponent_factor(pieces.exponent)
            * percent_factor(pieces.unit)),
        is_percent := coalesce(unit_kind(pieces.unit, pieces.currency) = 'percent', false),
        sign := case when pieces.sign || pieces.inner_sign = '' then 0
            when regexp_matches(pieces.sign || pieces.inner_sign, '[-−]') then -1 else 1 end)) end;

-- source_numbers_in: the numbers of a source, as a list of {figures, value, is_percent, sign}, one for every meaning. figures is
-- the plain decimal without scale; value is never negative, sign is -1, 1 or, where none is written, 0. Most numbers are bare
-- digits, which mean one thing; nothing is kept beside the text, so that memory does not grow with the sources.
create or replace temp macro source_numbers_in(value) as flatten(list_transform(number_tokens(plain_text(value)),
    lambda token: case
        when length(token) <= 100 and regexp_matches(token, '^(?:[1-9]\d*|0)(?:\.\d+)?$')
            then [struct_pack(figures := token, value := token::double, is_percent := false, sign := 0)]
        else list_transform([number_pieces(token)], lambda pieces: meanings_of(pieces))[1]
    end));

-- targets_of: what a number of a source may be to support a claim, as a list of {figures, sign, amount, margin, in_percent}: each
-- meaning of the claim, taken as percent or not, and 19.52% also as 0.1952.
create or replace temp macro targets_of(sign, is_percent, amount, margin, figures, other_figures, factor) as
    flatten(list_transform(
        list_concat([struct_pack(figures := figures, amount := amount, margin := margin)],
            case when other_figures is not null then [struct_pack(figures := other_figures,
                amount := other_figures::double * factor, margin := 0.5 * power(10, -decimal_places(other_figures)) * factor)] end),
        lambda meaning: [
            struct_pack(figures := meaning.figures, sign := sign, amount := meaning.amount, margin := meaning.margin,
                in_percent := true),
            struct_pack(figures := meaning.figures, sign := sign, amount := meaning.amount, margin := meaning.margin,
                in_percent := false),
            struct_pack(figures := meaning.figures, sign := sign,
                amount := if(is_percent, meaning.amount / 100, meaning.amount * 100),
                margin := if(is_percent, meaning.margin / 100, meaning.margin * 100), in_percent := not is_percent)
        ]));

-- magnitude: which fiftieth of a factor e a value lies in: what lies close together has the same or the next.
create or replace temp macro magnitude(value) as floor(50 * ln(least(greatest(value, 1e-12), 1e300)))::integer;

-- numbers_near: of the numbers in the sources, those that may support a claim and those to calculate with, as (run_id, near,
-- asked, found), one row per run that has a source. `targets` is a list of {run_id, amount, margin, …}.
--   near   list of {kind, numbers} with what has the magnitude of a target: no other can match one
--   asked  operands of the question; found: those of results and of the history. Empty when is_strict.
-- Every source is read once, and past a table of the runs that have a claim.
create or replace temp macro numbers_near(targets, is_strict) as table
    with magnitudes as (
        select run_id, list(distinct place) as magnitudes
        from (
            select run_id, unnest(generate_series(magnitude(amount * (1 - 1e-9) - margin * 1.01),
                magnitude(amount * (1 + 1e-9) + margin * 1.01))) as place
            from (select target.* from (select unnest(targets) as target))
        )
        group by run_id
    ),
    texts as (
        select run_id, kind, source_numbers_in(text) as numbers, magnitudes
        from run_sources((select list(run_id) from magnitudes))
        inner join magnitudes using (run_id)
        where not is_strict or kind = 'tool'
    ),
    sifted as (
        select run_id, kind, list_filter(numbers, lambda number: list_contains(magnitudes, magnitude(number.value))) as near,
            if(is_strict or kind = 'given', [], cut_operands(operands_in(numbers))) as operands
        from texts
    )
    select run_id, list(struct_pack(kind := kind, numbers := near)) filter (where len(near) > 0) as near,
        flatten(list(operands) filter (where kind = 'question')) as asked,
        flatten(list(operands) filter (where kind <> 'question')) as found
    from sifted
    group by run_id;
