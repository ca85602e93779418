-- One step of arithmetic over numbers that a run was given.

-- is_within: two positive numbers differ by no more than a margin, the margin included: 18.45 lies half a tenth from 18.5,
-- though their doubles lie a little further apart. Up to 15 digits the allowance is less than half a unit.
create or replace temp macro is_within(a, b, margin) as isfinite(b) and abs(a - b) <= margin * 1.000001 + b * 4e-16;

-- operand_limit: how many different numbers of a run may be combined for a claim of so many significant digits. Of n numbers
-- come about 3.5 n² results, spread over some four powers of ten; a claim of d digits is one of 9 × 10^(d-1) values in one of
-- them. The limits keep the chance that an invented claim equals some result by accident below one in ten.
create or replace temp macro operand_limit(digits) as
    case digits when 0 then 0 when 1 then 2 when 2 then 6 when 3 then 8 when 4 then 26 when 5 then 84 else 100 end;

-- significant_digits: digits of a plain decimal from the first that is not 0.
create or replace temp macro significant_digits(figures) as ltrim(translate(figures, '.', ''), '0');

-- steps_of: the results of one step over two numbers, each with what it is called; the larger number first in differences.
-- A share or a change answers a claim in percent, a product or a quotient any other; two significant digits are too few for
-- anything but a sum or a difference. A power of ten is no factor: it would excuse a shifted decimal point.
create or replace temp macro steps_of(a, b, a_is_percent, b_is_percent, is_percent, digits) as
    list_filter([
        if(a_is_percent = b_is_percent, struct_pack(name := 'sum', result := a + b), null),
        if(a_is_percent = b_is_percent, struct_pack(name := 'difference', result := abs(a - b)), null),
        if(not is_percent and digits > 2 and not is_power_of_ten(a) and not is_power_of_ten(b), struct_pack(name := 'product',
            result := a / if(a_is_percent, 100, 1) * b / if(b_is_percent, 100, 1)), null),
        if(digits > 2 and (is_percent or not is_power_of_ten(b)) and not b_is_percent and not a_is_percent,
            struct_pack(name := 'quotient', result := a / b * if(is_percent, 100, 1)), null),
        if(digits > 2 and (is_percent or not is_power_of_ten(a)) and not b_is_percent and not a_is_percent,
            struct_pack(name := 'inverse', result := b / a * if(is_percent, 100, 1)), null),
        if(is_percent and digits > 1 and not a_is_percent and not b_is_percent,
            struct_pack(name := 'change', result := abs(b - a) / a * 100), null),
        if(is_percent and digits > 1 and not a_is_percent and not b_is_percent,
            struct_pack(name := 'change back', result := abs(a - b) / b * 100), null)
    ], lambda step: step is not null);

-- is_power_of_ten: 1, 10, 100, 0.1 …
create or replace temp macro is_power_of_ten(value) as
    value > 0 and abs(log10(value) - round(log10(value))) < 1e-12;

-- might_follow: some step over two numbers gives a value, to within a margin, whatever they measure: a plain test that leaves
-- few pairs for `steps_of`, which costs ten times as much.
create or replace temp macro might_follow(a, b, value, margin) as
    is_within(a + b, value, margin) or is_within(abs(a - b), value, margin)
    or is_within(a * b, value, margin) or is_within(a * b / 100, value, margin) or is_within(a * b / 10000, value, margin)
    or is_within(a / b, value, margin) or is_within(a / b * 100, value, margin)
    or is_within(b / a, value, margin) or is_within(b / a * 100, value, margin)
    or is_within(abs(b - a) / a * 100, value, margin) or is_within(abs(a - b) / b * 100, value, margin);

-- number_word: a number as it is written in an expression.
create or replace temp macro number_word(value, is_percent) as
    regexp_replace(value::varchar, '\.0$', '') || if(is_percent, '%', '');

-- expression_of: a step in words that can be calculated.
create or replace temp macro expression_of(name, a, b) as
    case name
        when 'sum' then a || ' + ' || b
        when 'product' then a || ' * ' || b
        when 'quotient' then a || ' / ' || b
        when 'inverse' then b || ' / ' || a
        when 'change' then '(' || b || ' - ' || a || ') / ' || a
        when 'change back' then '(' || a || ' - ' || b || ') / ' || b
    end;
