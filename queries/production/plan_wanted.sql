-- The evaluators that are asked for, with the number that the store knows each by as it would run now; NULL = it never has.
create or replace temp table plan_wanted as
select
    wanted_evaluators.position,
    wanted_evaluators.evaluator,
    wanted_evaluators.evaluator_sha256,
    wanted_evaluators.params,
    wanted_evaluators.kind,
    known.version
from wanted_evaluators
left join spanscore.main.evaluator_versions as known
    on known.evaluator = wanted_evaluators.evaluator
    and known.evaluator_sha256 = wanted_evaluators.evaluator_sha256
    and known.params = wanted_evaluators.params
    and known.model_version is not distinct from (select max(value) from store_meta where key = 'model_version')
    and known.price_fingerprint is not distinct from (select max(fingerprint) from price_snapshot);
