import { beforeEach, expect, test } from "vitest";
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

const deadlines = async () => {
	const { tasks } = await member.use("listTasks", {
		organization_id,
		order_by: { field: "name" },
	});
	return tasks.map(({ name, deadline }: Json) => `${name}: ${deadline}`);
};

/** Tries to import tasks with these deadlines. */
const tryDeadlines = (dates: string[], more: object = {}, name = "t") =>
	tryImport(
		"task",
		["name,due", ...dates.map((date, at) => `${name}${at},"${date}"`)],
		more,
	);

let batches = 0;

/** Imports tasks with these deadlines, and returns what is stored. A wrong line has nothing. */
async function imported(dates: string[], more: object = {}) {
	const name = `batch ${++batches} line `;
	await tryDeadlines(
		dates,
		{ ...more, skip_wrong: true, dry_run: false },
		name,
	);
	const stored = new Map<string, string>(
		(await deadlines()).map((one: string) => one.split(": ")),
	);
	return dates.map((_, at) => stored.get(`${name}${at}`));
}

const orders = (given: object) => ({ date_orders: JSON.stringify(given) });

test("dates in the forms of spreadsheets are imported, and others are wrong with their text", async () => {
	const dates = ["31.12.2026", "2026/7/4", "4 Jul 2026", "2026-07-04 00:00:00"];
	expect(await imported([...dates, "31.12.26", ""])).toEqual([
		...["2026-12-31", "2026-07-04", "2026-07-04", "2026-07-04"],
		...[undefined, "null"],
	]);
	expect(issues(await tryDeadlines([...dates, "31.12.26"]))).toEqual([
		'6 due: must be a date with a year of four digits, such as 2026-12-31 or 31.12.2026, not "31.12.26"',
	]);
});

test("one date of a column says whether the day or the month comes first in all of them", async () => {
	expect(await imported(["12/31/2026", "3/4/2026", "5/5/2026"])).toEqual([
		...["2026-12-31", "2026-03-04", "2026-05-05"],
	]);
	const german = await tryDeadlines(["31/12/2026", "03-04-2026"]);
	expect(german.date_columns).toEqual([
		{
			...{ field: "deadline", column: "due", value: "03-04-2026" },
			...{ count: 1, order: "DMY" },
		},
	]);
	expect(await imported(["31/12/2026", "03-04-2026"])).toEqual([
		...["2026-12-31", "2026-04-03"],
	]);
	// Nothing needs an order, so nothing is asked.
	const sure = await tryDeadlines(["31/12/2026", "5/5/2026"]);
	expect(sure).toMatchObject({ wrong: 0, date_columns: [] });
});

test("an import asks once about a column whose dates do not say it, and follows the answer", async () => {
	const dates = ["03/04/2026", "1/2/2026", "5/5/2026", "2026-12-31"];
	const asked = await tryDeadlines(dates);
	expect(asked).toMatchObject({ add: 2, wrong: 2 });
	expect(asked.date_columns).toEqual([
		{
			...{ field: "deadline", column: "due", value: "03/04/2026" },
			...{ count: 2, order: null },
		},
	]);
	const waits = (result: Json) =>
		result.lines.map(({ issues }: Json) =>
			issues.map(({ waits_for_order }: Json) => waits_for_order),
		);
	expect(waits(asked)).toEqual([[true], [true], [], []]);
	const refused = await member.call("importRecords", {
		...{ organization_id, kind: "task", dry_run: false },
		csv: "name,due\nx,03/04/2026",
	});
	expect(refused.status).toBe(400);
	expect(refused.body.message).toContain(
		"line 2, deadline: needs date_orders to say whether the day or the month comes first",
	);
	const us = await tryDeadlines(dates, orders({ deadline: "MDY" }));
	expect(us).toMatchObject({ add: 4, date_columns: [{ order: "MDY" }] });
	expect(us.plan).not.toBe(
		(await tryDeadlines(dates, orders({ deadline: "DMY" }))).plan,
	);
	expect(await imported(dates, orders({ deadline: "DMY" }))).toEqual([
		...["2026-04-03", "2026-02-01", "2026-05-05", "2026-12-31"],
	]);
});

test("a column that has both orders is asked about, and a date that does not fit the answer is wrong", async () => {
	const dates = ["31/12/2026", "12/31/2026"];
	const asked = await tryDeadlines(dates);
	expect(asked).toMatchObject({
		wrong: 2,
		date_columns: [{ value: "31/12/2026", count: 2, order: null }],
	});
	const answered = await tryDeadlines(dates, orders({ deadline: "MDY" }));
	expect(outcomes(answered)).toEqual(["WRONG", "ADD"]);
	expect(issues(answered)).toEqual([
		'2 due: must be a date with a year of four digits and the month first, such as 2026-12-31 or 31.12.2026, not "31/12/2026"',
	]);
	expect(answered.lines[0].issues[0].waits_for_order).toBe(false);
	// The question stays, so that the reader can change the answer.
	expect(answered.date_columns).toHaveLength(1);
});

test("each column has its own order, and an answer is for a field with dates", async () => {
	const person = "full_name,primary_email_address,kind";
	const result = await tryImport("people", [
		`${person},contract_start_date,contract_end_date`,
		"Ada,ada@example.com,EMPLOYEE,31/01/2026,03/04/2027",
	]);
	expect(result.date_columns).toMatchObject([
		{ field: "contract_end_date", order: null },
	]);
	for (const [given, field] of [
		[{ full_name: "DMY" }, "date_orders.full_name"],
		[{ contract_end_date: "YMD" }, "date_orders.contract_end_date"],
	] as const) {
		const rejected = await member.call("importRecords", {
			...{ organization_id, kind: "people", csv: `${person}\n` },
			...orders(given),
		});
		expect(rejected.status).toBe(400);
		expect(rejected.body.message).toContain(field);
	}
	const dateless = await member.call("importRecords", {
		...{ organization_id, kind: "framework", csv: "name\n" },
		...orders({ name: "DMY" }),
	});
	expect(dateless.body.message).toContain(
		"date_orders.name: must be left out, because this register has no fields with dates",
	);
});

test("an export whose dates a spreadsheet has rewritten is unchanged", async () => {
	for (const [name, deadline] of [
		["a", "2026-12-31"],
		["b", "2026-03-04"],
		["c", null],
	]) {
		await member.use("addTask", { organization_id, name, deadline });
	}
	const file = await member.get(
		`/api/console/export/listTasks.csv?organization_id=${organization_id}`,
	);
	const csv = await file.text();
	for (const form of ["$3.$2.$1", "$3/$2/$1", "$2/$3/$1", "$1/$2/$3"]) {
		const rewritten = csv.replaceAll(/(?<=,)(\d{4})-(\d\d)-(\d\d)(?=,)/g, form);
		expect(rewritten).not.toBe(csv);
		const result = await doImport("task", [rewritten]);
		expect(issues(result)).toEqual([]);
		expect(result).toMatchObject({ unchanged: 3, update: 0, add: 0 });
	}
});
