import { beforeEach, expect, test } from "vitest";
import { SKIP } from "../../src/csv/import-choices.ts";
import { recordKinds } from "../../src/registers/all.ts";
import type { Session } from "../support/console-session.ts";
import { issues, outcomes, testImports } from "./imports.ts";

// biome-ignore lint/suspicious/noExplicitAny: an answer's shape depends on the call.
type Json = any;

const imports = testImports();
const { tryImport, doImport } = imports;
let member: Session;
let organization_id: string;
beforeEach(() => {
	({ member, organization_id } = imports);
});

/** Returns the arguments that say what unknown values mean. */
const meaning = (values: object) => ({ values: JSON.stringify(values) });

const tasks = async () => {
	const { tasks } = await member.use("listTasks", {
		organization_id,
		order_by: { field: "name" },
	});
	return tasks.map(({ name, state }: Json) => `${name}: ${state}`);
};

test("a choice may be its value or its label, in any case and with blanks around it", async () => {
	const result = await doImport("task", [
		"name,status,priority",
		"a,In progress,high",
		"b, IN_PROGRESS ,\u00a0High",
		"c,to do,urgent",
		"d,TODO,Urgent ",
	]);
	expect(result).toMatchObject({ add: 4, unknown_values: [] });
	expect(await tasks()).toEqual([
		"a: IN_PROGRESS",
		"b: IN_PROGRESS",
		"c: TODO",
		"d: TODO",
	]);
	const obligations = await tryImport("obligation", [
		"requirement,type,status",
		"x,legal,Non-compliant",
	]);
	expect(outcomes(obligations)).toEqual(["ADD"]);
});

const HEADING =
	"name,category,treatment,inherent likelihood,inherent impact,residual likelihood,residual impact";

test("a step of a scale may be its number, its word or both", async () => {
	const result = await doImport("risk", [
		HEADING,
		"a,c,Accepted,2 Unlikely,4 Major,Rare,severe",
		"b,c,Accepted,unlikely,MAJOR,1,5",
		"c,c,Accepted, 2 ,4 – Major,1-rare,5  Severe",
		"d,c,Accepted,almost certain,4,,",
	]);
	expect(result).toMatchObject({ add: 4, wrong: 0, unknown_values: [] });
	const { risks } = await member.use("listRisks", {
		organization_id,
		order_by: { field: "name" },
	});
	const scores = risks.map((risk: Json) => [
		risk.inherent_likelihood,
		risk.inherent_impact,
		risk.residual_likelihood,
		risk.residual_impact,
	]);
	expect(scores).toEqual([
		[2, 4, 1, 5],
		[2, 4, 1, 5],
		[2, 4, 1, 5],
		[5, 4, 5, 4],
	]);
});

test("an unknown word for a step gets a meaning, and a number outside of the scale stays wrong", async () => {
	const lines = [
		HEADING,
		"a,c,Accepted,Seldom,2 Major,n/a,",
		"b,c,Accepted, seldom ,Minor,,",
		"c,c,Accepted,7,-2,,",
		"d,c,Accepted,Nil,–2,,",
	];
	const result = await tryImport("risk", lines);
	const asked = result.unknown_values.map(
		({ column, value, count }: Json) => `${column}: ${value} ${count}`,
	);
	expect(asked.sort()).toEqual([
		"inherent impact: 2 Major 1",
		"inherent impact: –2 1",
		"inherent likelihood: Nil 1",
		"inherent likelihood: Seldom 2",
		"residual likelihood: n/a 1",
	]);
	expect(issues(result)).toContain(
		"2 inherent likelihood: must be one of 1 Rare, 2 Unlikely, 3 Possible, 4 Likely, 5 Almost certain, or the number or the word alone",
	);
	const answers = meaning({
		inherent_likelihood: { Seldom: "2", Nil: SKIP },
		inherent_impact: { "2 Major": "4" },
		residual_likelihood: { "n/a": null },
	});
	const answered = await tryImport("risk", lines, answers);
	expect(outcomes(answered)).toEqual(["ADD", "ADD", "WRONG", "SKIP"]);
	expect(issues(answered)).toEqual([
		"4 inherent likelihood: must be at most 5",
		"4 inherent impact: must be at least 1",
		'5 inherent likelihood: has "Nil", whose lines are skipped',
	]);
	const none = await member.call("importRecords", {
		organization_id,
		kind: "risk",
		csv: lines.join("\n"),
		...meaning({ inherent_impact: { "2 Major": "6" } }),
	});
	expect(none.body.message).toMatch(
		/values\.inherent_impact\.2 Major: must be null, SKIP or one of 1, 2, 3, 4, 5/,
	);
});

