import { beforeEach, expect, test } from "vitest";
import type { Session, TestConsole } from "../support/console-session.ts";
import { issues, outcomes, testImports } from "./imports.ts";

// biome-ignore lint/suspicious/noExplicitAny: an answer's shape depends on the call.
type Json = any;

const imports = testImports();
const { tryImport, doImport, addPerson } = imports;
let served: TestConsole;
let member: Session;
let organization_id: string;
beforeEach(() => {
	({ served, member, organization_id } = imports);
});

test("a missing column leaves a field unchanged, and an empty cell clears it if it may be empty", async () => {
	const { task } = await member.use("addTask", {
		organization_id,
		name: "Patch",
		description: "All",
		priority: "LOW",
		deadline: "2026-12-31",
	});
	await doImport("task", ["id,deadline", `${task.id},`]);
	expect(await member.use("getTask", { id: task.id })).toMatchObject({
		task: { deadline: null, description: "All", priority: "LOW" },
	});
	const refused = await tryImport("task", [
		"id,name,priority,description",
		`${task.id},,,`,
	]);
	expect(issues(refused)).toEqual([
		"2 name: must not be empty",
		"2 priority: must not be empty",
	]);
	// In a new record, an empty cell means the same as a missing column.
	const added = await doImport("task", ["name,priority,description", "New,,"]);
	expect(await member.use("getTask", { id: added.lines[0].id })).toMatchObject({
		task: { priority: "MEDIUM", description: null },
	});
});

test("lines find their records by id, reference id or e-mail address, and by name if chosen", async () => {
	await doImport("people", [
		"name,email,kind",
		"Ada,ada@example.com,EMPLOYEE",
		"Bob,bob@example.com,CONTRACTOR",
	]);
	const people = await tryImport("people", [
		"Full name,E-mail,Kind",
		"Ada King,ADA@example.com,EMPLOYEE",
		"Cy,cy@example.com,EMPLOYEE",
	]);
	expect(people.matched_by).toBe("primary_email_address");
	expect(outcomes(people)).toEqual(["UPDATE", "ADD"]);

	const made = await doImport("nonconformity", [
		"reference_id,description",
		",First",
		"NC-001,Taken by hand",
		"X 1,Other",
	]);
	expect(made.lines.map(({ name }: Json) => name)).toEqual([
		"NC-002 First",
		"NC-001 Taken by hand",
		"X 1 Other",
	]);
	const found = await tryImport("nonconformity", [
		"reference_id,description",
		"NC-001,Taken by hand",
		"X 1,",
		"x 1,New",
		"X 2,New",
		"x 2,New",
	]);
	expect(found.matched_by).toBe("reference_id");
	expect(outcomes(found)).toEqual([
		"UNCHANGED",
		"UPDATE",
		"WRONG",
		"ADD",
		"WRONG",
	]);

	const vendors = ["name,website_url", "Cloud,https://example.com"];
	await doImport("vendor", vendors);
	expect(outcomes(await tryImport("vendor", vendors))).toEqual(["ADD"]);
	expect(
		outcomes(await tryImport("vendor", vendors, { match_by: "name" })),
	).toEqual(["UNCHANGED"]);
	await doImport("vendor", vendors);
	expect(
		issues(await tryImport("vendor", vendors, { match_by: "name" })),
	).toEqual([
		"2 name: is the same for 2 vendors; give the id, or match by another column",
	]);
	const refused = await member.call("importRecords", {
		organization_id,
		kind: "vendor",
		csv: "name\nx",
		match_by: "reference_id",
	});
	expect(refused.body.message).toBe(
		"match_by: must be one of id, name, none for vendors",
	);
});

test("a reference id finds its record in any case, with blanks around it, and the record keeps it", async () => {
	const { nonconformity } = await member.use("addNonconformity", {
		organization_id,
		reference_id: "NC-007",
		title: "Old",
	});
	const { id } = nonconformity;
	const lines = ["reference_id,title", " nc-007 ,New", "X-2,c"];
	const result = await doImport("nonconformity", lines);
	expect(outcomes(result)).toEqual(["UPDATE", "ADD"]);
	expect(result.lines[0]).toMatchObject({
		id,
		name: "NC-007 New",
		changes: { title: { before: "Old", after: "New" } },
	});
	const stored = await member.use("getNonconformity", { id });
	expect(stored.nonconformity).toMatchObject({
		reference_id: "NC-007",
		title: "New",
	});
	const again = ["nc-007,New", "NC-007,New", "Y-1,e", "y-1,f"];
	expect(
		issues(await tryImport("nonconformity", ["reference_id,title", ...again])),
	).toEqual([
		"3 reference_id: names the same nonconformity as line 2; keep one of the two lines",
		"5 reference_id: names the same nonconformity as line 4; keep one of the two lines",
	]);
	// Matched by its id, the record gets the spelling of the file.
	const renamed = ["id,reference_id", `${id},nc-007`];
	expect(await tryImport("nonconformity", renamed)).toMatchObject({
		lines: [
			{ changes: { reference_id: { before: "NC-007", after: "nc-007" } } },
		],
	});
});

