-- Addresses on the web in texts.

-- trimmed_link: a link as it was meant: up to a bracket that it did not open, without quotes and sentence marks at its end.
-- Brackets that it opens itself stay: https://doi.example/0026-0495(67)90027-3.
create or replace temp macro trimmed_link(link) as regexp_replace(
    regexp_extract(link, '^(?:\((?:[^()]|\([^()]*\))*\)|\[[^\[\]]*\]|\{[^{}]*\}|[^)\]}])*'), '[.,;:!?''"’”»*~|…(\[{]+$', '');

-- tracking_parameter: parameters that say where a visitor came from, not what is shown.
create or replace temp macro tracking_parameter() as
    '^(?i:utm_[^=]*|gclid|gclsrc|gbraid|wbraid|dclid|fbclid|msclkid|yclid|twclid|ttclid|igshid|mc_cid|mc_eid|mkt_tok|_ga|_gl'
    || '|_hsenc|_hsmi|srsltid|ref_src|vero_id|oly_anon_id|oly_enc_id)(?:=|$)';

-- normalized_url_of: `normalized_url` of {scheme, host, path, query}.
create or replace temp macro normalized_url_of(pieces) as
    lower(pieces.scheme) || '://'
    || regexp_replace(lower(pieces.host), if(lower(pieces.scheme) = 'https', ':443$', ':80$'), '')
    || regexp_replace(pieces.path, '/$', '')
    || coalesce('?' || nullif(list_aggregate(list_filter(string_split(pieces.query[2:], '&'),
        lambda parameter: parameter <> '' and not regexp_matches(parameter, tracking_parameter())), 'string_agg', '&'), ''), '');

-- normalized_url: what two links to one page have in common: scheme and host in lower case; no fragment, default port,
-- tracking parameter or slash at the end of the path. The case of the path counts, and so does the order of parameters.
-- A link that starts with www. is one to https.
create or replace temp macro normalized_url(link) as normalized_url_of(regexp_extract(
    if(regexp_matches(link, '^(?i:www\.)'), 'https://', '') || replace(link, '&amp;', '&'),
    '^([A-Za-z]+)://([^/?#]*)([^?#]*)(\?[^#]*)?', ['scheme', 'host', 'path', 'query']));

-- may_hold_links: whether it is worth looking for links in a text: a plain search, many times as fast as the pattern.
create or replace temp macro may_hold_links(value) as contains(value, '://') or contains(value, 'www.');

-- links_in: the links of a source as they stand there; NULL when it has none.
create or replace temp macro links_in(value) as
    case when may_hold_links(plain_text(value)) then regexp_extract_all(plain_text(value), link_pattern()) end;

-- urls_in: the links of a text, in order, as a list of {text, start, end, normalized}; NULL when it has none. Offsets count
-- characters from 0 and `value[start:end]` in Python gives `text`.
create or replace temp macro urls_in(value) as (
    select list(struct_pack(text := text, start := first_character, "end" := first_character + length(text),
        normalized := normalized_url(text)) order by first_character)
    from (
        select
            trimmed_link(string_split(piece, chr(2))[1]) as text,
            sum(length(piece) - if(place > 1, 1, 0)) over (
                order by place rows between unbounded preceding and 1 preceding
            )::integer as first_character,
            place
        from (
            select unnest(pieces) as piece, generate_subscripts(pieces, 1) as place
            from (
                select string_split(regexp_replace(translate(value, chr(1) || chr(2), '  '), link_pattern(),
                    chr(1) || '\0' || chr(2), 'g'), chr(1)) as pieces
            )
        )
    )
    where place > 1 and regexp_matches(text, '^(?:[A-Za-z]+://|www\.)[^/]')
);
