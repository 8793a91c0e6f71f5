import { beforeEach, expect, test } from "vitest";
import { importCsv } from "../../src/csv/import.ts";
import { makeLogger } from "../../src/log.ts";
import { sendTo } from "../support/console-client.ts";
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

test("a file from a spreadsheet is read: semicolons, a byte order mark, empty lines and columns", async () => {
	const result = await tryImport("measure", [
		"\ufeffName;Category;;",
		"",
		"Locks;Security;;",
		";;;",
		'"Back\nups";IT;;',
	]);
	expect(result).toMatchObject({ add: 1, wrong: 1, ignored_columns: [] });
	expect(result.lines.map(({ line }: Json) => line)).toEqual([3, 5]);
});

test("a percentage may have a percent sign", async () => {
	const result = await tryImport("measure", [
		"name,category,verified_by_percent",
		"Locks,IT,50%",
		"Keys,IT, 7 % ",
		"Doors,IT,120%",
	]);
	expect(outcomes(result)).toEqual(["ADD", "ADD", "WRONG"]);
	expect(issues(result)[0]).toMatch(/^4 verified_by_percent: .*100/);
});

test.for([
	["", /the file is empty/],
	['name\n"x', /a quoted cell near line 2 that does not end/],
	['name\nx "y" z', /is not valid CSV near line 2/],
	["name,Name\nx,y", /has two columns for name/],
] as const)("the file %j is rejected with a reason", async ([csv, message]) => {
	const answer = await member.call("importRecords", {
		organization_id,
		kind: "measure",
		csv,
	});
	expect(answer.status).toBe(400);
	expect(answer.body.message).toMatch(message);
	expect(answer.body.fields[0].field).toBe("csv");
});

test.for([
	[
		"200 columns",
		`name${",".repeat(200)}\n`,
		/has 201 columns, but at most 200/,
	],
	[
		"64 KiB in its first line",
		",".repeat(1024 * 1024),
		/has a first line of more than 65536 characters/,
	],
] as const)("a heading of more than %s is rejected", async ([
	,
	csv,
	message,
]) => {
	const answer = await member.call("importRecords", {
		organization_id,
		kind: "measure",
		csv,
	});
	expect(answer.status).toBe(400);
	expect(answer.body.message).toMatch(message);
});

test("a body that is not a file is rejected", async () => {
	const answer = await sendTo(
		served.service.url,
		`/api/console/importRecords?organization_id=${organization_id}&kind=measure`,
		{ csv: "name\nx" },
		{ cookie: member.cookie },
	);
	expect(answer.status).toBe(400);
	expect(answer.body.message).toBe(
		"csv: must be a CSV file, sent with the header Content-Type: text/csv",
	);
});

test("a line with too few or too many cells is an error", async () => {
	const result = await tryImport("measure", [
		"name,category",
		"x",
		"x,y",
		"x,y,z",
	]);
	expect(outcomes(result)).toEqual(["WRONG", "ADD", "WRONG"]);
	expect(issues(result)[1]).toMatch(/^4 : has 3 cells, but the heading has 2/);
});

test("a line with a cell of more than 64 KiB is an error", async () => {
	const cell = (length: number) => `x,y,"${"z".repeat(length)}"`;
	const result = await tryImport("measure", [
		"name,category,description",
		cell(64 * 1024 + 1),
		cell(64 * 1024),
	]);
	expect(issues(result)).toEqual([
		"2 : has a cell of more than 65536 characters",
		"3 description: must have at most 5000 characters",
	]);
});

test("a file of many lines is one import", async () => {
	const count = 400;
	const lines = [
		"name,category,description,owner",
		...Array.from(
			{ length: count },
			(_, n) => `Measure ${n},IT,"${"x".repeat(1000)}",ada@example.com`,
		),
	];
	await addPerson("Ada", "ada@example.com");
	expect(await tryImport("measure", lines)).toMatchObject({ add: count });
	const result = await doImport("measure", lines);
	expect(result).toMatchObject({ add: count });
	const changed = ["id,category"];
	for (const { id, line } of result.lines) {
		changed.push(`${id},${line % 2 ? "IT" : "Other"}`);
	}
	expect(await doImport("measure", changed)).toMatchObject({
		unchanged: count / 2,
		update: count / 2,
	});
});

test("a viewer may not import, and the service does not read the file", async () => {
	const viewer = await served.signIn("viewer", organization_id);
	let isRead = false;
	async function* bytes() {
		isRead = true;
		yield Buffer.from("name\nx");
	}
	const memberships = [
		{ organizationId: organization_id, role: "viewer" as const },
	];
	await expect(
		importCsv(
			{
				pool: served.database.pool,
				log: makeLogger("silent"),
				baseUrl: served.service.url,
			},
			{ kind: "USER", userId: viewer.user.id, name: "viewer", memberships },
			{ organization_id, kind: "measure" },
			bytes(),
			"",
		),
	).rejects.toMatchObject({ code: "forbidden" });
	expect(isRead).toBe(false);
	const { status } = await viewer.call("importRecords", {
		organization_id,
		kind: "measure",
		csv: "name\nx",
	});
	expect(status).toBe(403);
});
