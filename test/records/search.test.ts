import { afterAll, beforeAll, expect, test } from "vitest";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { type Calls, shareCalls } from "../support/calls.ts";
import { timeBetweenChanges } from "../support/time-between-changes.ts";

let calls: Calls;
let organization_id: string;
beforeAll(async () => {
	calls = await shareCalls();
	organization_id = calls.organizationId;
	await calls.call("addVendor", {
		organization_id,
		name: "Café Étoile",
		description: "Catering for 100% of the events",
	});
	await calls.call("addPeople", {
		organization_id,
		full_name: "Zoë Étoile",
		primary_email_address: "zoe@example.com",
		kind: "EMPLOYEE",
	});
	await calls.call("addRisk", {
		organization_id,
		name: "Etoile fails",
		description: "The caterer does not come",
		category: "Supply",
		treatment: "ACCEPTED",
		inherent_likelihood: 1,
		inherent_impact: 1,
	});
	await calls.call("addDevice", { organization_id, name: "etoile-laptop" });
});
afterAll(() => calls.close());

const search = async (query: string, input: object = {}) =>
	(
		await calls.call("searchRecords", { organization_id, query, ...input })
	).records.map((record: { name: string }) => record.name);

test("a search finds text in every kind of record, ignoring case and accents", async () => {
	expect((await search("ÉTOILE")).sort()).toEqual([
		"Café Étoile",
		"Etoile fails",
		"Zoë Étoile",
		"etoile-laptop",
	]);
	expect(await search("zoe@example")).toEqual(["Zoë Étoile"]);
});

test("a match contains all words, and the best match of the name comes first", async () => {
	expect(await search("etoile cater")).toHaveLength(2);
	expect(await search("etoile nothing")).toEqual([]);
	expect((await search("etoile fails"))[0]).toBe("Etoile fails");
});

test("characters that are special in patterns match literally", async () => {
	expect(await search("100%")).toEqual(["Café Étoile"]);
	expect(await search("10_%")).toEqual([]);
	expect(await search("\\")).toEqual([]);
	expect(await search("a\u0000b")).toEqual([]);
	expect(await search("\ud800")).toEqual([]);
});

test("the kinds and the size limit the result", async () => {
	expect(await search("etoile", { kinds: ["risk"] })).toEqual(["Etoile fails"]);
	expect(
		await calls.refusal("searchRecords", {
			organization_id,
			query: "etoile",
			kinds: [],
		}),
	).toMatchObject({ message: "kinds: must have at least 1 entries" });
});

test("a search says whether more records match than it returns", async () => {
	for (const [size, isMore] of [
		[2, true],
		[4, false],
		[5, false],
	] as const) {
		const found = await calls.call("searchRecords", {
			organization_id,
			query: "etoile",
			size,
		});
		expect(found.records).toHaveLength(Math.min(size, 4));
		expect(found.is_more).toBe(isMore);
	}
});

test("a search finds the singular and the plural of a word, and no other word of the same stem", async () => {
	for (const name of [
		"Lending policy",
		"Lending policies of branches",
		"Lending to the police",
		"Lending directory",
		"Lending directors",
	]) {
		await calls.call("addVendor", { organization_id, name });
	}
	const both = ["Lending policies of branches", "Lending policy"];
	expect((await search("lending policy")).sort()).toEqual(both);
	expect((await search("policies lending")).sort()).toEqual(both);
	expect(await search("branch policy")).toEqual([both[0]]);
	expect(await search("lending directories")).toEqual(["Lending directory"]);
	const as_of = await timeBetweenChanges(calls.database);
	expect((await search("lending policy", { as_of })).sort()).toEqual(both);
	await calls.call("addDevice", { organization_id, name: "lending-batteries" });
	const then = await timeBetweenChanges(calls.database);
	expect(await search("battery", { as_of: then })).toEqual([
		"lending-batteries",
	]);
});

