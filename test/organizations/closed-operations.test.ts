import { afterAll, beforeAll, expect, test } from "vitest";
import { withTenant } from "../../src/db/pool.ts";
import { makeId } from "../../src/id.ts";
import { operations } from "../../src/operations.ts";
import { suspendOrganization } from "../../src/organizations/closures.ts";
import { systemPrincipal } from "../../src/principal.ts";
import { shareConsole, type TestConsole } from "../support/console-session.ts";
import { until } from "../support/until.ts";

const REASON = "the contract has ended";
const MESSAGE = `Acme is suspended: ${REASON}`;

let served: TestConsole;
beforeAll(async () => {
	served = await shareConsole();
});
afterAll(() => served.close());

test("every operation about a suspended organization is forbidden with the reason, to administrators too", async () => {
	const { organizationId } = served;
	const person = await served.signIn("admin");
	const concerned = operations.filter(({ tenant }) => tenant !== null);
	expect(concerned.length).toBeGreaterThan(100);
	await withTenant(served.database.pool, organizationId, (client) =>
		suspendOrganization(client, systemPrincipal(), organizationId, REASON),
	);
	await until("the service notices", async () => {
		served.service.wake();
		const { status } = await person.call("getOrganization", {
			organization_id: organizationId,
		});
		return status !== 200;
	});
	for (const { name, tenant } of concerned) {
		const id =
			tenant === "organization_id"
				? organizationId
				: makeId(organizationId, "risk");
		const { status, body } = await person.call(name, {
			[tenant as string]: id,
		});
		expect([name, status, body.message]).toEqual([name, 403, MESSAGE]);
	}
	const { status, body } = await person.call("listRisks", {});
	expect([status, body.message]).toEqual([403, MESSAGE]);
});
