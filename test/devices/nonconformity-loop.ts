import { expect } from "vitest";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { postureResult } from "../support/service.ts";
import type { Json, TestTools } from "../support/tools.ts";
import { keepDevicesNow } from "../support/upkeep.ts";

const DAY = 86_400_000;
export const daysAgo = (days: number) =>
	new Date(Date.now() - days * DAY).toISOString();
export const CHECK = "FIREWALL_ENABLED";

/** Makes an organization whose devices were activated long ago, so new failures have 3 days. */
export async function makeLoop(assay: TestTools) {
	const organization_id = await createOrganization(assay.database.pool, "Loop");
	const { token } = await assay.makeUser({
		[organization_id]: "admin",
	});
	const use = (tool: string, input: Json = {}) => assay.use(tool, input, token);
	const owner = (sql: string, values: unknown[] = []) =>
		assay.database.owner.query(sql, values);
	const settle = () => keepDevicesNow(assay.database.pool, organization_id);
	const list = async (): Promise<Json[]> =>
		(await use("listNonconformities", { organization_id, detail: "full" }))
			.nonconformities;
	return {
		organization_id,
		use,
		owner,
		settle,
		list,
		/** Settles, and returns the only nonconformity. */
		only: async (): Promise<Json> => {
			await settle();
			const all = await list();
			expect(all).toHaveLength(1);
			return all[0];
		},
		device: async (name: string) => {
			const device = await assay.activateDevice(organization_id);
			await owner(
				"update devices set activated_at = now() - interval '100 days', name = $2 where id = $1",
				[device.id, name],
			);
			const send = async (
				...results: { status: string; days: number; check_key: string }[]
			) => {
				const answer = await assay.post(
					"postures",
					{
						results: results.map(({ days, ...result }) =>
							postureResult({ ...result, observed_at: daysAgo(days) }),
						),
					},
					{ key: device.key },
				);
				expect(answer.status).toBe(204);
			};
			return {
				id: device.id,
				report: (status: string, days = 0, check_key = CHECK) =>
					send({ status, days, check_key }),
				/** Begins to fail checks so long ago that the grace is over. */
				fail: (...checks: string[]) =>
					send(
						...(checks.length > 0 ? checks : [CHECK]).flatMap((check_key) =>
							[6, 4, 2, 0].map((days) => ({ status: "FAIL", days, check_key })),
						),
					),
			};
		},
		places: async (id: string): Promise<Json[]> =>
			(await use("listNonconformityDevices", { id })).nonconformity_devices,
		events: async (): Promise<string[]> =>
			(
				await owner(
					"select type from events where organization_id = $1 and type like 'nonconformity.%' order by id",
					[organization_id],
				)
			).rows.map(({ type }) => type.replace("nonconformity.", "")),
	};
}