test("a search finds nothing of another organization", async () => {
	const other = await createOrganization(calls.database.pool, "Other");
	const { records } = await calls.call(
		"searchRecords",
		{ organization_id: other, query: "etoile" },
		calls.principal("viewer", other),
	);
	expect(records).toEqual([]);
	expect(
		await calls.refusal("searchRecords", {
			organization_id: other,
			query: "etoile",
		}),
	).toMatchObject({ code: "forbidden" });
});

test("an empty query and unknown kinds are rejected, and the error names the field", async () => {
	expect(
		await calls.refusal("searchRecords", { organization_id, query: "  " }),
	).toMatchObject({ fields: ["query"] });
	expect(
		await calls.refusal("searchRecords", {
			organization_id,
			query: "x",
			kinds: ["user"],
		}),
	).toMatchObject({ fields: ["kinds[0]"] });
});

test("a search as of a moment finds what the records said then, and the devices that were there", async () => {
	const add = (name: string) =>
		calls.call("addVendor", { organization_id, name });
	const { vendor } = await add("Lantern works");
	await calls.call("addDevice", { organization_id, name: "lantern-old" });
	const as_of = await timeBetweenChanges(calls.database);
	await calls.call("updateVendor", { id: vendor.id, name: "Candle works" });
	await add("Lantern repairs");
	await calls.call("addDevice", { organization_id, name: "lantern-new" });

	expect((await search("lantern")).sort()).toEqual([
		"Lantern repairs",
		"lantern-new",
		"lantern-old",
	]);
	expect((await search("lantern", { as_of })).sort()).toEqual([
		"Lantern works",
		"lantern-old",
	]);
	expect(await search("candle", { as_of })).toEqual([]);
	expect(await search("lantern", { as_of, kinds: ["vendor"] })).toEqual([
		"Lantern works",
	]);
});

test("a hit says what tells it from others of the same name: status, person, due date, framework", async () => {
	const { people } = await calls.call("addPeople", {
		organization_id,
		full_name: "Mei Tanaka",
		primary_email_address: "mei@example.com",
		kind: "EMPLOYEE",
	});
	const addTask = (more: object) =>
		calls.call("addTask", { organization_id, name: "Restore a dump", ...more });
	await addTask({ state: "DONE", deadline: "2026-08-28" });
	await addTask({ assigned_to_id: people.id });
	for (const name of ["Norm A", "Norm B"]) {
		const { framework } = await calls.call("addFramework", {
			organization_id,
			name,
			version: "2",
		});
		await calls.call("addControl", {
			organization_id,
			framework_id: framework.id,
			section_title: "7.1",
			name: "Dumps exist",
		});
	}
	const device = await calls.call("addDevice", {
		organization_id,
		name: "dump-server",
		owner_id: people.id,
	});
	expect(device).toBeDefined();
	const details = async (query: string, input: object = {}) => {
		const given = { organization_id, query, ...input };
		const { records } = await calls.call("searchRecords", given);
		return records.map((record: { details: object }) => record.details);
	};
	const tasks = [
		{ state: "DONE", deadline: "2026-08-28" },
		{ state: "TODO", assigned_to: "Mei Tanaka" },
	];
	expect(await details("restore dump")).toEqual(expect.arrayContaining(tasks));
	expect(await details("dumps exist")).toEqual(
		expect.arrayContaining([
			{ section_title: "7.1", framework: "Norm A" },
			{ section_title: "7.1", framework: "Norm B" },
		]),
	);
	expect(await details("norm")).toEqual([{ version: "2" }, { version: "2" }]);
	expect(await details("dump-server")).toEqual([
		{ status: "PENDING", owner: "Mei Tanaka" },
	]);
	const as_of = await timeBetweenChanges(calls.database);
	expect(await details("restore dump", { as_of })).toEqual(
		expect.arrayContaining(tasks),
	);
});

