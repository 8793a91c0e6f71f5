import { beforeEach, expect, test } from "vitest";
import type { Session, TestConsole } from "../support/console-session.ts";
import { auditEntries } from "../support/people.ts";
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

test("a dry run shows what would change and writes nothing", async () => {
	const [ada, bob] = [
		await addPerson("Ada", "ada@example.com"),
		await addPerson("Bob", "bob@example.com"),
	];
	const { risk } = await member.use("addRisk", {
		organization_id,
		name: "Theft",
		category: "Security",
		treatment: "MITIGATED",
		inherent_likelihood: 2,
		inherent_impact: 3,
		owner_id: ada,
		note: "Locks",
	});
	const entries = await auditEntries(served.database, organization_id);
	const result = await tryImport("risk", [
		"ID,Name,Category,Treatment,Inherent likelihood,inherent-impact,Owner,note",
		`${risk.id},Theft,Security,mitigated,2,4,BOB@example.com,`,
		",Fire,Safety,accepted,1,5,ada,",
		",Flood,Safety,IGNORED,6,,nobody@example.com,",
	]);
	expect(result).toMatchObject({
		dry_run: true,
		add: 1,
		update: 1,
		unchanged: 0,
		wrong: 1,
		matched_by: "id",
	});
	expect(result.lines[0]).toEqual({
		line: 2,
		outcome: "UPDATE",
		id: risk.id,
		name: "Theft",
		changes: {
			inherent_impact: { before: 3, after: 4 },
			owner_id: { before: ada, after: bob },
			note: { before: "Locks", after: null },
		},
		issues: [],
		same_name: null,
		left_out: 0,
	});
	expect(result.lines[1]).toMatchObject({
		line: 3,
		outcome: "ADD",
		id: null,
		name: "Fire",
	});
	expect(result.lines[2]).toMatchObject({
		line: 4,
		outcome: "WRONG",
		id: null,
		name: "Flood",
	});
	expect(issues(result)).toEqual([
		'4 Owner: there is no person "nobody@example.com" in this organization; give the e-mail address, name or id of one that exists',
		'4 Treatment: must be one of MITIGATED, ACCEPTED, AVOIDED, TRANSFERRED, not "IGNORED"',
		"4 Inherent likelihood: must be at most 5",
		"4 inherent-impact: is required",
	]);
	expect(await member.use("getRisk", { id: risk.id })).toEqual({ risk });
	expect(await auditEntries(served.database, organization_id)).toEqual(entries);
});

test("a confirmed import writes all records in one transaction, with an audit entry for each", async () => {
	const { vendor } = await member.use("addVendor", {
		organization_id,
		name: "Cloud",
	});
	const lines = [
		"name,id,vendors,asset_type,amount",
		`Server,,cloud,VIRTUAL,3`,
		`Laptop,,"${vendor.id}; ",PHYSICAL,`,
	];
	const { plan } = await tryImport("asset", lines);
	const result = await doImport("asset", lines, { plan });
	expect(outcomes(result)).toEqual(["ADD", "ADD"]);
	const { assets } = await member.use("listAssets", {
		organization_id,
		order_by: { field: "name" },
	});
	expect(assets).toMatchObject([
		{
			name: "Laptop",
			amount: 1,
			vendor_ids: [vendor.id],
			asset_type: "PHYSICAL",
		},
		{
			name: "Server",
			amount: 3,
			vendor_ids: [vendor.id],
			asset_type: "VIRTUAL",
		},
	]);
	expect(result.lines.map((line: Json) => line.id).sort()).toEqual(
		assets.map(({ id }: Json) => id).sort(),
	);

	const again = await doImport("asset", [
		"id,amount",
		...assets.map(({ id }: Json) => `${id},7`),
	]);
	expect(again).toMatchObject({ update: 2 });
	const entries = (await auditEntries(served.database, organization_id)).filter(
		({ operation, record_kind }) =>
			operation === "importRecords" && record_kind !== "import",
	);
	expect(
		entries.map(({ record_kind, changes }) => [
			record_kind,
			Object.keys(changes as object).length > 1,
		]),
	).toEqual([
		["asset", true],
		["asset", true],
		["asset", false],
		["asset", false],
	]);
	expect(entries.at(-1)).toMatchObject({
		actor_name: member.user.name,
		changes: { amount: { after: 7 } },
	});
});

test("a dry run names the records whose names new ones have, and an import may skip these lines", async () => {
	const { measure } = await member.use("addMeasure", {
		organization_id,
		name: "Twice named",
		category: "Security",
	});
	const lines = ["name,category", "twice NAMED,Security", "Only once,Security"];
	const same_name = { id: measure.id, name: "Twice named" };
	expect(await tryImport("measure", lines)).toMatchObject({
		add: 2,
		skipped: 0,
		known_names: 1,
		lines: [
			{ outcome: "ADD", same_name },
			{ outcome: "ADD", same_name: null },
		],
	});
	const matched = await member.use("importRecords", {
		organization_id,
		kind: "measure",
		csv: lines.join("\n"),
		match_by: "name",
	});
	expect(matched).toMatchObject({ add: 1, update: 1, known_names: 0 });

	const skipping = { skip_known_names: true };
	const planned = await tryImport("measure", lines, skipping);
	expect(planned).toMatchObject({ add: 1, skipped: 1, known_names: 1 });
	// The plan without the choice is another one.
	const { plan } = await tryImport("measure", lines);
	const refused = await member.call("importRecords", {
		organization_id,
		kind: "measure",
		csv: lines.join("\n"),
		dry_run: false,
		plan,
		...skipping,
	});
	expect(refused.status).toBe(400);
	expect(
		await doImport("measure", lines, { ...skipping, plan: planned.plan }),
	).toMatchObject({
		add: 1,
		skipped: 1,
		lines: [{ outcome: "SKIP", id: null, same_name }, { outcome: "ADD" }],
	});
	const { measures } = await member.use("listMeasures", { organization_id });
	const names = measures.map(({ name }: Json) => name.toLowerCase());
	expect(names.sort()).toEqual(["only once", "twice named"]);
});

test("if one line is wrong, nothing of the file is written", async () => {
	const lines = ["name,category", "Backups,IT", ",IT", "Locks,"];
	const { status, body } = await member.call("importRecords", {
		organization_id,
		kind: "measure",
		csv: lines.join("\n"),
		dry_run: false,
	});
	expect(status).toBe(400);
	expect(body.message).toMatch(
		/^nothing was imported, because the file has wrong lines \(2\): line 3, name: is required; line 4, category: is required$/,
	);
	expect(body.fields.map(({ field }: Json) => field)).toEqual([
		"line 3, name",
		"line 4, category",
	]);
	expect(
		(await member.use("listMeasures", { organization_id })).measures,
	).toEqual([]);
});

test("a confirmed import is rejected if the register has changed since", async () => {
	const { measure } = await member.use("addMeasure", {
		organization_id,
		name: "Backups",
		category: "IT",
	});
	const lines = ["id,category", `${measure.id},Operations`];
	const { plan } = await tryImport("measure", lines);
	await member.use("updateMeasure", { id: measure.id, category: "Security" });
	const { status, body } = await member.call("importRecords", {
		organization_id,
		kind: "measure",
		csv: lines.join("\n"),
		dry_run: false,
		plan,
	});
	expect(status).toBe(400);
	expect(body.message).toMatch(/has changed since the dry run/);
	const read = await member.use("getMeasure", { id: measure.id });
	expect(read.measure.category).toBe("Security");
});
