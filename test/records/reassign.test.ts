import {
	afterAll,
	beforeAll,
	beforeEach,
	describe,
	expect,
	test,
} from "vitest";
import { samples } from "../support/record-samples.ts";
import {
	inputOf,
	makeReferences,
	type References,
} from "../support/record-values.ts";
import { type Json, shareTools, type TestTools } from "../support/tools.ts";

let tools: TestTools;
let references: References;
beforeAll(async () => {
	tools = await shareTools();
	references = await makeReferences(
		{ call: (name, input) => tools.use(name, input) },
		tools.organizationId,
	);
});
afterAll(() => tools.close());

let from: string;
let to: string;
const addPerson = async (full_name: string): Promise<string> =>
	(
		await tools.use("addPeople", {
			full_name,
			primary_email_address: `${crypto.randomUUID()}@example.com`,
			kind: "EMPLOYEE",
		})
	).people.id;
beforeEach(async () => {
	from = await addPerson("Ada");
	to = await addPerson("Grace");
});

/** The fields of each register that name a person, written by hand. */
const HELD: Record<string, string> = {
	asset: "owner_id",
	continual_improvement: "owner_id",
	datum: "owner_id",
	measure: "owner_id",
	nonconformity: "owner_id",
	obligation: "owner_id",
	risk: "owner_id",
	task: "assigned_to_id",
	vendor: "owner_id",
};

test("hands over every record that a person owns or is assigned, with an audit entry for each", async () => {
	const bystander = await addPerson("Bystander");
	const records: Json[] = [];
	for (const [kind, field] of Object.entries(HELD)) {
		const sample = samples.find((known) => known.kind === kind);
		if (!sample) throw new Error(kind);
		for (const person of [from, bystander]) {
			const input = inputOf(sample, references, "all");
			const { reference_id: _, ...rest } = input as Json;
			const added = await tools.use(`add${sample.one}`, {
				...rest,
				[field]: person,
			});
			records.push({ sample, field, person, ...added[sample.key] });
		}
	}
	const { device } = await tools.use("addDevice", {
		name: "laptop",
		owner_id: from,
	});
	const answer = await tools.use(
		"reassignRecords",
		{ from, to },
		tools.member.token,
	);
	expect(answer.total).toBe(Object.keys(HELD).length + 1);
	expect(
		Object.fromEntries(
			answer.reassigned.map(({ kind, count }: Json) => [kind, count]),
		),
	).toEqual(
		Object.fromEntries(
			[...Object.keys(HELD), "device"].map((kind) => [kind, 1]),
		),
	);
	for (const { sample, field, person, id } of records) {
		const now = (await tools.use(`get${sample.one}`, { id }))[sample.key];
		expect(now[field]).toBe(person === from ? to : bystander);
		const { audit_entries } = await tools.use("listAuditLog", {
			filter: { record_id: id, operation: "reassignRecords" },
		});
		expect(audit_entries.map(({ changes }: Json) => changes)).toEqual(
			person === from ? [{ [field]: { before: from, after: to } }] : [],
		);
	}
	expect(
		(await tools.use("getDevice", { id: device.id })).device.owner_id,
	).toBe(to);
	expect(await tools.use("reassignRecords", { from, to })).toEqual({
		reassigned: [],
		total: 0,
		left: [],
	});
	await tools.use("deletePeople", { id: from });
});

