import type { Pool, PoolClient } from "pg";
import { withTenant } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import { requireOpenOrganization } from "../organizations/closures.ts";
import { IS_STAFF } from "../organizations/staff.ts";
import { findMyDevicesLink } from "./links.ts";

/** The person whose page is open. */
export interface Visit {
	organization_id: string;
	organization_name: string;
	/** Days of the organization begin and end by this time zone. */
	time_zone: string;
	people_id: string;
	full_name: string;
	is_copied: boolean;
	/** The user who copied the link. */
	copied_by_id: string | null;
	session_ends_at: string;
}

/**
 * Runs `work` for the person of this session, in a transaction that sees their organization. Throws
 * unauthorized if the session has ended.
 */
export async function openVisit<Result>(
	appPool: Pool,
	session: string,
	work: (client: PoolClient, visit: Visit) => Promise<Result>,
): Promise<Result> {
	const found = await findMyDevicesLink(appPool, session);
	if (!found) throw ended();
	return withTenant(appPool, found.organization_id, async (client) => {
		const { rows } = await client.query<Visit>(
			`select l.organization_id, o.name as organization_name, o.time_zone, l.people_id, p.full_name,
				l.is_copied, l.copied_by_id, l.session_ends_at
			from my_devices_links l
			join organizations o on o.id = l.organization_id
			join people p on p.organization_id = l.organization_id and p.id = l.people_id
			where l.organization_id = $1 and l.id = $2 and l.session_ends_at > now() and ${IS_STAFF}`,
			[found.organization_id, found.id],
		);
		const [visit] = rows;
		if (!visit) throw ended();
		await requireOpenOrganization(client, visit.organization_id);
		return work(client, visit);
	});
}

function ended(): AppError {
	return new AppError(
		"unauthorized",
		"this page has closed; open the newest link to your devices, or ask for a new one",
	);
}