test("each unknown value is listed once with its count, and its lines say that it has no meaning yet", async () => {
	const result = await tryImport("task", [
		"Name,Status,Priority",
		"a,Doing,High",
		"b, doing ,soon",
		"c,Done,High",
		"d,-,",
	]);
	expect(result).toMatchObject({ add: 1, wrong: 3 });
	expect(result.unknown_values).toEqual([
		{ field: "state", column: "Status", value: "Doing", count: 2 },
		{ field: "state", column: "Status", value: "-", count: 1 },
		{ field: "priority", column: "Priority", value: "soon", count: 1 },
	]);
	expect(
		result.lines.map((line: Json) =>
			line.issues.map(({ unknown_value }: Json) => unknown_value),
		),
	).toEqual([["Doing"], ["Doing", "soon"], [], ["-"]]);
	await expect(doImport("task", ["name,status", "a,Doing"])).rejects.toThrow();
});

test("a line with another problem says which of its problems is an unknown value", async () => {
	const result = await tryImport("task", ["name,status", ",Doing"]);
	expect(result.lines[0].issues).toMatchObject([
		{ column: "name", unknown_value: null },
		{ column: "status", unknown_value: "Doing" },
	]);
});

test("an unknown value becomes a choice, stays empty or skips its lines, as the caller says", async () => {
	const { task } = await member.use("addTask", {
		organization_id,
		name: "old",
		state: "IN_PROGRESS",
	});
	const lines = [
		"id,name,status",
		",a,Doing",
		",b,n/a",
		`${task.id},old,n/a`,
		",c,Dropped",
		",d, DOING",
	];
	const more = meaning({
		state: { doing: "IN_PROGRESS", "n/a": null, Dropped: SKIP },
	});
	const { plan, ...tried } = await tryImport("task", lines, more);
	expect(outcomes(tried)).toEqual(["ADD", "ADD", "UNCHANGED", "SKIP", "ADD"]);
	expect(tried).toMatchObject({ skipped: 1, skipped_by_value: 1, wrong: 0 });
	// The values stay in the list, so that the answers can be changed.
	expect(tried.unknown_values).toHaveLength(3);
	expect(await tasks()).toEqual(["old: IN_PROGRESS"]);

	const others = meaning({
		state: { doing: "DONE", "n/a": null, Dropped: SKIP },
	});
	await expect(doImport("task", lines, { ...others, plan })).rejects.toThrow(
		/has changed since the dry run/,
	);
	const done = await doImport("task", lines, { ...more, plan });
	expect(done).toMatchObject({ add: 3, skipped: 1, skipped_by_value: 1 });
	expect(await tasks()).toEqual([
		"a: IN_PROGRESS",
		"b: TODO",
		"d: IN_PROGRESS",
		"old: IN_PROGRESS",
	]);
	await member.use("rollBackImport", { id: done.import_id, dry_run: false });
	expect(await tasks()).toEqual(["old: IN_PROGRESS"]);
});

test("a line that is skipped does not take its record from another line", async () => {
	const lines = ["name,status,deadline", "a,Dropped,", "a,Done,"];
	await doImport("task", ["name", "a"]);
	const result = await tryImport("task", lines, {
		match_by: "name",
		...meaning({ state: { Dropped: SKIP } }),
	});
	expect(outcomes(result)).toEqual(["SKIP", "UPDATE"]);
});

test("a required choice cannot stay empty", async () => {
	const result = await tryImport(
		"datum",
		["name,classification", "x,n/a"],
		meaning({ data_classification: { "n/a": null } }),
	);
	expect(issues(result)).toEqual(["2 classification: is required"]);
});

test.for([
	[{ name: { x: null } }, /values\.name: must be a field with choices: state/],
	[
		{ state: { x: "NONE" } },
		/values\.state\.x: must be null, SKIP or one of TODO/,
	],
	[
		{ state: { ["x".repeat(81)]: null } },
		/must name values of at most 80 characters/,
	],
	[
		{
			state: Object.fromEntries(
				Array.from({ length: 101 }, (_, n) => [`x${n}`, null]),
			),
		},
		/must name at most 100 values/,
	],
	["nonsense", /values/],
] as const)("an answer that is none is rejected: %j", async ([
	values,
	message,
]) => {
	const answer = await member.call("importRecords", {
		organization_id,
		kind: "task",
		csv: "name,status\na,x",
		...meaning(values as object),
	});
	expect(answer.status).toBe(400);
	expect(answer.body.message).toMatch(message);
});

