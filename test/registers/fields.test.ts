import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import type { Principal } from "../../src/principal.ts";
import { recordKinds } from "../../src/registers/all.ts";
import { type Calls, shareCalls } from "../support/calls.ts";
import { samples } from "../support/record-samples.ts";
import {
	inputOf,
	isNullable,
	makeReferences,
	namesBeside,
	type References,
	sampleValue,
} from "../support/record-values.ts";

let calls: Calls;
beforeAll(async () => {
	calls = await shareCalls();
});
afterAll(() => calls.close());

test("every kind of record has samples", () => {
	expect(samples.map(({ kind }) => kind).sort()).toEqual(
		recordKinds.map(({ kind }) => kind).sort(),
	);
});

// biome-ignore lint/suspicious/noExplicitAny: a record's fields depend on its kind.
type Answer = any;

describe.for(samples)("$kind", (sample) => {
	const { one, many, key, keys } = sample;
	let organization_id: string;
	let references: References;
	let by: Principal;
	beforeAll(async () => {
		organization_id = await createOrganization(calls.database.pool, one);
		references = await makeReferences(calls, organization_id);
		by = calls.principal("admin", organization_id);
	});

	const call = (name: string, input: object) => calls.call(name, input, by);
	const add = async (input: object): Promise<Answer> =>
		(await call(`add${one}`, { organization_id, ...input }))[key];
	const get = async (id: string): Promise<Answer> =>
		(await call(`get${one}`, { id }))[key];
	const update = async (id: string, fields: object): Promise<Answer> =>
		(await call(`update${one}`, { id, ...fields }))[key];
	const listed = async (id: string): Promise<Answer> => {
		const answer = await call(`list${many}`, { organization_id, size: 100 });
		return answer[keys].find((record: { id: string }) => record.id === id);
	};

	test("a record added with only the required fields has the defaults", async () => {
		const input = inputOf(sample, references, "required");
		const record = await add(input);
		expect(record).toEqual({
			id: expect.stringMatching(/^[\w-]{32}$/),
			organization_id,
			...input,
			...sample.defaults,
			...namesBeside({ ...input, ...sample.defaults }),
			created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
			updated_at: record.created_at,
		});
	});

	test("a record without a required field is rejected", async () => {
		for (const field of sample.required) {
			const { [field]: _, ...input } = inputOf(sample, references, "all");
			const refused = await calls.refusal(
				`add${one}`,
				{ organization_id, ...input },
				by,
			);
			expect(refused).toMatchObject({ code: "bad_request", fields: [field] });
		}
	});

	test("get and list return every field that was given on add, and no others", async () => {
		const input = inputOf(sample, references, "all");
		const record = await add(input);
		expect(record).toMatchObject(input);
		expect(await get(record.id)).toEqual(record);
		expect(await listed(record.id)).toEqual(record);
		expect(Object.keys(record).sort()).toEqual(
			[
				...["id", "organization_id", "created_at", "updated_at"],
				...new Set([...Object.keys(input), ...Object.keys(sample.defaults)]),
				...Object.keys(namesBeside(record)),
			].sort(),
		);
	});

	test("an update of one field changes only that field and updated_at", async () => {
		const { id } = await add(inputOf(sample, references, "all"));
		for (const field of Object.keys(sample.fields)) {
			const before = await get(id);
			const value = sampleValue(sample, field, references, 1);
			const after = await update(id, { [field]: value });
			const followed = sample.follows?.[field];
			expect(after, field).toEqual({
				...before,
				[field]: value,
				...(followed && { [followed]: after[followed] }),
				...namesBeside({ [field]: value }),
				updated_at: after.updated_at,
			});
			expect(after[field], field).not.toEqual(before[field]);
			expect(after.updated_at > before.updated_at, field).toBe(true);
			expect(await get(id)).toEqual(after);
		}
	});

	test("an update that is empty or repeats the current values changes nothing", async () => {
		const input = inputOf(sample, references, "all");
		const record = await add(input);
		expect(await update(record.id, input)).toEqual(record);
		expect(await update(record.id, {})).toEqual(record);
	});

	test("null clears a field that may be empty, and is rejected for the others", async () => {
		const { id } = await add(inputOf(sample, references, "all"));
		if (sample.kind === "control") await update(id, { status: "INCLUDED" });
		for (const field of Object.keys(sample.fields)) {
			if (isNullable(sample, field)) {
				expect((await update(id, { [field]: null }))[field], field).toBeNull();
				expect((await get(id))[field], field).toBeNull();
			} else {
				const refused = await calls.refusal(
					`update${one}`,
					{ id, [field]: null },
					by,
				);
				expect(refused).toMatchObject({ code: "bad_request", fields: [field] });
			}
		}
	});

	test("fields that the service sets cannot be given", async () => {
		const { id } = await add(inputOf(sample, references, "all"));
		for (const field of [
			"created_at",
			"updated_at",
			"inherent_risk_score",
			"nonsense",
		]) {
			for (const [name, input] of [
				[
					`add${one}`,
					{ organization_id, ...inputOf(sample, references, "all") },
				],
				[`update${one}`, { id }],
			] as const) {
				const refused = await calls.refusal(name, { ...input, [field]: 1 }, by);
				expect(refused.code).toBe("bad_request");
				expect(refused.message).toContain(`"${field}"`);
			}
		}
	});

	test("a deleted record is not found and not listed", async () => {
		const { id } = await add(inputOf(sample, references, "all"));
		expect(await call(`delete${one}`, { id })).toEqual({
			[`deleted_${key}_id`]: id,
		});
		expect(await listed(id)).toBeUndefined();
		for (const name of ["get", "update", "delete"]) {
			const refused = await calls.refusal(`${name}${one}`, { id }, by);
			expect(refused.code).toBe("not_found");
		}
	});
});
