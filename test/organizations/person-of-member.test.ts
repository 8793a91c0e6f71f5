import { beforeAll, expect, test } from "vitest";
import {
	acceptInvitation,
	inviteMember,
} from "../../src/organizations/invitation-operations.ts";
import { removeMember } from "../../src/organizations/member-operations.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { getOverview } from "../../src/overview/overview.ts";
import { recordOperations } from "../../src/records/operations.ts";
import { people } from "../../src/registers/people.ts";
import { task } from "../../src/registers/task.ts";
import { shareDatabase, type TestDatabase } from "../support/database.ts";
import {
	auditEntries,
	callAs,
	makeUser,
	type TestUser,
} from "../support/people.ts";

let database: TestDatabase;
let organization_id: string;
let admin: TestUser;
beforeAll(async () => {
	database = await shareDatabase();
	organization_id = await createOrganization(database.pool, "Acme");
	admin = await makeUser(database, {
		organizationId: organization_id,
		role: "admin",
	});
});

const [listPeople, , addPeople, , deletePeople] = recordOperations(people);
const [, , addTask] = recordOperations(task);
const TODAY = "2026-06-15";

async function join(): Promise<TestUser> {
	const user = await makeUser(database);
	const { invitation_url } = await callAs(database, admin, inviteMember, {
		organization_id,
		email: user.email,
		role: "member",
	});
	await callAs(database, user, acceptInvitation, {
		token: new URL(invitation_url).hash.slice(1),
	});
	return user;
}

const peopleWith = async (query: string) =>
	(
		await callAs(database, admin, listPeople, {
			organization_id,
			filter: { query },
		})
	).people;

test("a member who joins becomes a person, who stays when the member leaves", async () => {
	const user = await join();
	const [person, ...others] = await peopleWith(user.email);
	expect(others).toEqual([]);
	expect(person).toMatchObject({
		full_name: user.name,
		primary_email_address: user.email,
	});
	expect((await auditEntries(database, organization_id)).at(-1)).toMatchObject({
		operation: "acceptInvitation",
		record_kind: "people",
		record_name: user.name,
	});
	const id = person?.id ?? "";
	await expect(callAs(database, admin, deletePeople, { id })).rejects.toThrow(
		"the person is a member of the organization",
	);
	await callAs(database, admin, removeMember, {
		organization_id,
		user_id: user.id,
	});
	expect(await peopleWith(user.email)).toHaveLength(1);
	await callAs(database, admin, deletePeople, { id });
	expect(await peopleWith(user.email)).toEqual([]);
});

test("a member is the person who has the same address in any case, and sees that person's work", async () => {
	const user = await makeUser(database);
	const { people: person } = await callAs(database, admin, addPeople, {
		organization_id,
		full_name: "Known Already",
		primary_email_address: user.email.toUpperCase(),
		kind: "CONTRACTOR",
	});
	const { invitation_url } = await callAs(database, admin, inviteMember, {
		organization_id,
		email: user.email,
		role: "member",
	});
	await callAs(database, user, acceptInvitation, {
		token: new URL(invitation_url).hash.slice(1),
	});
	expect(await peopleWith(user.email)).toHaveLength(1);

	for (const [name, deadline, state] of [
		["late", "2026-06-14", "TODO"],
		["today", TODAY, "TODO"],
		["this week", "2026-06-22", "IN_PROGRESS"],
		["next month", "2026-07-22", "TODO"],
		["some day", null, "TODO"],
		["done", "2026-06-01", "DONE"],
	] as const) {
		await callAs(database, admin, addTask, {
			organization_id,
			name,
			deadline,
			state,
			assigned_to_id: person.id,
		});
	}
	const { mine } = await callAs(database, user, getOverview, {
		organization_id,
		today: TODAY,
	});
	expect(mine).toMatchObject({
		person_id: person.id,
		overdue: 1,
		this_week: 2,
		open_tasks: 5,
		devices: 0,
		counts: [
			{
				kind: "task",
				field: "deadline",
				person: "assigned_to_id",
				overdue: 1,
				this_week: 2,
			},
		],
	});
	expect(mine?.records.map(({ name, due }) => [name, due])).toEqual([
		["late", "2026-06-14"],
		["today", TODAY],
		["this week", "2026-06-22"],
	]);
	expect(
		(
			await callAs(database, admin, getOverview, {
				organization_id,
				today: TODAY,
			})
		).mine,
	).toBeNull();
});
