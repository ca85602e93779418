-- What a run looked up in a knowledge base, in order.
select
    retrieval_id,
    agent_invocation_id,
    kind,
    data_source,
    query,
    top_k,
    started_at,
    duration_s,
    status,
    n_documents
from retrievals
where run_id = $run_id
order by started_at nulls last, retrieval_id
