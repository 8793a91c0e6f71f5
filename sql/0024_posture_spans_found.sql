-- Finds the times in which a check failed or was unknown, over all devices of an organization. The
-- few spans with these statuses are what people ask for. The index has no time of an observation, so
-- a report that only confirms a status still updates no index.

create index posture_spans_found on posture_spans (organization_id, check_key, status, since)
where status in ('FAIL', 'UNKNOWN');
