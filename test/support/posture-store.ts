import { Postures } from "../../src/devices/postures.ts";
import type { PostureStatus } from "../../src/devices/terms.ts";
import type { PostureResult } from "../../src/devices/wire.ts";
import { makeId } from "../../src/id.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { hashSecret, makeSecret } from "../../src/tokens/secret.ts";
import type { TestDatabase } from "./database.ts";

export interface Span {
	check_key: string;
	status: PostureStatus;
	since: Date;
	last_observed_at: Date;
	is_current: boolean;
}

/** The queue that stores reports, with an organization whose devices report to it. */
export interface PostureStore {
	organizationId: string;
	postures: Postures;
	makeActiveDevice: () => Promise<{ id: string; keyHash: string }>;
	/** Returns the history of a device, ordered by check and time. */
	readSpans: (deviceId: string) => Promise<Span[]>;
	countReports: (
		deviceId: string,
	) => Promise<{ reports: number; results: number } | undefined>;
}

export async function makePostureStore(
	database: TestDatabase,
): Promise<PostureStore> {
	const organizationId = await createOrganization(database.pool, "Acme");
	return {
		organizationId,
		postures: new Postures(database.pool),
		makeActiveDevice: async () => {
			const id = makeId(organizationId, "device");
			const keyHash = hashSecret(makeSecret("dev"));
			const hardwareUuid = crypto.randomUUID();
			await database.owner.query(
				`insert into devices (organization_id, id, status, key_hash, hardware_uuid, hardware_hash, platform)
				values ($1, $2, 'ACTIVE', $3, $4, sha256(convert_to($4, 'UTF8')), 'LINUX')`,
				[organizationId, id, `\\x${keyHash}`, hardwareUuid],
			);
			return { id, keyHash };
		},
		readSpans: async (deviceId) => {
			const { rows } = await database.owner.query<Span>(
				`select check_key, status, since, last_observed_at, is_current from posture_spans
				where device_id = $1 order by check_key, since`,
				[deviceId],
			);
			return rows;
		},
		countReports: async (deviceId) => {
			const { rows } = await database.owner.query<{
				reports: number;
				results: number;
			}>(
				`select count(*)::int as reports, coalesce(sum(jsonb_array_length(results)), 0)::int as results
				from posture_reports where device_id = $1`,
				[deviceId],
			);
			return rows[0];
		},
	};
}

/** The time that the minutes of `observation` count from. */
export const START = Date.parse("2026-03-01T00:00:00Z");

/** Returns a result that was observed a number of minutes after `START`. */
export function observation(
	check: string,
	minute: number,
	status: PostureStatus,
	correlationId?: string,
): PostureResult {
	return {
		check_key: check,
		status,
		observed_at: (START + minute * 60_000) * 1000,
		correlation_id: correlationId,
	};
}
