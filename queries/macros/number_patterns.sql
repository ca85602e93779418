-- The regular expressions that find numbers in text, from small to large. Every digit of a text ends in some token: a number,
-- or something that only looks like one (a date, an address, an identifier), which is thereby passed over. One pass does both.
-- The dialect is RE2: no looking around, and \b and \d know ASCII only. Every macro here is a constant.

-- letter_class: letters that make a digit beside them part of a word. Scripts written without spaces are not in it: 价格1842元.
create or replace temp macro letter_class() as '[A-Za-z_\p{Latin}\p{Greek}\p{Cyrillic}]';
create or replace temp macro word_class() as '[A-Za-z0-9_\p{Latin}\p{Greek}\p{Cyrillic}]';

-- space_class: spaces that may stand inside a number: plain, no-break, thin and narrow no-break.
create or replace temp macro space_class() as '[ \x{a0}\x{2009}\x{202f}]';

-- currency_codes: codes that may stand before or after an amount.
create or replace temp macro currency_codes() as
    'USD|EUR|GBP|JPY|CNY|RMB|CHF|CAD|AUD|NZD|INR|BRL|SEK|NOK|DKK|PLN|CZK|HUF|MXN|ZAR|SGD|HKD|KRW|TRY';

-- currency_before: a currency in front of an amount.
create or replace temp macro currency_before() as
    '(?:(?:US|CA|HK|NZ|[ACRS])?[$]|[€£¥₹₽₩₺₪₫₴฿]|(?:' || currency_codes() || '|Rs\.?|Rp|kr\.?))' || space_class() || '?';

-- number_core: the digits with their separators: grouped by spaces, or by commas, points, apostrophes and {,}; or .5.
create or replace temp macro number_core() as
    '(?:\d{1,3}(?:' || space_class() || '\d{3})+(?:[.,]\d+)?|\d+(?:(?:[.,''’]|\{,\})\d+)*|\.\d+)';

-- number_exponent: e6, × 10^6, *10**6, ×10⁶.
create or replace temp macro number_exponent() as
    '(?:[eE][-+]?\d{1,3}\b|' || space_class() || '?[×x*·⋅]' || space_class()
    || '?10(?:\^\{[-−+]?\d{1,3}\}|\^[-−+]?\d{1,3}\b|\*\*[-+]?\d{1,3}\b|⁻?[⁰¹²³⁴-⁹]{1,3}))';

-- number_scale: a word or a letter that multiplies. A single letter must touch the digits: 5k, not 5 k.
create or replace temp macro number_scale() as
    '(?:[kKmMbBT]\b|(?:' || space_class() || '|-)?(?:(?i:hundred|thousand|million|billion|trillion|mn|mln|mio|bn|bln|mrd|tn|trn'
    || '|tausend|millionen|milliarden?|billionen|milliards?|mille|millones|milh(?:ão|ões)|bilh(?:ão|ões)|milioni|miliardi|miljoen'
    || '|miljard|lakh|crore)s?\b|[万萬亿億만억]))';

-- number_unit: a unit that says what the number is. Only units that are no words of their own may stand apart from the digits.
create or replace temp macro number_unit() as
    '(?:' || space_class() || '?(?:[%‰％]|°[CF]?|℃|℉|[€₹₽₩元円])|[£¥$]|(?:' || space_class()
    || '|-)?(?:(?i:percent(?:age' || space_class() || 'points?)?|per' || space_class() || 'cent|pct|prozent|bps|basis' || space_class()
    || 'points?|dollars?|euros?|pounds?|cents?|yen|yuan|rupees?)|pp|' || currency_codes()
    || '|kr|zł|k[mgWB]|[mcn]m|m[gs]|k?Wh|[MGT]Wh|[MG]W|[KMGTP]i?B|[kMG]?Hz|mph|km/h|ppm|lbs?|kcal|hPa)\b'
    || '|(?:[mgslhtxXVWAJKCFLBd]|µ[mgs]|ns|min|sec|hrs?|ft|in|mi|oz|ml|mL|px|pt|dB|mAh|rpm|fps|bar|psi|bits?)\b)';

-- number_prefix: what may stand before the digits: the start of a bare list, signs and a currency.
create or replace temp macro number_prefix() as '[\[,]?[-−+]?(?:' || currency_before() || ')?[-−+]?';

-- number_pieces_pattern: a whole token that is a number, in eight captured pieces (`number_pieces`).
create or replace temp macro number_pieces_pattern() as
    '^([\[,])?([-−+])?(' || currency_before() || ')?([-−+])?(' || number_core() || ')(' || number_exponent() || ')?('
    || number_scale() || ')?(' || number_unit() || ')?[-–—]?$';

