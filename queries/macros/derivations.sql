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

-- range_between: from a number to a larger one and a little beyond: rounding must not keep out what `is_within` takes.
create or replace temp macro range_between(low, high, slack) as
    struct_pack(least := low - 1e-9 * (abs(low) + slack), most := high + 1e-9 * (abs(high) + slack));

-- partners_of: in which ranges a number must lie so that a step over it and `a` gives something from `low` to `high`, whatever
-- the two measure: it leaves few pairs for `steps_of`, which costs a hundred times as much.
create or replace temp macro partners_of(a, low, high, is_percent) as
    if(is_percent, [
        range_between(low - a, high - a, a), range_between(a - high, a - low, a), range_between(a + low, a + high, a),
        range_between(100 * a / high, 100 * a / low, 0), range_between(a * low / 100, a * high / 100, 0),
        range_between(a * (1 - high / 100), a * (1 - low / 100), a), range_between(a * (1 + low / 100), a * (1 + high / 100), a),
        range_between(a / (1 + high / 100), a / (1 + low / 100), a),
        range_between(if(low < 100, a / (1 - low / 100), 'inf'), if(high < 100, a / (1 - high / 100), 'inf'), a)
    ], [
        range_between(low - a, high - a, a), range_between(a - high, a - low, a), range_between(a + low, a + high, a),
        range_between(low / a, high / a, 0), range_between(100 * low / a, 100 * high / a, 0),
        range_between(10000 * low / a, 10000 * high / a, 0), range_between(a / high, a / low, 0),
        range_between(a * low, a * high, 0)
    ]);

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

-- operand: a positive number to calculate with as one DOUBLE, percent below zero: many of them take little room.
create or replace temp macro operand(value, is_percent) as if(is_percent, -value, value);

-- operands_in: the operands among numbers as `source_numbers_in` gives them.
create or replace temp macro operands_in(numbers) as list_transform(
    list_filter(numbers, lambda number: number.value > 0), lambda number: operand(number.value, number.is_percent));

-- sorted_operands: the largest first, of two equal ones percent last. Sorting plain numbers is several times as fast.
create or replace temp macro sorted_operands(operands) as
    case when list_min(operands) < 0 then list_transform(
        list_sort(list_transform(operands, lambda amount: struct_pack(rank := -abs(amount), is_percent := amount < 0))),
        lambda item: if(item.is_percent, item.rank, -item.rank))
    else list_sort(operands, 'DESC') end;

-- without_repeats: a sorted list with every item once.
create or replace temp macro without_repeats(items) as list_transform(list_filter(list_zip(items, items[2:]),
    lambda pair: pair[1] is distinct from pair[2]), lambda pair: pair[1]);

-- largest_operands: the n largest different ones, in order.
create or replace temp macro largest_operands(operands, n) as
    list_transform([sorted_operands(operands)], lambda items: without_repeats(items))[1][:n];

-- cut_operands: a list that may hold others than the 200 largest, but no more than 200.
create or replace temp macro cut_operands(operands) as
    list_transform([operands], lambda items: if(len(items) > 200, largest_operands(items, 200), items))[1];

-- operands_of: what to calculate with, at most 100 numbers: those of the question and of matched claims first, then the largest.
create or replace temp macro operands_of(asked, quoted, found) as
    list_transform([largest_operands(list_concat(coalesce(asked, []), coalesce(quoted, [])), 100)], lambda first:
        case when len(first) = 100 then first else list_concat(first, list_filter(largest_operands(found, 200),
            lambda amount: not list_contains(first, amount)))[:100] end)[1];

-- derivations_of: the claims that follow from two of their operands in one step, as (run_id, start, expression). `claims` is a
-- list of {run_id, start, value, half_unit, digits, is_percent, operands}. For each operand the ranges are found in which the
-- other must lie, and few of them hold any. Of several steps the plainest is taken; then the one over the smallest numbers.
create or replace temp macro derivations_of(claims) as table
    with items as materialized (
        select *, list_max(list_transform(operands, lambda b: abs(b))) as largest,
            list_min(list_transform(operands, lambda b: abs(b))) as smallest
        from (select claim.* from (select unnest(claims) as claim))
    ),
    firsts as (
        select run_id, start, is_percent, value, half_unit, digits, largest, smallest, place, operands[place] as a,
            operands[place + 1:] as others
        from (select *, unnest(range(1, len(operands))) as place from items)
    ),
    ranges as (
        select *, unnest(list_filter(
            partners_of(abs(a), abs(value) - 1.01 * half_unit, abs(value) + 1.01 * half_unit, is_percent),
            lambda range: range.least <= largest and range.most >= smallest)) as range
        from firsts
    ),
    pairs as (
        select run_id, start, is_percent, value, half_unit, digits, range.least, range.most, place, a,
            unnest(others) as b, generate_subscripts(others, 1) as distance
        from ranges
    ),
    steps as (
        select run_id, start, value < 0 as is_negative, place, distance, abs(a) as a, abs(b) as b,
            number_word(abs(a), a < 0) as a_word, number_word(abs(b), b < 0) as b_word,
            unnest(list_filter(steps_of(abs(a), abs(b), a < 0, b < 0, is_percent, digits),
                lambda step: is_within(step.result, abs(value), half_unit))) as step
        from pairs
        where abs(b) between least and most
    )
    select run_id, start, min_by(
        if(step.name = 'difference', if((a > b) = is_negative, b_word || ' - ' || a_word, a_word || ' - ' || b_word),
            expression_of(step.name, a_word, b_word)),
        (if(step.name in ('sum', 'difference', 'product'), 0, 1), -place, distance)) as expression
    from steps
    group by run_id, start;
