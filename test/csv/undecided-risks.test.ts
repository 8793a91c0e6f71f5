import { parse } from "csv-parse/sync";
import { beforeEach, expect, test } from "vitest";
import { UNDECIDED_NOTE } from "../../src/starters/undecided.ts";
import type { Session } from "../support/console-session.ts";
import { outcomes, testImports } from "./imports.ts";

// biome-ignore lint/suspicious/noExplicitAny: an answer's shape depends on the call.
type Json = any;

const imports = testImports();
const { doImport, tryImport } = imports;
let member: Session;
let organization_id: string;
/** A suggested risk that nobody has decided about. */
let risk: Json;
beforeEach(async () => {
	({ member, organization_id } = imports);
	await member.use("addStarters", { organization_id, risks: ["phishing"] });
	[risk] = await risks();
});

const risks = async (): Promise<Json[]> =>
	(await member.use("listRisks", { organization_id })).risks;
const read = async (id: string = risk.id): Promise<Json> =>
	(await member.use("getRisk", { id })).risk;
const update = async (values: object): Promise<Json> =>
	(await member.use("updateRisk", { id: risk.id, ...values })).risk;

/** The export of all risks, as text and as rows. */
async function exported() {
	const answer = await member.get(
		`/api/console/export/listRisks.csv?organization_id=${organization_id}`,
	);
	const text = await answer.text();
	const rows: Record<string, string>[] = parse(text, {
		bom: true,
		columns: true,
	});
	return { text, rows };
}

test("tools say which risks nobody has decided about, in lists too, and as of an earlier moment", async () => {
	expect(risk.is_undecided).toBe(true);
	expect(await update({ category: "Staff" })).toMatchObject({
		is_undecided: true,
		treatment: "MITIGATED",
	});
	const { updated_at: as_of } = await read();
	await update({ treatment: "ACCEPTED" });
	expect((await risks()).map((one) => one.is_undecided)).toEqual([false]);
	const then = await member.use("getRisk", { id: risk.id, as_of });
	expect(then.risk.is_undecided).toBe(true);
});

test.each([
	"MITIGATED",
	"ACCEPTED",
])("whoever gives the treatment %s has decided, and giving the former values back undoes it", async (treatment) => {
	expect(await update({ treatment })).toMatchObject({
		treatment,
		is_undecided: false,
		note: null,
	});
	const { treatment: former, note } = risk;
	expect(await update({ treatment: former, note })).toMatchObject({
		treatment: "MITIGATED",
		is_undecided: true,
		note: UNDECIDED_NOTE,
	});
});

test("what people added to the note decides nothing, and stays when somebody decides", async () => {
	const appended = await update({ append: { note: "Ask Ada." } });
	expect(appended).toMatchObject({ is_undecided: true });
	expect(await update({ treatment: "AVOIDED" })).toMatchObject({
		note: "Ask Ada.",
	});
	await update({ treatment: "MITIGATED", note: appended.note });
	expect(
		await update({ treatment: "MITIGATED", append: { note: "Asked." } }),
	).toMatchObject({ is_undecided: false, note: "Ask Ada.\nAsked." });
});

test("another treatment with the mark of an earlier version is decided", async () => {
	await imports.served.database.owner.query(
		"update risks set treatment = 'AVOIDED' where id = $1",
		[risk.id],
	);
	expect(await read()).toMatchObject({
		is_undecided: false,
		note: UNDECIDED_NOTE,
	});
	expect(await update({ treatment: "MITIGATED" })).toMatchObject({
		is_undecided: false,
		note: null,
	});
});

test("a file says NOT_DECIDED, and importing it again changes nothing", async () => {
	await update({ note: `${UNDECIDED_NOTE}\n\nAsk Ada.` });
	const { text, rows } = await exported();
	expect(rows).toMatchObject([{ treatment: "NOT_DECIDED", note: "Ask Ada." }]);
	const result = await tryImport("risk", text.trim().split("\r\n"));
	expect(outcomes(result)).toEqual(["UNCHANGED"]);
});

test("a line without a treatment decides nothing, and one with a treatment decides", async () => {
	await doImport("risk", [
		"id,treatment,category,note",
		`${risk.id},Not decided,Staff,Ask Ada.`,
	]);
	expect(await read()).toMatchObject({
		is_undecided: true,
		category: "Staff",
		note: `${UNDECIDED_NOTE}\nAsk Ada.`,
	});
	await doImport("risk", ["id,note", `${risk.id},`]);
	expect(await read()).toMatchObject({
		is_undecided: true,
		note: UNDECIDED_NOTE,
	});
	const { import_id } = await doImport("risk", [
		"id,treatment,note",
		`${risk.id},MITIGATED,${UNDECIDED_NOTE}`,
	]);
	expect(await read()).toMatchObject({ is_undecided: false, note: null });
	await member.use("rollBackImport", { id: import_id, dry_run: false });
	expect(await read()).toMatchObject({ is_undecided: true });
});

test("NOT_DECIDED leaves the treatment of a decided risk, and makes a new risk undecided", async () => {
	await update({ treatment: "TRANSFERRED" });
	const result = await doImport("risk", [
		"id,name,category,treatment,inherent_likelihood,inherent_impact,note",
		`${risk.id},Theft,Security,NOT_DECIDED,2,2,${UNDECIDED_NOTE}`,
		",Fire,Security,NOT_DECIDED,2,2,Ask Ada.",
		",Flood,Security,MITIGATED,2,2,",
	]);
	expect(outcomes(result)).toEqual(["UPDATE", "ADD", "ADD"]);
	const ids = result.lines.map(({ id }: Json) => id);
	expect(await Promise.all(ids.map(read))).toMatchObject([
		{ name: "Theft", treatment: "TRANSFERRED", note: null },
		{ is_undecided: true, note: `${UNDECIDED_NOTE}\nAsk Ada.` },
		{ is_undecided: false, treatment: "MITIGATED" },
	]);
});