-- link_pattern: an address on the web, as far as a space, a quote, an angle bracket or a full-width mark.
create or replace temp macro link_pattern() as '(?:(?i:https?|ftp|wss?|file)://|www\.)[^\s<>"`\\“”。，、）】」]+';

create or replace temp macro month_names() as
    '(?i:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?'
    || '|nov(?:ember)?|dec(?:ember)?|januar|februar|märz|mai|juni|juli|oktober|dezember)';

-- time_patterns: dates, times of day and spans of years: 2025-03-01, 12/31/2025, March 3, 2025, 14:30, 2024/25, 1990s.
create or replace temp macro time_patterns() as
    '\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?|\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\b'
    || '|\d{1,2}/\d{1,2}/\d{2,4}\b|\d{4}/\d{1,2}/\d{1,2}\b'
    || '|' || month_names() || '\.?' || space_class() || '\d{1,2}(?:st|nd|rd|th)?(?:,?' || space_class() || '\d{4})?\b'
    || '|\d{1,2}(?:st|nd|rd|th|\.)?' || space_class() || '(?:of' || space_class() || ')?' || month_names() || '\b\.?(?:,?'
    || space_class() || '\d{4}\b)?|' || month_names() || '\.?,?' || space_class() || '\d{4}\b'
    || '|(?:19|20)\d\d(?:-(?:0[1-9]|1[0-2])|[-–/](?:\d\d|(?:19|20)\d\d))\b|(?:19|20)\d0s\b';

-- identifier_patterns: names that hold digits: e-mail addresses, UUIDs, telephone numbers, 978-3-16, #42, 3/4, version 4.2,
-- 10-K. The names of products whose version is usually given are taken with it.
create or replace temp macro identifier_patterns() as
    '[A-Za-z0-9_.+-]+@[A-Za-z0-9-]+\.[A-Za-z0-9.-]+|[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}'
    || '|\+\d[\d ().-]{7,}\d|\(\d{3}\)' || space_class() || '?\d{3}[-. ]\d{4}\b|\d+(?:-\d+){2,}\b|#\d+\b|\d{1,2}/\d{1,2}\b'
    || '|(?:(?i:version|ver\.|release|rev\.?|python|node(?:\.js)?|java|php|ubuntu|ios|android|macos|windows|cuda|gpt|claude|gemini'
    || '|llama|usb|bluetooth|http|tls)|Opus|Sonnet|Haiku)' || space_class() || 'v?\d+(?:\.\d+)*\b|\d+-[A-Z]' || word_class()
    || '*(?:-' || word_class() || '+)*';

-- word_with_digits: a word that starts with a letter and holds a digit: A-113, gpt-4o, v4.2.1, Q3.
create or replace temp macro word_with_digits() as
    letter_class() || '+(?:[''’.\-]' || letter_class() || '+)*[-.]?\d' || word_class() || '*(?:[-.]+' || word_class() || '+)*';

-- digits_with_letters: digits that run into letters which are no unit: 42abc, 3f2a9c, 100th.
create or replace temp macro digits_with_letters() as
    number_prefix() || '\d+(?:[.,''’]\d+)*' || letter_class() || word_class() || '*(?:[-.]' || word_class() || '+)*';

-- number_token_pattern: the next thing that holds a digit. The order of the alternatives decides; a number with a unit
-- or an exponent comes before digits that run into letters, and those before a number without. A hyphen behind a number is taken with it, so that
-- the second number of 100-200 is not negative.
create or replace temp macro number_token_pattern() as
    link_pattern() || '|' || time_patterns() || '|' || identifier_patterns()
    || '|' || number_prefix() || number_core() || '(?:' || number_exponent() || '(?:' || number_scale() || ')?(?:' || number_unit()
    || ')?|' || number_scale() || '(?:' || number_unit() || ')?|' || number_unit() || ')|' || digits_with_letters()
    || '|' || number_prefix() || number_core() || '\b[-–—]?|' || word_with_digits() || '|\.{2,}';

-- claim_token_pattern: the same in an answer, where code, list markers (1. and 2)) and citation marks ([1]) are passed over.
create or replace temp macro claim_token_pattern() as
    '```(?s:.*?)(?:```|\z)|`[^`\n]*`|(?m:^)[ \t]*(?:[-*>#]+[ \t]+)?\(?\d{1,3}[.)][ \t]'
    || '|[\pL.,;)"”%*] ?\[\d{1,2}(?:[,–-] ?\d{1,2})*\]|' || number_token_pattern();