/** Returns the names that are only similar to the words. */
const similar = async (query: string, input: object = {}) => {
	const given = { organization_id, query, ...input };
	const found = await calls.call("searchRecords", given);
	if (found.records.length > 0) expect(found.only_similar).toEqual([]);
	return found.only_similar.map((record: { name: string }) => record.name);
};

test("a word with one typing mistake that matches nothing finds similar names, and says that they do not match", async () => {
	const name = "Disk encryption of laptops";
	await calls.call("addVendor", { organization_id, name });
	for (const query of [
		...["enrcyption", "encrption", "enncryption", "encripton", "incryption"],
		...["encryptiom laptops", "ENRCYPTION", "Énrcyption disk", "lapotps"],
	]) {
		const { records, only_similar } = await calls.call("searchRecords", {
			...{ organization_id, query, kinds: ["vendor"] },
		});
		expect(records, query).toEqual([]);
		expect(only_similar, query).toMatchObject(
			query === "encripton" ? [] : [{ kind: "vendor", name, details: {} }],
		);
	}
	await calls.call("addDevice", { organization_id, name: "Kiosk" });
	for (const query of ["kisok", "koisk", "kioks", "kiossk", "kosk", "kiok"]) {
		expect(await similar(query), query).toEqual(["Kiosk"]);
	}
	// Other words must occur, two mistakes are too many, and a part of a word is no word.
	for (const query of ["enrcyption zebra", "enrcypiton", "iskk", "ki0s5"]) {
		expect(await similar(query), query).toEqual([]);
	}
	expect(await similar("enrcyption", { kinds: ["risk"] })).toEqual([]);
});

test("a search that matches something has no similar names, and neither has one of a past day", async () => {
	const add = (name: string) =>
		calls.call("addVendor", { organization_id, name });
	await add("Harbour");
	expect(await similar("harbuor")).toEqual(["Harbour"]);
	const as_of = await timeBetweenChanges(calls.database);
	expect(await similar("harbuor", { as_of })).toEqual([]);
	await add("Harbuor");
	expect(await similar("harbuor")).toEqual([]);
	expect(await search("harbuor")).toEqual(["Harbuor"]);
});

test("similar names are at most five, the most similar first, and characters of patterns are literal", async () => {
	for (const name of ["Gardening", "Gardening b", "Gardening c of d"]) {
		for (const kind of ["Vendor", "Framework"]) {
			await calls.call(`add${kind}`, { organization_id, name });
		}
	}
	const names = await similar("gardenign");
	expect(names).toHaveLength(5);
	expect(names.slice(0, 2)).toEqual(["Gardening", "Gardening"]);
	for (const query of [
		"gard%ning",
		"g_rd_n_ng",
		"garde\\\\ning",
		"____",
		"%%%%%",
	]) {
		expect(await similar(query), query).toEqual([]);
	}
});

test("no similar name is of another organization", async () => {
	const other = await createOrganization(calls.database.pool, "Elsewhere");
	const admin = calls.principal("admin", other);
	await calls.call(
		"addVendor",
		{ organization_id: other, name: "Quarterly pottery" },
		admin,
	);
	const query = "pottrey";
	expect(await similar(query)).toEqual([]);
	const own = { organization_id: other, query };
	const { only_similar } = await calls.call("searchRecords", own, admin);
	expect(only_similar).toMatchObject([{ name: "Quarterly pottery" }]);
	// The function in the database sees all rows, and keeps to the transaction's organization itself.
	const client = await calls.database.pool.connect();
	try {
		for (const [organization, found] of [
			[organization_id, 0],
			[other, 1],
		] as const) {
			await client.query(
				"select set_config('assay.organization_id', $1, false)",
				[organization],
			);
			const { rowCount } = await client.query(
				"select find_similar('vendors', '{}', '{%pottery%}', 10)",
			);
			expect(rowCount).toBe(found);
		}
	} finally {
		client.release(true);
	}
});
