import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { setRole } from "../../src/db/roles.ts";
import { makeLogger } from "../../src/log.ts";
import {
	deleteDueOrganizations,
	findTampered,
	readDeletedOrganizations,
} from "../../src/retention/delete-organizations.ts";
import { startRetention } from "../../src/retention/retention.ts";
import { allRows, backUp, query, restore } from "../support/backups.ts";
import { withDatabaseName } from "../support/database.ts";
import { fillEverything } from "../support/filled-installation.ts";
import {
	connected,
	copyInstallation,
	createInstallation,
	type Installation,
} from "../support/installations.ts";
import { startTools, type TestTools } from "../support/tools.ts";
import { until } from "../support/until.ts";

let tools: TestTools;
let installation: Installation;
let dropInstallation = async () => {};
beforeAll(async () => {
	tools = await startTools();
	await fillEverything(tools);
	const { file } = await backUp(tools.database.url);
	installation = await createInstallation({
		dropAt: (drop) => {
			dropInstallation = drop;
		},
	});
	await restore(installation.url, file);
	await query(
		withDatabaseName(tools.database.url, installation.name),
		"delete from deleted_organizations",
	);
});
afterAll(async () => {
	await dropInstallation();
	await tools.close();
});

/** Copies the filled database, which was restored for an owner who is no superuser. */
const restored = () => copyInstallation(installation);

/** Lets the time of grace of an organization be over. */
const close = (look: string, organizationId: string, ago = "1 second") =>
	query(
		look,
		`insert into organization_closures values ($1, 'DELETION', 'the end', now() - interval '15 days', now() - $2::interval)`,
		[organizationId, ago],
	);

const deleteDue = (url: string) =>
	deleteDueOrganizations({ connectionString: url }, makeLogger("silent"));

const readList = (url: string) =>
	connected(url, async (client) => {
		await client.query(setRole("identity"));
		return readDeletedOrganizations(client);
	});

test("a deletion takes every row of the organization and no other, and leaves its name and last hash", async () => {
	const { url, look } = await restored();
	const id = tools.organizationId;
	const [head] = await query<{ sequence: number; hash: string }>(
		look,
		"select sequence::integer, encode(hash, 'hex') as hash from audit_heads where organization_id = $1",
		[id],
	);
	const before = await allRows(look);
	const own = Object.values(before)
		.flat()
		.filter((row) => row.includes(id));
	expect(own.length).toBeGreaterThan(100);
	await close(look, id);
	await deleteDue(url);
	const { deleted_organizations, archive_leftovers, ...after } =
		await allRows(look);
	// The service deletes the files that are named here.
	expect(archive_leftovers).toHaveLength(2);
	for (const [table, rows] of Object.entries(before)) {
		// That the database has held a device is remembered on purpose, see below.
		if (
			/^(deleted_organizations|archive_leftovers|unknown_key_wait)$/.test(table)
		) {
			continue;
		}
		// A token that is limited to organizations names them, which gives nothing any more.
		const kept = rows.filter(
			(row) => table === "api_tokens" || !row.includes(id),
		);
		expect(after[table], table).toEqual(kept);
	}
	expect(deleted_organizations).toHaveLength(1);
	const [written] = await readList(url);
	expect(written).toMatchObject({
		number: 1,
		organization_id: id,
		reason: "the end",
		last_sequence: head?.sequence,
		last_hash: head?.hash,
	});
});

test("devices of the only organization get 401 afterwards, because the database has held devices", async () => {
	const { url, look } = await restored();
	await query(look, "delete from unknown_key_wait");
	await close(look, tools.organizationId);
	await close(look, tools.otherOrganizationId);
	await deleteDue(url);
	expect(await query(look, "select from devices")).toEqual([]);
	expect(await query(look, "select reason from unknown_key_state()")).toEqual(
		[],
	);
});

test("guards are as before afterwards: row-level security is forced and triggers are on", async () => {
	const { url, look } = await restored();
	const guards = () =>
		query(
			look,
			`select c.relname, c.relforcerowsecurity, t.tgname, t.tgenabled
			from pg_class c left join pg_trigger t on t.tgrelid = c.oid
			where c.relnamespace = 'public'::regnamespace order by 1, 3`,
		);
	const before = await guards();
	await close(look, tools.organizationId);
	await deleteDue(url);
	expect(await guards()).toEqual(before);
});

test("an organization in its time of grace, a suspended one and one with entries that are not sealed yet stay", async () => {
	const { url, look } = await restored();
	await close(look, tools.otherOrganizationId, "-1 hour");
	await close(look, tools.organizationId);
	await query(
		look,
		"delete from audit_seals where organization_id = $1 and sequence = (select max(sequence) from audit_seals where organization_id = $1)",
		[tools.organizationId],
	);
	const before = await query(look, "select id from organizations order by id");
	await deleteDue(url);
	expect(await query(look, "select id from organizations order by id")).toEqual(
		before,
	);
});

test("a stop ends a deletion after the running batch, and the next run finishes it", async () => {
	const { url, look } = await restored();
	const id = tools.organizationId;
	await close(look, id);
	const devices = () =>
		query(look, "select from devices where organization_id = $1", [id]);
	const before = await devices();
	let stopped: Promise<void> | undefined;
	const log = pino(
		{},
		{
			write: (line) => {
				if (line.includes("is being deleted")) stopped = stop();
			},
		},
	);
	const stop = startRetention(
		{ connectionString: url },
		{ ...readConfig({ DATABASE_URL: url }), dailyWorkAfterMs: 0 },
		log,
	);
	await until("the deletion", () => stopped !== undefined);
	await stopped;
	expect(await devices()).toEqual(before);
	await deleteDue(url);
	expect(await devices()).toEqual([]);
});

test("two deletions at the same time and a second one later do no harm", async () => {
	const { url, look } = await restored();
	await close(look, tools.organizationId);
	await Promise.all([deleteDue(url), deleteDue(url)]);
	await close(look, tools.otherOrganizationId);
	await deleteDue(url);
	const rows = await readList(url);
	expect(rows.map((row) => [row.number, row.organization_id])).toEqual([
		[1, tools.organizationId],
		[2, tools.otherOrganizationId],
	]);
	expect(findTampered(rows)).toBeUndefined();
});

test("a row of the list that somebody changed, removed or reordered is found", async () => {
	const { url, look } = await restored();
	for (const id of [tools.organizationId, tools.otherOrganizationId]) {
		await close(look, id);
		await deleteDue(url);
	}
	const rows = await readList(url);
	const [first, second] = rows;
	if (!first || !second) throw new Error("two organizations were deleted");
	expect(findTampered(rows)).toBeUndefined();
	expect(findTampered([{ ...first, name: "Other" }, second])).toBe(1);
	expect(findTampered([first, { ...second, last_sequence: 0 }])).toBe(2);
	expect(findTampered([second])).toBe(1);
	expect(findTampered([second, first])).toBe(1);
});

test("the owner alone cannot change what stays by a slip, because row-level security binds the owner", async () => {
	const { url, look } = await restored();
	await close(look, tools.organizationId);
	await deleteDue(url);
	for (const statement of [
		"update deleted_organizations set name = 'x'",
		"delete from deleted_organizations",
	]) {
		const { rowCount } = await connected(url, (client) =>
			client.query(statement),
		);
		expect(rowCount).toBe(0);
	}
	expect(await query(look, "select from deleted_organizations")).toHaveLength(
		1,
	);
});
