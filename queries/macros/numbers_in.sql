-- numbers_in: the numbers of a text, in order, as a list of structs; NULL when it has none. `value[start:end]` in Python gives
-- `text`: offsets count characters (code points) from 0 and `end` is behind the last one. `text` is the number with its sign,
-- exponent, scale word and percent sign, without currency and other units. Fields:
--   value        what it says, scaled: 4200000000 for 4.2 billion, 19.52 for 19.52% (unit percent)
--   half_unit    half a unit of the last stated digit, scaled: 50000000 for 4.2 billion
--   figures      the digits as a plain decimal, unscaled: 4.2; other_figures: the second meaning of 1.234 where commas are decimal
--   factor       value / figures
--   sign         -1, 1 or, where no sign is written, 0
--   unit         percent, currency, other or NULL
--   is_year      a bare 1900 to 2099, with no unit, sign, decimals or grouping
-- Tokens are marked in the text in one pass, so offsets follow from the lengths of what lies between the marks.
create or replace temp macro numbers_in(value) as (
    select list(
        struct_pack(
            -- From the text itself: the marks take the place of control characters.
            text := substr(value, found.first_character + 1, length(found.text)),
            start := found.first_character,
            "end" := found.first_character + length(found.text),
            value := found.figures::double * found.factor * if(found.sign < 0, -1, 1),
            half_unit := 0.5 * power(10, -decimal_places(found.figures)) * found.factor,
            figures := found.figures,
            other_figures := found.other_figures,
            factor := found.factor,
            sign := found.sign,
            unit := found.unit,
            is_year := found.is_year
        ) order by found.first_character
    )
    from (
        select
            member.lead || member.core || member.trail as text,
            token_start + member.skipped - length(member.lead) as first_character,
            member.readings[1] as figures,
            member.readings[2] as other_figures,
            factor,
            case when signs = '' then 0 when regexp_matches(signs, '[-−]') then -1 else 1 end as sign,
            unit_kind(pieces.unit, pieces.currency) as unit,
            regexp_matches(member.core, '^(?:19|20)\d\d$') and pieces.currency || signs || pieces.exponent || pieces.scale
                || pieces.unit = '' as is_year
        from (
            select
                token_start,
                pieces,
                pieces.sign || pieces.inner_sign as signs,
                scale_factor(pieces.scale, pieces.currency) * exponent_factor(pieces.exponent)
                    * percent_factor(pieces.unit) as factor,
                unnest(if(is_list,
                    list_transform(string_split(pieces.core, ','), lambda part, place: struct_pack(
                        lead := if(place = 1, near_sign, ''),
                        core := part,
                        trail := if(place = len(string_split(pieces.core, ',')), tail, ''),
                        skipped := before_core
                            + length(list_aggregate(string_split(pieces.core, ',')[1:place - 1] || [''], 'string_agg', ',')),
                        readings := [part]
                    )),
                    [struct_pack(lead := near_sign, core := pieces.core, trail := tail, skipped := before_core,
                        readings := number_readings(pieces.core, decimal_comma))]
                )) as member
            from (
                select
                    token_start,
                    pieces,
                    pieces.inner_sign || if(pieces.currency = '', pieces.sign, '') as near_sign,
                    pieces.exponent || pieces.scale
                        || if(unit_kind(pieces.unit, '') = 'percent', pieces.unit, '') as tail,
                    length(pieces.list_mark || pieces.sign || pieces.currency || pieces.inner_sign) as before_core,
                    decimal_comma or comma_by_unit(pieces) as decimal_comma,
                    (pieces.list_mark = ',' or pieces.list_mark = '[' and is_json or len(number_readings(pieces.core,
                        decimal_comma or comma_by_unit(pieces))) = 0) and number_list(pieces.core) is not null as is_list
                from (
                    select
                        token_start,
                        -- A list of one: a filter on `pieces` would otherwise be pushed down, and read every token twice.
                        unnest([number_pieces(token)]) as pieces,
                        is_json,
                        decimal_comma
                    from (
                        select
                            place,
                            split_part(piece, chr(2), 1) as token,
                            sum(length(piece) - if(place > 1, 1, 0)) over (
                                order by place rows between unbounded preceding and 1 preceding
                            )::integer as token_start,
                            is_json,
                            decimal_comma
                        from (
                            select
                                unnest(pieces) as piece,
                                generate_subscripts(pieces, 1) as place,
                                is_json,
                                decimal_comma
                            from (
                                select
                                    string_split(regexp_replace(translate(value, chr(1) || chr(2), '  '),
                                        claim_token_pattern(), chr(1) || '\0' || chr(2), 'g'), chr(1)) as pieces,
                                    regexp_matches(value, '^\s*[\[{]') as is_json,
                                    has_decimal_comma(value) as decimal_comma
                            )
                        )
                    )
                    where place > 1
                )
                where pieces.core <> '' and length(pieces.core) <= 1000 and not regexp_matches(pieces.core || pieces.unit, '^(?:19|20)\d0s$')
            )
        )
        where len(member.readings) > 0
    ) as found
    -- What no double can hold is no figure that an answer could be held to.
    where isfinite(found.figures::double * found.factor)
        and 0.5 * power(10, -decimal_places(found.figures)) * found.factor > 0
);
