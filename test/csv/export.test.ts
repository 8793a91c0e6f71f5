import { parse } from "csv-parse/sync";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeOrganizationId } from "../../src/id.ts";
import {
	type Session,
	startConsole,
	type TestConsole,
} from "../support/console-session.ts";
import { nameOfRole } from "../support/database.ts";
import { heartbeatBody, postureResult } from "../support/service.ts";
import { zoneOfAnotherDay } from "../support/zone-of-another-day.ts";

let served: TestConsole;
let admin: Session;
let organization_id: string;
beforeAll(async () => {
	served = await startConsole();
	admin = await served.signIn("admin");
	organization_id = served.organizationId;
});
afterAll(() => served.close());

const exported = (list: string, query: object = {}, by = admin) =>
	by.get(
		`/api/console/export/${list}.csv?${new URLSearchParams({ organization_id, ...query })}`,
	);

/** Returns the records of an export. Each is an object whose keys are the headings. */
async function rowsOf(
	list: string,
	query: object = {},
): Promise<Record<string, string>[]> {
	const answer = await exported(list, query);
	expect(answer.status).toBe(200);
	return parse(await answer.text(), { bom: true, columns: true });
}

test("a list is downloaded as a file that begins with the mark by which Excel recognizes UTF-8", async () => {
	await admin.use("addVendor", { organization_id, name: 'Zürich, "AG"\u00a0' });
	const answer = await exported("listVendors");
	expect(answer.headers.get("content-type")).toBe("text/csv; charset=utf-8");
	expect(answer.headers.get("content-disposition")).toMatch(
		/^attachment; filename="assay-vendors-\d{4}-\d\d-\d\d\.csv"$/,
	);
	expect(answer.headers.get("cache-control")).toBe("no-store");
	const bytes = new Uint8Array(await answer.arrayBuffer());
	expect([...bytes.slice(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
	const lines = new TextDecoder().decode(bytes).split("\r\n");
	expect(lines[0]).toMatch(/^id,organization_id,name,description,/);
	expect(lines[1]).toContain(',"Zürich, ""AG""\u00a0",');
	expect(lines[2]).toBe("");
});

test("the name of a file has the date of the list in the organization's time zone", async () => {
	const { document } = await admin.use("addDocument", {
		organization_id,
		title: "Backups",
		document_type: "POLICY",
		classification: "INTERNAL",
	});
	const { zone, day } = zoneOfAnotherDay(new Date().toISOString());
	const setZone = (time_zone: string) =>
		admin.use("updateOrganizationSettings", { organization_id, time_zone });
	await setZone(zone);
	const answers = [
		await exported("listVendors"),
		// The address names a record, and not its organization.
		await admin.get(
			`/api/console/export/listDocumentVersions.csv?document_id=${document.id}`,
		),
	];
	expect(
		answers.map(({ headers }) => headers.get("content-disposition")),
	).toEqual([
		`attachment; filename="assay-vendors-${day}.csv"`,
		`attachment; filename="assay-document-versions-${day}.csv"`,
	]);
	// It is 14 hours later there.
	await setZone("Pacific/Kiritimati");
	const past = await exported("listDevices", {
		as_of: "2026-08-31T23:30:00Z",
	});
	expect(past.headers.get("content-disposition")).toBe(
		'attachment; filename="assay-devices-2026-09-01.csv"',
	);
	expect(await past.text()).toMatch(/^\ufeff?as_of,id,organization_id,/);
	const present = await exported("listDevices", {});
	expect(await present.text()).toMatch(/^\ufeff?id,organization_id,/);
	await setZone("UTC");
});

test("the file contains all pages of the list, with its filters and in its order", async () => {
	for (let n = 0; n < 250; n++) {
		await served.database.owner.query(
			"insert into measures (organization_id, id, name, category, state) values ($1, $2, $3, $4, $5)",
			[
				organization_id,
				organization_id.slice(0, 11) + String(n).padStart(21, "0"),
				`Measure ${String(n).padStart(3, "0")}`,
				n % 2 ? "Odd" : "Even",
				"IMPLEMENTED",
			],
		);
	}
	expect(await rowsOf("listMeasures")).toHaveLength(250);
	const odd = await rowsOf("listMeasures", {
		"filter.category": "Odd",
		"order_by.field": "name",
		"order_by.direction": "DESC",
	});
	expect(odd).toHaveLength(125);
	expect(odd[0]?.name).toBe("Measure 249");
	expect(odd[124]?.name).toBe("Measure 001");
	// An export contains all pages, whatever page the reader is on.
	expect(await rowsOf("listMeasures", { size: "5", cursor: "x" })).toHaveLength(
		250,
	);
});

test("the file has a name beside each id, and formulas become text", async () => {
	const { people } = await admin.use("addPeople", {
		organization_id,
		full_name: '=HYPERLINK("https://example.com")',
		primary_email_address: "ada@example.com",
		kind: "EMPLOYEE",
	});
	const vendors = [];
	for (const name of ["Cloud; One", "Two"]) {
		const { vendor } = await admin.use("addVendor", { organization_id, name });
		vendors.push(vendor.id);
	}
	await admin.use("addAsset", {
		organization_id,
		name: "+1 laptop",
		asset_type: "PHYSICAL",
		owner_id: people.id,
		vendor_ids: vendors,
	});
	const [asset] = await rowsOf("listAssets");
	expect(asset).toMatchObject({
		name: "'+1 laptop",
		owner_id: people.id,
		owner_name: '\'=HYPERLINK("https://example.com")',
		vendor_ids: [...vendors].sort().join("; "),
		amount: "1",
		data_types_stored: "",
	});
	expect(asset?.vendor_names?.split(/; (?!One)/).sort()).toEqual([
		'"Cloud; One"',
		"Two",
	]);
});

test("devices have a column for each check that every agent knows", async () => {
	const device = await served.enrollDevice();
	await served.post("heartbeat", heartbeatBody(), { key: device.key });
	const results = [
		postureResult({ status: "FAIL" }),
		postureResult({ check_key: "USB_GUARD", status: "UNKNOWN" }),
	];
	const sent = await served.post("postures", { results }, { key: device.key });
	expect(sent.status).toBe(204);
	const [row] = await rowsOf("listDevices", { "filter.freshness": "ONLINE" });
	expect(row).toMatchObject({
		id: device.id,
		status: "ACTIVE",
		DISK_ENCRYPTION: "FAIL",
		SCREEN_LOCK: "",
		other_checks: "USB_GUARD: UNKNOWN",
		owner_name: "",
	});
	expect(await rowsOf("listDevices", { "filter.freshness": "NEVER" })).toEqual(
		[],
	);
});

test("the audit log is exported with the values before and after", async () => {
	const { risk } = await admin.use("addRisk", {
		organization_id,
		name: "Theft",
		category: "Security",
		treatment: "MITIGATED",
		inherent_likelihood: 2,
		inherent_impact: 3,
	});
	await admin.use("updateRisk", { id: risk.id, note: "Locks" });
	const [latest] = await rowsOf("listAuditLog", {
		"filter.record_id": risk.id,
	});
	expect(latest).toMatchObject({
		operation: "updateRisk",
		actor_name: admin.user.name,
	});
	expect(JSON.parse(latest?.changes ?? "")).toEqual({
		note: { before: null, after: "Locks" },
	});
});

test("an export contains what the signed-in user may read", async () => {
	const viewer = await served.signIn("viewer");
	expect((await exported("listRisks", {}, viewer)).status).toBe(200);
	expect((await exported("listAuditLog", {}, viewer)).status).toBe(403);
	const nobody = {
		...viewer,
		get: (path: string) => fetch(served.service.url + path),
	};
	expect((await exported("listRisks", {}, nobody)).status).toBe(401);
	const foreign = await exported("listRisks", {
		organization_id: makeOrganizationId(),
	});
	expect(foreign.status).toBe(403);
});

test("an invalid export is rejected before anything is sent", async () => {
	for (const list of [
		"getRisk",
		"addRisk",
		"listNothing",
		"listApiTokens",
		"__proto__",
	]) {
		expect([list, (await exported(list)).status]).toEqual([list, 404]);
	}
	const wrong = await exported("listRisks", { "filter.treatment": "IGNORED" });
	expect(wrong.status).toBe(400);
	expect(((await wrong.json()) as { message: string }).message).toMatch(
		/filter.treatment/,
	);
});

test("if reading fails halfway, the download breaks off and never looks complete", async () => {
	const { owner } = served.database;
	// The rows are larger than what the service sends in advance, so it has not read the last ones
	// yet.
	await owner.query(
		`insert into vendors (organization_id, id, name, dpa_url)
		select '${organization_id}', left('${organization_id}', 11) || lpad(n::text, 21, '0'), 'x', repeat('x', 40000)
		from generate_series(1, 800) n`,
	);
	const answer = await exported("listVendors");
	expect(answer.status).toBe(200);
	const app = await nameOfRole(owner, "app");
	await owner.query(`revoke select on vendors from ${app}`);
	await expect(answer.text()).rejects.toThrow();
	expect((await exported("listVendors")).status).toBe(500);
	await owner.query(`grant select on vendors to ${app}`);
	expect((await exported("listVendors", { "filter.query": "y" })).status).toBe(
		200,
	);
});

test("getRecordNames returns the names of records of every kind, but only from the organization", async () => {
	const { vendor } = await admin.use("addVendor", {
		organization_id,
		name: "Named",
	});
	const ids = [vendor.id, organization_id, "A".repeat(32)];
	const { records } = await admin.use("getRecordNames", {
		organization_id,
		ids,
	});
	expect(records).toEqual([{ id: vendor.id, name: "Named" }]);
});
