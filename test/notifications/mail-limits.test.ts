import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { runCommand } from "../support/command.ts";
import { makeUser } from "../support/people.ts";
import { openStand, type Stand } from "./stand.ts";

let stand: Stand;
beforeAll(async () => {
	stand = await openStand();
	await stand.owner.query("update organizations set made_by_user = true");
});
afterEach(() => stand.reset());
afterAll(() => stand.close());

/** Adds a person with an overdue task, and returns the address. */
async function addOverdue(
	person: { id: string; primary_email_address: string } | undefined = undefined,
): Promise<string> {
	const { id, primary_email_address } = person ?? (await stand.addPerson());
	await stand.use("addTask", {
		name: "Patch the server",
		assigned_to_id: id,
		deadline: "2024-01-01",
	});
	return primary_email_address;
}

async function addMember(): Promise<string> {
	const person = await stand.addPerson();
	await makeUser(
		stand.served.database,
		{ organizationId: stand.served.organizationId, role: "member" },
		{ email: person.primary_email_address },
	);
	return addOverdue(person);
}

const times = <Result>(count: number, work: () => Promise<Result>) =>
	Array.from({ length: count }).reduce<Promise<Result[]>>(
		async (done) => [...(await done), await work()],
		Promise.resolve([]),
	);

/** Queues the weekly mails, and returns to whom they go. */
async function recipients(id: string, count: number): Promise<string[]> {
	const mails = await stand.digestNow(id, count);
	return mails.map((mail) => mail?.to ?? "").sort();
}

const channelOf = async (id: string) =>
	(await stand.use("listNotificationChannels")).channels.find(
		(one: { id: string }) => one.id === id,
	);

/** Lets the mails that were queued so far be a week old. */
const passWeek = () =>
	stand.owner.query(
		"update mails set created_at = created_at - interval '7 days'",
	);

test("in an organization that a user made, all members get their weekly mail, and others take turns", async () => {
	const members = await times(6, addMember);
	const { id } = await stand.addChannel("OVERDUE_WORK");
	expect(await recipients(id, 6)).toEqual(members.sort());
	expect(await channelOf(id)).toMatchObject({
		unmailed_count: 0,
		unmailed_at: null,
	});

	await passWeek();
	const strangers = await times(7, () => addOverdue());
	const first = await recipients(id, 11);
	expect(first).toEqual(expect.arrayContaining(members));
	expect(await channelOf(id)).toMatchObject({
		unmailed_count: 2,
		unmailed_at: expect.any(String),
	});
	const left = strangers.filter((address) => !first.includes(address));
	expect(left).toHaveLength(2);
	await passWeek();
	expect(await recipients(id, 11)).toEqual(expect.arrayContaining(left));

	await passWeek();
	const another = await addOverdue();
	expect(await recipients(id, 11)).toHaveLength(11);
	expect(await channelOf(id)).toMatchObject({ unmailed_count: 3 });
	await passWeek();
	const { url } = stand.served.database;
	const trusted = await runCommand(
		["org", "trust", stand.served.organizationId],
		{ DATABASE_URL: url },
	);
	expect(trusted.stdout).toContain("without a limit");
	expect(await channelOf(id)).toMatchObject({
		unmailed_count: 0,
		unmailed_at: null,
	});
	expect(await recipients(id, 14)).toEqual(
		[...members, ...strangers, another].sort(),
	);
	const again = await runCommand(
		["org", "trust", stand.served.organizationId],
		{ DATABASE_URL: url },
	);
	expect(again.stdout).toContain("no such limit");
	const { audit_entries: entries } = await stand.use("listAuditLog", {
		filter: { operation: "trustOrganization" },
	});
	expect(entries).toMatchObject([
		{ changes: { has_mail_limits: { before: true, after: false } } },
	]);
});
