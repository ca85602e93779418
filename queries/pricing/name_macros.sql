-- name_passes: whether a lower-case name passes all tests of a row of price_model_match or price_provider_match.
-- A test that is NULL is not made. Regular expressions come last: nearly every row is decided by its literal start.
create or replace temp macro name_passes(name, equals, starts_with, ends_with, needles, matches, excludes) as
    case
        when equals is not null then name = equals
        when starts_with is not null and not starts_with(name, starts_with) then false
        when ends_with is not null and not ends_with(name, ends_with) then false
        when len(list_filter(coalesce(needles, []), lambda needle: not contains(name, needle))) > 0 then false
        when matches is not null and not regexp_matches(name, matches) then false
        when excludes is not null then not regexp_matches(name, excludes)
        else true
    end;

-- base_name: the name without a release date or `latest` at its end (`-20260205`, `-2026-02-05`, `@20260205`,
-- `-latest`).
create or replace temp macro base_name(name) as
    regexp_replace(
        name,
        '([-@]20\d\d(-(0[1-9]|1[0-2])-|(0[1-9]|1[0-2]))(0[1-9]|[12]\d|3[01])|[-@:]latest)$',
        ''
    );

-- dashed_date: the name with a compact date (`-20260205`) written with dashes, where such a day exists.
-- genai-prices lists dated models that way, and looks again with this spelling when the name itself is not found.
create or replace temp macro dashed_date(name) as
    case
        when try_cast(
            regexp_replace(
                regexp_extract(name, '-(20\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01]))(-|:|$)', 1),
                '(....)(..)(..)', '\1-\2-\3'
            ) as date
        ) is not null
            then regexp_replace(name, '-(20\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(-|:|$)', '-\1-\2-\3\4')
        else name
    end;
