import { afterAll, beforeAll, expect, test } from "vitest";
import { heartbeatBody } from "../support/service.ts";
import { shareTools, type TestTools } from "../support/tools.ts";

let assay: TestTools;
let organization_id: string;
beforeAll(async () => {
	assay = await shareTools();
	organization_id = assay.organizationId;
});
afterAll(() => assay.close());

test("owners are set by serial number, hostname and address, and a dry run says first what is wrong", async () => {
	const [a, b] = [await assay.enrollDevice(), await assay.enrollDevice()];
	const facts = { serial_number: "SER-1", hostname: "owned-a" };
	await assay.post("heartbeat", heartbeatBody(facts), { key: a.key });
	const more = { serial_number: "SER-2", hostname: "owned-b" };
	await assay.post("heartbeat", heartbeatBody(more), { key: b.key });
	const { people } = await assay.use("addPeople", {
		organization_id,
		full_name: "Ada",
		kind: "EMPLOYEE",
		primary_email_address: "ada@example.com",
	});
	// The lines are numbered as in the file, also after an empty one.
	const csv =
		"Owner;Device\nADA@example.com; ser-1 \n\nnobody@example.com;owned-b\nada@example.com;elsewhere\n ada@example.com;owned-a\nada@example.com;\n;owned-b\n";
	const dry = await assay.use("importDeviceOwners", {
		organization_id,
		csv,
		dry_run: true,
	});
	expect(dry).toEqual({
		changed_device_ids: [a.id],
		unchanged_device_ids: [],
		lines_without_owner: [8],
		last_line: 8,
		problems: [
			[4, "owner", "nobody@example.com; give that of a person"],
			[5, "device", "elsewhere"],
			[6, "device", "the device of line 2"],
			[7, "device", "is empty"],
		].map(([line, field, words]) => ({
			line,
			field,
			message: expect.stringContaining(String(words)),
		})),
	});
	const whole = await assay.call("importDeviceOwners", {
		organization_id,
		csv,
	});
	expect(whole.status).toBe(400);
	expect(whole.body.message).toContain("csv: line 4, owner: no person has");
	const entry = await assay.call("setDeviceOwners", {
		organization_id,
		owners: [
			{ device: a.id, owner: people.id },
			{ device: a.id, owner: people.id },
		],
	});
	expect(entry.body.message).toContain("owners[1].device: ");
	expect(entry.body.message).toContain("the device of owners[0]");
	const ownerOf = async (id: string) =>
		(await assay.use("getDevice", { id })).device.owner_id;
	expect(await ownerOf(a.id)).toBeNull();
	const good = "device,owner\nser-1,ada@example.com\nowned-b,Nobody\n";
	const done = await assay.use("importDeviceOwners", {
		organization_id,
		csv: good,
	});
	expect(done).toEqual({
		changed_device_ids: [a.id],
		unchanged_device_ids: [b.id],
		lines_without_owner: [],
		last_line: 3,
		problems: [],
	});
	expect(await ownerOf(a.id)).toBe(people.id);
	const empty = await assay.use("importDeviceOwners", {
		organization_id,
		csv: "device,owner,note\nser-1,,lost\nowned-b\n",
	});
	expect(empty).toMatchObject({
		changed_device_ids: [],
		lines_without_owner: [2, 3],
	});
	expect(await ownerOf(a.id)).toBe(people.id);
	const removed = await assay.use("importDeviceOwners", {
		organization_id,
		csv: "device,owner\nser-1,nobody\n",
	});
	expect(removed.changed_device_ids).toEqual([a.id]);
	expect(await ownerOf(a.id)).toBeNull();
	await assay.use("updateDevice", { id: a.id, owner_id: people.id });
	const cleared = await assay.use("setDeviceOwners", {
		organization_id,
		owners: [{ device: a.id, owner: null }],
	});
	expect(cleared.changed_device_ids).toEqual([a.id]);
	expect(await ownerOf(a.id)).toBeNull();
});

test("a file of 3,000 owners is tried as a whole and imported in parts, and its own lines are named", async () => {
	const { rows } = await assay.database.owner.query<{ id: string }>(
		`insert into devices (organization_id, id, name, search_text)
		select $1, md5('bulk-' || n), 'bulk-' || n, 'bulk' from generate_series(1, 3000) n
		returning id`,
		[organization_id],
	);
	expect(rows.length).toBe(3000);
	const ada = await assay.use("addPeople", {
		organization_id,
		full_name: "Ada of many",
		kind: "EMPLOYEE",
		primary_email_address: "many@example.com",
	});
	const lines = rows.map(({ id }) => `${id},many@example.com`);
	const csv = ["device,owner", ...lines].join("\n");
	const wrong = [...lines];
	wrong[2499] = "elsewhere,many@example.com";
	wrong[2999] = lines[0] as string;
	const dry = await assay.use("importDeviceOwners", {
		organization_id,
		csv: ["device,owner", ...wrong].join("\n"),
		dry_run: true,
	});
	expect(dry.last_line).toBe(3001);
	expect(dry.changed_device_ids.length).toBe(2998);
	expect(
		dry.problems.map(({ line, message }: { line: number; message: string }) => [
			line,
			message.split(";")[0],
		]),
	).toEqual([
		[2501, "no device has the serial number, hostname or id elsewhere"],
		[3001, `${rows[0]?.id} is the device of line 2`],
	]);
	const part = async (text: string, first_line?: number, last_line?: number) =>
		assay.call("importDeviceOwners", {
			organization_id,
			csv: text,
			first_line,
			last_line,
		});
	expect((await part(csv)).body.message).toContain(
		"has 3000 lines to import, and a call takes 500",
	);
	expect((await part(csv, 502, 1002)).status).toBe(400);
	const failed = await part(["device,owner", ...wrong].join("\n"), 2501, 2501);
	expect(failed.body.message).toContain("csv: line 2501, device: no device");
	expect((await part(csv, 502, 1001)).status).toBe(200);
	const owned = await assay.database.owner.query<{ id: string }>(
		"select id from devices where organization_id = $1 and owner_id = $2",
		[organization_id, ada.people.id],
	);
	expect(owned.rows.map(({ id }) => id).sort()).toEqual(
		rows
			.slice(500, 1000)
			.map(({ id }) => id)
			.sort(),
	);
});

test.each([
	["other columns", "serial,owner\nx,y\n"],
	["no lines", "device,owner\n"],
	["a column twice", "device,owner,Owner\nx,y,z\n"],
])("owners are not imported from a file with %s", async (_, csv) => {
	const { status, body } = await assay.call("importDeviceOwners", {
		organization_id,
		csv,
	});
	expect(status).toBe(400);
	expect(body.message).toContain("csv: must have");
});
