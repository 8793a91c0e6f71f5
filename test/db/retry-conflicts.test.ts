import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { invoke, type Services } from "../../src/invoke.ts";
import { makeLogger } from "../../src/log.ts";
import { defineOperation } from "../../src/operation.ts";
import { type Calls, makeCalls } from "../support/calls.ts";

let calls: Calls;
beforeAll(async () => {
	calls = await makeCalls();
});
afterAll(() => calls.close());

test("changing an organization while rejected calls are logged never ends in a deadlock", async () => {
	const { organizationId: organization_id } = calls;
	const viewer = calls.principal("viewer");
	const writes = Array.from({ length: 40 }, (_, number) => [
		calls.call("updateOrganization", {
			organization_id,
			description: `description ${number}`,
		}),
		calls.refusal("addMeasure", { organization_id }, viewer),
	]);
	await Promise.all(writes.flat());
	const { rows } = await calls.database.owner.query(
		"select deadlocks::int from pg_stat_database where datname = current_database()",
	);
	expect(rows).toEqual([{ deadlocks: 0 }]);
});

/**
 * Makes an operation whose transaction fails a given number of times with the error that PostgreSQL
 * gives the victim of a deadlock.
 */
function makeVictim(state: { failures: number; runs: number }) {
	return defineOperation({
		name: "beVictim",
		title: "Be a victim",
		description: "Fails as in a deadlock.",
		toolset: "organizations",
		access: "write",
		tenant: "organization_id",
		input: z.strictObject({ organization_id: z.string() }),
		output: z.object({}),
		run: async ({ client, changed }, { organization_id }) => {
			state.runs++;
			changed({
				kind: "organization",
				id: organization_id,
				name: `run ${state.runs}`,
				fields: { name: { before: "a", after: "b" } },
			});
			if (state.runs <= state.failures) {
				await client.query(
					"do $$ begin raise exception 'deadlock detected' using errcode = '40P01'; end $$",
				);
			}
			return {};
		},
	});
}

const invokeVictim = (state: { failures: number; runs: number }) =>
	invoke(
		{
			pool: calls.database.pool,
			log: makeLogger("silent"),
			baseUrl: "http://localhost:8080",
		} as Services,
		calls.principal("admin"),
		makeVictim(state),
		{ organization_id: calls.organizationId },
	);

test("a call whose transaction PostgreSQL ended because of another one is repeated, and logged once", async () => {
	const state = { failures: 1, runs: 0 };
	await invokeVictim(state);
	expect(state.runs).toBe(2);
	const { rows } = await calls.database.owner.query(
		"select record_name from audit_entries where operation = 'beVictim'",
	);
	expect(rows).toEqual([{ record_name: "run 2" }]);
});

test("a call that has a conflict every time fails in the end", async () => {
	const state = { failures: 100, runs: 0 };
	await expect(invokeVictim(state)).rejects.toThrow("deadlock detected");
	expect(state.runs).toBeLessThan(10);
});
