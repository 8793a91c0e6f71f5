-- Lists of devices read every device of the organization for each of these, without an index.
-- A heartbeat changes none of the columns, or once in a long time.

-- The different systems, in which a search looks for its words.
create index devices_os_version on devices (organization_id, os_version);
-- Devices of a rare status, platform or version.
create index devices_status on devices (organization_id, status);
create index devices_platform on devices (organization_id, platform);
create index devices_agent_version on devices (organization_id, agent_version);
-- New devices, which the states of checks give more time.
create index devices_activated_at on devices (organization_id, activated_at);
