-- Numbers in texts. `numbers_in` reads an answer with offsets; `number_tokens` and `source_numbers` read what is compared with
-- it, without. Only the ASCII digits 0-9 are digits. `number_patterns.sql` says what is a number and what is passed over.

-- plain_text: a text without the backslashes of JSON: \n, \", \/ and \u00b0 would otherwise be glued to what follows them.
create or replace temp macro plain_text(value) as
    case when contains(value, '\') then regexp_replace(regexp_replace(
        case when contains(value, '\u') then coalesce(json(try_cast(value as json))::varchar, value) else value end,
        '\\+[nrtbf]', ' ', 'g'), '\\+(["/])', '\1', 'g')
    else value end;

-- number_tokens: everything in a text that holds a digit, numbers or not; the fast first pass. NULL for a NULL text.
create or replace temp macro number_tokens(value) as regexp_extract_all(value, number_token_pattern());

-- number_pieces: {list_mark, sign, currency, inner_sign, core, exponent, scale, unit} of a token, each '' where it is absent;
-- core is '' for a token that is no number. Most tokens are bare digits or words: those need no captures, which cost ten
-- times a plain match.
create or replace temp macro number_pieces(token) as
    case
        -- No number is so long; a list without spaces may be, and captures in it would cost seconds.
        when length(token) > 100 then struct_pack(list_mark := ',', sign := '', currency := '', inner_sign := '',
            core := if(regexp_matches(token, '^[\[,]?\d+(?:\.\d+)?(?:,\d+(?:\.\d+)?)+$'), ltrim(token, '[,'), ''),
            exponent := '', scale := '', unit := '')
        when regexp_matches(token, '^\d+(?:\.\d+)?$|^[a-jl-z]') then struct_pack(list_mark := '', sign := '', currency := '',
            inner_sign := '', core := if(token[1] between '0' and '9', token, ''), exponent := '', scale := '', unit := '')
        else regexp_extract(token, number_pieces_pattern(),
            ['list_mark', 'sign', 'currency', 'inner_sign', 'core', 'exponent', 'scale', 'unit'])
    end;

