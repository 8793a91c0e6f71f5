import type { PoolClient } from "pg";
import {
	RELEASE,
	type Releases,
	writeReleases,
} from "../agent-packages/release.ts";
import { listed, MAX_LISTED, quoted } from "../records/no-match-messages.ts";
import { OWN_AGENT } from "./agent-name.ts";

/** Most versions of the agent that `countAgents` lists. An agent may report any version. */
export const MAX_AGENT_VERSIONS = 50;

/**
 * Returns an SQL condition over rows `t` with the columns agent_name, agent_version and platform: the
 * agent is Assay's, and older than the release for its platform. The SQL `releases` is a JSON object
 * of releases by platform. No device matches whose platform has none.
 */
export const isOlderAgent = (releases: string): string =>
	`case when coalesce(t.agent_name, '${OWN_AGENT}') = '${OWN_AGENT}'
			and t.agent_version ~ '${RELEASE.source}'
		then coalesce(
			string_to_array(t.agent_version, '.')::int[]
				< string_to_array(${releases}::jsonb ->> t.platform, '.')::int[],
			false
		)
		else false end`;

/**
 * Returns a message that no device of the organization has this version of the agent. The message
 * lists the most common versions. Returns undefined if a device has it, or if none has any.
 */
export async function whyNoAgent(
	client: PoolClient,
	organizationId: string,
	version: string,
): Promise<string | undefined> {
	const { rows } = await client.query<{ version: string; is_it: boolean }>(
		`select t.agent_version as version, t.agent_version = $2 as is_it
		from devices t where t.organization_id = $1 and t.agent_version is not null
		group by t.agent_version
		order by t.agent_version = $2 desc, count(*) desc, t.agent_version
		limit ${MAX_LISTED + 1}`,
		[organizationId, version],
	);
	if (rows.length === 0 || rows[0]?.is_it) return undefined;
	const versions = rows.map((row) => row.version);
	return `no device has the agent ${quoted(version)}; there are ${listed(versions)}`;
}

/** The ACTIVE devices by their agents. */
export interface AgentCounts {
	/** The most common versions first. */
	versions: { agent_version: string; devices: number }[];
	/**
	 * The number of devices whose agent is older than the newest one, and the value of the filter
	 * `agent_older_than` that lists them. Null if the service offers no agent.
	 */
	outdated: { devices: number; agent_older_than: string } | null;
}

/** Counts the ACTIVE devices by the version of their agent, and those whose agent is outdated. */
export async function countAgents(
	client: PoolClient,
	organizationId: string,
	newest: Releases,
): Promise<AgentCounts> {
	const { rows } = await client.query<{
		versions: AgentCounts["versions"];
		outdated: number;
	}>({
		name: "summary.agents",
		text: `
			with agent as materialized (
				select t.agent_name, t.agent_version, t.platform, count(*)::int as devices
				from devices t
				where t.organization_id = $1 and t.status = 'ACTIVE' and t.agent_version is not null
				group by t.agent_name, t.agent_version, t.platform
			), version as (
				select t.agent_version, sum(t.devices)::int as devices
				from agent t
				group by t.agent_version
				order by sum(t.devices) desc, t.agent_version limit ${MAX_AGENT_VERSIONS}
			)
			select
				coalesce((select jsonb_agg(v order by v.devices desc, v.agent_version) from version v), '[]')
					as versions,
				coalesce((select sum(t.devices)::int from agent t where ${isOlderAgent("$2")}), 0) as outdated`,
		values: [organizationId, JSON.stringify(newest)],
	});
	const [found] = rows;
	if (!found) throw new Error("the statement returned no row");
	const releases = writeReleases(newest);
	return {
		versions: found.versions,
		outdated:
			releases === ""
				? null
				: { devices: found.outdated, agent_older_than: releases },
	};
}