test("an administrator hands over the nonconformities of checks too, and everybody sees what is left", async () => {
	await tools.use("updateDevicePolicy", {
		checks: [{ check_key: "FIREWALL_ENABLED", owner_id: from }],
	});
	const askToSign = async (title: string) => {
		const { document } = await tools.use("addDocument", {
			title,
			document_type: "POLICY",
			classification: "INTERNAL",
		});
		const { document_version: version } = await tools.use(
			"createDraftDocumentVersion",
			{ document_id: document.id, content: "Read it." },
		);
		await tools.use("publishDocumentVersion", { id: version.id });
		await tools.use("requestDocumentVersionSignature", {
			document_version_id: version.id,
			person_ids: [from],
		});
		return document;
	};
	const document = await askToSign("Access");
	// Nobody signs a version that another one has replaced.
	const replaced = await askToSign("Replaced");
	const { document_version: newer } = await tools.use(
		"createDraftDocumentVersion",
		{ document_id: replaced.id, content: "Read it again." },
	);
	await tools.use("publishDocumentVersion", { id: newer.id });
	await tools.use("updateDocument", {
		id: document.id,
		approver_ids: [from],
	});
	const { device } = await tools.use("addDevice", { name: "claimed" });
	await tools.database.owner.query(
		"update devices set claimed_owner_id = $2 where id = $1",
		[device.id, from],
	);
	const ownerOf = async () => {
		const { policy } = await tools.use("getDevicePolicy", {});
		return policy.checks.find(
			({ check_key }: Json) => check_key === "FIREWALL_ENABLED",
		);
	};
	const access = [{ id: document.id, name: "Access" }];
	const decisions = [
		{ kind: "document", as: "approver", count: 1, records: access },
		{ kind: "document", as: "signer", count: 1, records: access },
		{
			kind: "device",
			as: "claimed_owner",
			count: 1,
			records: [{ id: device.id, name: "claimed" }],
		},
	];
	const { left: before } = await tools.use("getRecordUses", { id: from });
	const byMember = await tools.use(
		"reassignRecords",
		{ from, to },
		tools.member.token,
	);
	expect(byMember).toEqual({
		reassigned: [],
		total: 0,
		left: [
			{
				kind: "device_policy",
				as: "owner_of_nonconformities",
				count: 1,
				records: [{ id: "FIREWALL_ENABLED", name: "Host firewall" }],
			},
			...decisions,
		],
	});
	expect(before).toEqual(byMember.left);
	expect(await ownerOf()).toMatchObject({
		owner_id: from,
		owner_has_left: false,
	});
	await tools.use("updatePeople", {
		id: from,
		contract_end_date: "2024-01-01",
	});
	expect((await ownerOf()).owner_has_left).toBe(true);

	expect(await tools.use("reassignRecords", { from, to })).toEqual({
		reassigned: [{ kind: "device_policy", count: 1 }],
		total: 1,
		left: decisions,
	});
	expect(await ownerOf()).toMatchObject({
		owner_id: to,
		owner_has_left: false,
	});
	const { audit_entries } = await tools.use("listAuditLog", {
		filter: {
			record_id: tools.organizationId,
			operation: "reassignRecords",
		},
	});
	expect(audit_entries).toMatchObject([
		{
			changes: {
				"FIREWALL_ENABLED.owner_id": { before: from, after: to },
			},
		},
	]);
});

describe("rejected", () => {
	test("the same person, a person who does not exist, and one of another organization", async () => {
		const theirs = (
			await tools.use(
				"addPeople",
				{
					full_name: "Eve",
					primary_email_address: "eve@example.com",
					kind: "EMPLOYEE",
				},
				tools.stranger.token,
			)
		).people.id;
		const gone = await addPerson("Gone");
		await tools.use("deletePeople", { id: gone });
		for (const [input, status, message] of [
			[{ from, to: from }, 400, "to: must be another person"],
			[
				{ from, to: gone },
				400,
				`to: there is no person ${gone} in this organization`,
			],
			[
				{ from, to: theirs },
				400,
				`to: there is no person ${theirs} in this organization`,
			],
			[{ from: gone, to }, 404, `there is no person ${gone}`],
			[{ from: theirs, to }, 404, `there is no person ${theirs}`],
		] as const) {
			const answer = await tools.call("reassignRecords", input);
			expect([answer.status, answer.body.message]).toEqual([status, message]);
		}
		expect(
			(await tools.call("reassignRecords", { from, to }, tools.viewer.token))
				.status,
		).toBe(403);
	});
});