test("of two reference ids that differ only in case, the spelling of a line decides", async () => {
	const ids: string[] = [];
	for (const reference_id of ["Old-1", "Old-2"]) {
		const added = { organization_id, reference_id };
		const { nonconformity } = await member.use("addNonconformity", added);
		ids.push(nonconformity.id);
	}
	// The service has accepted such ids in the past.
	await served.database.owner.query(
		"update nonconformities set reference_id = 'OLD-1' where id = $1",
		[ids[1]],
	);
	const result = await tryImport("nonconformity", [
		"reference_id,title",
		"OLD-1,a",
		"Old-1,b",
		"old-1,c",
	]);
	expect(result.lines.map(({ id }: Json) => id)).toEqual([
		ids[1],
		ids[0],
		null,
	]);
	expect(issues(result)).toEqual([
		"4 reference_id: is the same for 2 nonconformities; give the id, or match by another column",
	]);
});

test("two lines for one record, a repeated reference id and an ambiguous name are errors", async () => {
	await addPerson("Ada", "ada@example.com");
	await addPerson("ADA", "ada.two@example.com");
	await addPerson("Castor", "twin@example.com");
	await addPerson("Pollux", "Twin@example.com");
	const { nonconformity } = await member.use("addNonconformity", {
		organization_id,
		reference_id: "A",
	});
	const { nonconformity: other } = await member.use("addNonconformity", {
		organization_id,
		reference_id: "B",
	});
	const result = await tryImport("nonconformity", [
		"id,reference_id,owner",
		`${nonconformity.id},B,`,
		`${other.id},B,`,
		`${other.id},B,`,
		",C,Ada",
		",C,ada@example.com",
		",D,twin@example.com",
	]);
	expect(issues(result)).toEqual([
		"2 reference_id: is already used by another nonconformity; match by reference_id to change that one, or choose another",
		"4 id: names the same nonconformity as line 3; keep one of the two lines",
		'5 owner: 2 people are called "Ada"; give the e-mail address or the id',
		"6 reference_id: is already used in line 5; choose another, or leave the cell empty to get the next free one",
		'7 owner: 2 people have the e-mail address "twin@example.com"; give the id',
	]);
});

test("a file cannot name records and people of another organization", async () => {
	const admin = await served.signIn("admin");
	const { risk } = await admin.use("addRisk", {
		organization_id: served.organizationId,
		name: "Elsewhere",
		category: "x",
		treatment: "AVOIDED",
		inherent_likelihood: 1,
		inherent_impact: 1,
	});
	const { people } = await admin.use("addPeople", {
		organization_id: served.organizationId,
		full_name: "Stranger",
		primary_email_address: "stranger@example.com",
		kind: "EMPLOYEE",
	});
	const result = await tryImport("risk", ["id,note", `${risk.id},Mine now`]);
	expect(issues(result)).toEqual([
		`2 id: there is no risk ${risk.id} in this organization`,
	]);
	for (const owner of [people.id, "stranger@example.com", "Stranger"]) {
		const measures = await tryImport("measure", [
			"name,category,owner",
			`x,y,${owner}`,
		]);
		expect(issues(measures)[0]).toMatch(/^2 owner: there is no person /);
	}
});

test("a dry run names all columns that are no fields, and an import needs to know what they are", async () => {
	const lines = ["Heading,colour,category,Extra", "x,red,y,z"];
	const tried = await tryImport("measure", lines);
	expect(tried).toMatchObject({
		unknown_columns: ["Heading", "colour", "Extra"],
		wrong: 1,
	});
	const importAs = (columns?: object) =>
		member.call("importRecords", {
			organization_id,
			kind: "measure",
			csv: lines.join("\r\n"),
			dry_run: false,
			...(columns && { columns: JSON.stringify(columns) }),
		});
	const refused = await importAs();
	expect(refused.status).toBe(400);
	expect(refused.body.message).toMatch(
		/has 3 columns that are not fields: "Heading", "colour", "Extra"; they are none of measures; the fields are id, name, description, category, state, owner, verified_by_check, verified_by_percent; say in columns/,
	);
	expect((await importAs({ Heading: "title" })).body.message).toContain(
		"columns.Heading: must be null or a field of measures: id, name",
	);
	const all = { Heading: "name", colour: null, Extra: "description" };
	const { body } = await importAs(all);
	expect(body).toMatchObject({ add: 1, wrong: 0, unknown_columns: [] });
	const { measures } = await member.use("listMeasures", { organization_id });
	expect(measures).toMatchObject([
		{ name: "x", category: "y", description: "z" },
	]);
});

test("an import leaves out wrong lines only on request, and says which", async () => {
	const lines = ["name,category,state", "a,x,DONE", "b,x,IMPLEMENTED"];
	await expect(doImport("measure", lines)).rejects.toThrow();
	const { plan } = await tryImport("measure", lines);
	const done = await doImport("measure", lines, { skip_wrong: true, plan });
	expect(done).toMatchObject({ add: 1, wrong: 1 });
	expect(outcomes(done)).toEqual(["WRONG", "ADD"]);
	const { measures } = await member.use("listMeasures", { organization_id });
	expect(measures.map(({ name }: Json) => name)).toEqual(["b"]);
});

test('a column such as "Measure name" is the name, unless the file has a column for the name', async () => {
	const tried = await tryImport("measure", [
		"Measure name,category",
		"Locks,y",
	]);
	expect(tried).toMatchObject({ unknown_columns: [], add: 1 });
	const both = ["Name,Measure name,category", "Locks,Fences,y"];
	expect(await tryImport("measure", both)).toMatchObject({
		unknown_columns: ["Measure name"],
		lines: [{ name: "Locks" }],
	});
});