test("an import asks about at most 50 values, which fit into the address of a request", async () => {
	const fileOf = (values: string[]) => [
		"name,status",
		...values.map((value) => `x,${value}`),
	];
	const many = Array.from({ length: 60 }, (_, n) => `${n}`);
	const result = await tryImport("task", fileOf(many));
	expect(result.unknown_values).toHaveLength(50);
	expect(result.lines.at(-1).issues).toMatchObject([{ unknown_value: null }]);

	const long = many.map((n) => `${n}`.padEnd(60, "漢"));
	const { unknown_values } = await tryImport("task", fileOf(long));
	expect(unknown_values.length).toBeGreaterThan(5);
	const answers = Object.fromEntries(
		unknown_values.map(({ value }: Json) => [value, "IN_PROGRESS"]),
	);
	const answered = await tryImport(
		"task",
		fileOf(long),
		meaning({ state: answers }),
	);
	expect(answered).toMatchObject({ add: unknown_values.length });

	const longer = await tryImport("task", fileOf(["y".repeat(81)]));
	expect(longer).toMatchObject({ unknown_values: [], wrong: 1 });
});

test("columns are found by the labels of their fields and by other plain words", async () => {
	const vendors = await tryImport("vendor", [
		"Name,Website,Privacy policy,DPA,Country",
		"Cloud,https://a.example,https://b.example,https://c.example,DE",
	]);
	expect(vendors).toMatchObject({
		add: 1,
		unknown_columns: [],
		guessed_columns: [{ heading: "Country", field: "countries" }],
	});
	const documents = await doImport("document", [
		"Name,Type,Classification,Review interval (months)",
		"Rules,Policy,internal,12",
	]);
	const { document } = await member.use("getDocument", {
		id: documents.lines[0].id,
	});
	expect(document).toMatchObject({
		title: "Rules",
		document_type: "POLICY",
		review_interval_months: 12,
	});
});

test("a due date is found under each of its names, in every register of work", async () => {
	for (const [kind, titles, field] of [
		["task", "Name", "deadline"],
		["nonconformity", "Title", "due_date"],
		["continual_improvement", "Description", "target_date"],
	] as const) {
		for (const heading of ["Due date", "Deadline", "Target date", "Due"]) {
			const lines = [`${titles},${heading}`, "x,2026-12-31"];
			const result = await tryImport(kind, lines);
			expect(result.unknown_columns, `${kind} ${heading}`).toEqual([]);
			expect(result.lines[0].changes?.[field] ?? result.add).toBeTruthy();
		}
	}
});

test("a country may be its code or its English name, in any case, and the error says what is allowed", async () => {
	const result = await doImport("vendor", [
		"name,countries",
		"a,DE; us",
		"b,germany;UNITED STATES; Cote d'Ivoire",
		'c,"Bosnia and Herzegovina; UK; Türkiye"',
		"d,",
	]);
	expect(result).toMatchObject({ add: 4, wrong: 0 });
	const { vendors } = await member.use("listVendors", {
		organization_id,
		order_by: { field: "name" },
	});
	expect(vendors.map(({ countries }: Json) => countries)).toEqual([
		["DE", "US"],
		["DE", "US", "CI"],
		["BA", "GB", "TR"],
		[],
	]);
	const wrong = await tryImport("vendor", [
		"name,countries",
		"x,Germany; Atlantis",
		"y,DE; Germany",
	]);
	expect(issues(wrong)).toEqual([
		'2 countries: must have English names or codes of countries (ISO 3166-1), such as Germany or DE, separated by semicolons, not "Atlantis"',
		"3 countries: must not contain the same value twice",
	]);
});

test("a wrong web address is quoted", async () => {
	const wrong = await tryImport("vendor", ["name,website", "x,acme dot com"]);
	expect(issues(wrong)).toEqual([
		'2 website: must be a web address that begins with http:// or https://, such as https://example.com, not "acme dot com"',
	]);
});

test("another word counts only if no other column is for the field, and the caller may say otherwise", async () => {
	const lines = ["Title,Name,Category,Status,State", "x,y,z,Implemented,other"];
	const { unknown_columns, lines: tried } = await tryImport("measure", lines);
	// The field is called `state`, so its own name comes before its label "Status".
	expect(unknown_columns).toEqual(["Title", "Status"]);
	expect(tried[0].name).toBe("y");

	const guessed = ["Title,Category,Details", "x,z,more"];
	const columns = JSON.stringify({ Details: null });
	const result = await tryImport("measure", guessed, { columns });
	expect(result).toMatchObject({
		add: 1,
		unknown_columns: [],
		guessed_columns: [{ heading: "Title", field: "name" }],
	});
});

test("no register has a choice that means to skip a line", () => {
	const choices = recordKinds.flatMap(({ fields }) =>
		Object.values(fields).map(({ input }) => input.safeParse(SKIP)),
	);
	const isChoice = (schema: (typeof choices)[number]) =>
		schema.success && schema.data !== SKIP;
	expect(choices.filter(isChoice)).toEqual([]);
});
