-- Quotations in texts.

-- quote_pattern: words between quotation marks; straight marks pair on one line. Code is passed over.
create or replace temp macro quote_pattern() as
    '```(?s:.*?)(?:```|\z)|`[^`\n]*`|“[^“”]+”|„[^„“”]+[“”]|«[^«»]+»|"[^"\n]+"';

-- may_hold_quotes: whether it is worth looking for quotations in a text.
create or replace temp macro may_hold_quotes(value) as regexp_matches(value, '[“„«"]');

-- quotable: a text as quotations are compared: lower case, one kind of dash, and a space for every run of space and marks of
-- quotation or emphasis.
create or replace temp macro quotable(value) as trim(regexp_replace(regexp_replace(
    lower(value), '[–—‑]', '-', 'g'), '[\s\x{a0}\x{2009}\x{202f}"“”„«»''‘’`*_\\]+', ' ', 'g'));

-- quote_parts: what of a quotation must stand in a source: the parts between its omissions (… or [...]), without the sentence
-- marks at their ends.
create or replace temp macro quote_parts(quote) as list_filter(list_transform(
    string_split_regex(quotable(quote), '\s*[\[(]?(?:…|\.\.\.)[\])]?\s*'),
    lambda part: regexp_replace(part, '^[\s.,;:!?-]+|[\s.,;:!?-]+$', '', 'g')), lambda part: part <> '');

-- quotes_in: the quotations of a text, in order, as a list of {text, start, end, parts, words}; NULL when it has none. Offsets
-- count characters from 0, inside the quotation marks, and `value[start:end]` in Python gives `text`.
create or replace temp macro quotes_in(value) as (
    select list(struct_pack(text := text, start := first_character, "end" := first_character + length(text),
        parts := quote_parts(text), words := len(regexp_extract_all(text, '[\pL\pN]+'))) order by first_character)
    from (
        select
            string_split(piece, chr(2))[1][2:-2] as text,
            1 + sum(length(piece) - if(place > 1, 1, 0)) over (
                order by place rows between unbounded preceding and 1 preceding
            )::integer as first_character,
            place > 1 and piece[1] <> '`' as is_quote
        from (
            select unnest(pieces) as piece, generate_subscripts(pieces, 1) as place
            from (
                select string_split(regexp_replace(translate(value, chr(1) || chr(2), '  '), quote_pattern(),
                    chr(1) || '\0' || chr(2), 'g'), chr(1)) as pieces
            )
        )
    )
    where is_quote
);