-- number_readings: what the core of a number can mean, as digits with a decimal point, the likeliest first. 1,234.56 and
-- 1.234,56 are clear by themselves; 1.234 and 1,234 mean the other thing too where commas are decimal. Empty for versions
-- and IP addresses (1.2.3), numbers with a leading zero (007) and lists (1,2): the last are `number_list`.
create or replace temp macro number_readings(core, decimal_comma) as
    case
        when length(core) > 100 or regexp_matches(core, '^0\d') then []::varchar[]
        when regexp_matches(core, '^\d*\.?\d+$') then case
            when decimal_comma and regexp_matches(core, '^[1-9]\d{0,2}\.\d{3}$') then [replace(core, '.', ''), core]
            else [core] end
        when regexp_matches(core, space_class()) then [replace(regexp_replace(core, space_class(), '', 'g'), ',', '.')]
        when regexp_matches(core, '^[1-9]\d{0,2}(?:[''’]\d{3})+(?:[.,]\d+)?$')
            then [replace(translate(core, '''’', ''), ',', '.')]
        when decimal_comma and regexp_matches(core, '^[1-9]\d{0,2},\d{3}$') then [replace(core, ',', '.'), replace(core, ',', '')]
        when regexp_matches(core, '^[1-9]\d{0,2}(?:,\d{3}|\{,\}\d{3})+(?:\.\d+)?$|^[1-9]\d?(?:,\d{2})+,\d{3}(?:\.\d+)?$')
            then [translate(core, '{,}', '')]
        when regexp_matches(core, '^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)$') then []
        when regexp_matches(core, '^[1-9]\d{0,2}(?:\.\d{3})+,\d+$|^[1-9]\d{0,2}(?:\.\d{3}){2,}$')
            then [translate(core, ',.', '.')]
        when regexp_matches(core, '^\d+,\d+$') and (decimal_comma or core[1] = '0') then [replace(core, ',', '.')]
        else []
    end;

-- number_list: the numbers of a core that is a list without spaces, such as 1,2 or 18.5,7.2; NULL when it is none.
create or replace temp macro number_list(core) as
    case when regexp_matches(core, '^\d+(?:\.\d+)?(?:,\d+(?:\.\d+)?)+$') 
        then list_filter(string_split(core, ','), lambda part: length(part) <= 100) end;

-- scale_word_factor: what a scale word in lower case multiplies by. A small m is a million only where money is meant.
create or replace temp macro scale_word_factor(word, is_million) as
    case
        when word in ('k', 'thousand', 'thousands', 'tausend', 'mille') then 1e3
        when word in ('million', 'millions', 'mn', 'mln', 'mio', 'millionen', 'millones', 'milhão', 'milhões', 'milioni',
            'miljoen') then 1e6
        when word = 'm' then if(is_million, 1e6, 1)
        when word in ('trillion', 'trillions', 'tn', 'trn', 't', 'billionen') then 1e12
        when word in ('hundred', 'hundreds') then 1e2
        when word in ('万', '萬', '만') then 1e4
        when word in ('lakh', 'lakhs') then 1e5
        when word in ('crore', 'crores') then 1e7
        when word in ('亿', '億', '억') then 1e8
        else 1e9
    end;

-- scale_factor: what a scale word multiplies by; 1 without one.
create or replace temp macro scale_factor(scale, currency) as
    case when scale = '' then 1 else scale_word_factor(
        lower(ltrim(scale, ' -' || chr(160) || chr(8201) || chr(8239))), currency <> '' or scale = 'M') end;

-- exponent_factor: 10 to the exponent; 1 without one. Exponents that no double holds are held to 300.
create or replace temp macro exponent_factor(exponent) as
    case when exponent = '' then 1 else power(10, greatest(-300, least(300, try_cast(regexp_extract(
        translate(exponent, '⁰¹²³⁴⁵⁶⁷⁸⁹⁻−{}', '0123456789--'), '(?:[eE]\+?|10(?:\^|\*\*)?\+?)(-?\d+)$', 1) as integer)))) end;

-- unit_kind: percent, currency or other; NULL without a unit. permille and bps are percent, scaled by `percent_factor`.
create or replace temp macro unit_kind(unit, currency) as
    case
        when regexp_matches(unit, '(?i)[%％‰]|per.?cent|pct|prozent|bps|basis|pp') then 'percent'
        when currency <> '' or regexp_matches(unit, '(?i)[€£¥$₹₽₩元円]|^.?(?:' || currency_codes()
            || '|dollars?|euros?|pounds?|cents?|yen|yuan|rupees?|kr|zł)$') then 'currency'
        when unit <> '' then 'other'
    end;
create or replace temp macro percent_factor(unit) as
    case when unit = '' then 1 when contains(unit, '‰') then 0.1 when regexp_matches(unit, '(?i)bps|basis') then 0.01 else 1 end;

-- decimal_places: digits behind the point of a reading.
create or replace temp macro decimal_places(reading) as
    case when contains(reading, '.') then length(reading) - instr(reading, '.') else 0 end;

-- has_decimal_comma: the text writes 1,5 for one and a half: an unmistakable number or words of a language that does so,
-- and no number with a decimal point.
create or replace temp macro has_decimal_comma(value) as
    not regexp_matches(value, '\d,\d{3}\.\d|(?:^|[^\d.,])\d+\.(?:\d{1,2}|\d{4,})(?:[^\d.,]|[.,](?:\D|$)|$)') and regexp_matches(value,
        '\d\.\d{3},\d|\d,\d{1,2}' || space_class() || '?(?:[%€]|EUR\b|Euro\b|Prozent\b|kr\b|zł)|\d' || space_class() || '(?:Mio|Mrd)\b'
        || '|(?i:(?:^|[\s"(])(?:der|das|und|ist|beträgt|kostet|liegt|les|est|sont|une|et|el|es|una|het|een|kost|della|sono|è|é|são|och|är|er|og|jest|wynosi)(?:[\s,.:]|$))');

-- comma_by_unit: the comma of this number is a decimal one, or its point groups, because of what stands beside it: 19,52 %
-- is no list, and an amount in euros has no three decimals.
create or replace temp macro comma_by_unit(pieces) as
    case
        when contains(pieces.core, '.') then contains(pieces.currency || pieces.unit, '€')
        else pieces.unit || pieces.scale || pieces.currency <> '' and not regexp_matches(pieces.core, '^[1-9]\d{0,2},\d{3}$')
    end;

-- source_readings: all that a number in a source can mean, as plain decimals. Where a tool writes 101,205 or 101 205 it may
-- be a list: in a list without spaces, behind a bracket or a comma, and in columns set apart by plain spaces.
create or replace temp macro source_readings(pieces) as
    list_distinct(list_concat(
        number_readings(pieces.core, comma_by_unit(pieces)),
        case when regexp_matches(pieces.core, '^\d+,\d+$') and not regexp_matches(pieces.core, '^[1-9]\d{0,2},\d{3}$')
            then [replace(pieces.core, ',', '.')] end,
        case when pieces.list_mark <> '' or len(number_readings(pieces.core, comma_by_unit(pieces))) = 0
            then number_list(pieces.core) end,
        case when contains(pieces.core, ' ') then string_split(pieces.core, ' ') end
    ));
