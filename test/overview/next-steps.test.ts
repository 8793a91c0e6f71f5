import { afterAll, beforeAll, expect, test } from "vitest";
import { makeId } from "../../src/id.ts";
import { recordKinds } from "../../src/registers/all.ts";
import { type Calls, shareCalls } from "../support/calls.ts";

let calls: Calls;
let organization_id: string;
beforeAll(async () => {
	calls = await shareCalls();
	organization_id = calls.organizationId;
});
afterAll(() => calls.close());

interface Gap {
	key: string;
	kind: string;
	filter: object;
	count: number;
}

/** Reads the gaps, and checks that the list of each has as many records as the gap says. */
async function gaps(): Promise<Record<string, number>> {
	const found = await calls.call("getNextSteps", { organization_id });
	for (const { key, kind, filter, count } of found.gaps as Gap[]) {
		const many = recordKinds.find((one) => one.kind === kind)?.tool.many;
		const { total } = await calls.call("countRecords", {
			organization_id,
			kind,
			filter,
		});
		expect(total, key).toBe(count);
		const listed = await calls.call(`list${many}`, {
			organization_id,
			filter,
			size: 100,
		});
		expect(Object.values(listed)[0], key).toHaveLength(count);
	}
	return Object.fromEntries(
		(found.gaps as Gap[]).map(({ key, count }) => [key, count]),
	);
}

test("the next steps count suggested risks, records without an owner and controls without a measure", async () => {
	expect(await gaps()).toEqual({});
	await calls.call("addStarters", {
		organization_id,
		framework: "nis-2",
		measures: ["mfa"],
		risks: ["phishing", "stolen-device"],
	});
	const { total: linked } = await calls.call("countRecords", {
		organization_id,
		kind: "control",
		filter: { without_linked: "measure" },
	});
	expect(linked).toBeLessThan(15);
	expect(await gaps()).toEqual({
		UNDECIDED_RISKS: 2,
		RISKS_WITHOUT_OWNER: 2,
		MEASURES_WITHOUT_OWNER: 1,
		CONTROLS_WITHOUT_MEASURE: linked,
	});

	const { people: person } = await calls.call("addPeople", {
		organization_id,
		full_name: "Ada",
		primary_email_address: "ada@example.com",
		kind: "EMPLOYEE",
	});
	const { risks, measures } = {
		...(await calls.call("listRisks", { organization_id })),
		...(await calls.call("listMeasures", { organization_id })),
	};
	await calls.call("updateRisk", {
		id: risks[0].id,
		owner_id: person.id,
		note: null,
	});
	await calls.call("archiveRecords", {
		organization_id,
		record_ids: [measures[0].id],
	});
	expect(await gaps()).toEqual({
		UNDECIDED_RISKS: 1,
		RISKS_WITHOUT_OWNER: 1,
		CONTROLS_WITHOUT_MEASURE: linked,
	});
});

test("an invitation ends that its member is alone", async () => {
	const isAlone = async () =>
		(await calls.call("getNextSteps", { organization_id })).is_alone;
	expect(await isAlone()).toBe(true);
	await calls.database.owner.query(
		`insert into invitations (organization_id, id, email, role, token_hash, invited_by, expires_at)
			values ($1, $2, 'b@example.com', 'viewer', sha256('x'), 'Ada', now() + interval '1 day')`,
		[organization_id, makeId(organization_id, "invitation")],
	);
	expect(await isAlone()).toBe(false);
});
