import { pino } from "pino";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { withTenant } from "../../src/db/pool.ts";
import { addEvents } from "../../src/events/add-events.ts";
import { startDispatcher } from "../../src/events/dispatcher.ts";
import type { EventHandler } from "../../src/events/types.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";

let database: TestDatabase;
let lines: Record<string, unknown>[] = [];
const log = pino(
	{ level: "info" },
	{ write: (line) => lines.push(JSON.parse(line)) },
);
beforeAll(async () => {
	database = await createDatabase();
});
afterEach(async () => {
	lines = [];
	await database.owner.query("delete from events");
});
afterAll(() => database.drop());

const newOrganization = () =>
	createOrganization(database.pool, "An organization");

/** Stores events with the numbers 1, 2, 3 … in their data. */
const store = (organizationId: string, count: number) =>
	withTenant(database.pool, organizationId, (client) =>
		addEvents(
			client,
			organizationId,
			Array.from({ length: count }, (_, index) => ({
				type: "record.updated" as const,
				record_id: organizationId,
				data: { number: index + 1 },
			})),
		),
	);

/** Makes a handler that notes the numbers of its events, unless `fail` throws. */
function makeHandler(
	name: string,
	fail: (
		numbers: number[],
		organizationId: string,
	) => void | Promise<void> = () => {},
) {
	const seen: string[] = [];
	const handler: EventHandler = {
		name,
		handle: async (client, organizationId, events) => {
			const numbers = events.map(({ data }) => data.number as number);
			// This stays only if the handler succeeds.
			await client.query(
				"update organizations set description = coalesce(description, '') || $2 where id = $1",
				[organizationId, numbers.map((each) => `${name}${each} `).join("")],
			);
			await fail(numbers, organizationId);
			seen.push(...numbers.map((number) => `${organizationId} ${number}`));
		},
	};
	return { handler, seen };
}

async function dispatch(...handlers: EventHandler[]) {
	const poller = startDispatcher(database.pool, handlers, () => {}, log);
	await poller.idle();
	await poller.stop();
}

const makeDue = () =>
	database.owner.query(
		"update events set retry_at = now() where retry_at is not null",
	);

async function waiting() {
	const { rows } = await database.owner.query(
		`select data->'number' as number, waiting_for, attempts,
			round(extract(epoch from retry_at - now()) / 60)::integer as minutes
		from events where handled_at is null order by id`,
	);
	return rows;
}

test("a handler that fails on one event gets the others, and other handlers get all", async () => {
	const id = await newOrganization();
	await store(id, 7);
	const broken = makeHandler("broken", (numbers) => {
		if (numbers.includes(5)) throw new Error("five is too much");
	});
	const good = makeHandler("good");
	await dispatch(broken.handler, good.handler);

	const all = [1, 2, 3, 4, 5, 6, 7].map((number) => `${id} ${number}`);
	expect(good.seen).toEqual(all);
	expect(broken.seen).toEqual(all.filter((each) => each !== `${id} 5`));
	expect(await waiting()).toEqual([
		{ number: 5, waiting_for: ["broken"], attempts: 1, minutes: 1 },
	]);
	const { rows } = await database.owner.query(
		"select description from organizations where id = $1",
		[id],
	);
	const stored = rows[0].description.trim().split(" ");
	expect(stored.toSorted()).toEqual(
		[1, 2, 3, 4, 5, 6, 7]
			.flatMap((n) => (n === 5 ? [`good${n}`] : [`broken${n}`, `good${n}`]))
			.toSorted(),
	);
	expect(lines).toMatchObject([
		{
			level: 50,
			organization: id,
			handler: "broken",
			waiting: 1,
			err: { message: "five is too much" },
		},
	]);
});

test("an SQL error in a handler is retried with longer and longer waits, and only by that handler", async () => {
	const id = await newOrganization();
	await store(id, 2);
	let isBroken = true;
	const broken = makeHandler("broken");
	const { handle } = broken.handler;
	broken.handler.handle = async (client, ...rest) => {
		if (isBroken) await client.query("select 1 / 0");
		await handle(client, ...rest);
	};
	const good = makeHandler("good");
	const minutes = [];
	for (let n = 0; n < 4; n++) {
		await dispatch(broken.handler, good.handler);
		minutes.push((await waiting()).map((one) => one.minutes));
		// Nothing is tried before its time.
		await dispatch(broken.handler, good.handler);
		expect((await waiting())[0].attempts).toBe(n + 1);
		await makeDue();
	}
	expect(minutes).toEqual([
		[1, 1],
		[2, 2],
		[4, 4],
		[8, 8],
	]);
	isBroken = false;
	await dispatch(broken.handler, good.handler);
	expect(broken.seen).toEqual([`${id} 1`, `${id} 2`]);
	expect(good.seen).toEqual([`${id} 1`, `${id} 2`]);
	expect(await waiting()).toEqual([]);
});

test("after 40 attempts, the wait is four hours", async () => {
	await store(await newOrganization(), 1);
	await database.owner.query(
		"update events set attempts = 40, retry_at = now(), waiting_for = '{broken}'",
	);
	const broken = makeHandler("broken", () => {
		throw new Error("no");
	});
	await dispatch(broken.handler);
	expect(await waiting()).toMatchObject([{ attempts: 41, minutes: 240 }]);
});

test("an organization whose events fail does not hold up the next one", async () => {
	const [bad, good] = [await newOrganization(), await newOrganization()];
	await store(bad, 3);
	await store(good, 3);
	const handler = makeHandler("broken", (_, organizationId) => {
		if (organizationId === bad) throw new Error("no");
	});
	await dispatch(handler.handler);
	expect(handler.seen).toEqual([`${good} 1`, `${good} 2`, `${good} 3`]);
	expect(await waiting()).toHaveLength(3);
});

test("an organization whose transaction fails does not hold up the next one", async () => {
	const [bad, good] = [await newOrganization(), await newOrganization()];
	await store(bad, 1);
	await store(good, 1);
	await database.owner.query(`
		create function fail() returns trigger language plpgsql as $$
		begin raise 'no'; end $$;
		create trigger fail before update on events for each row
			when (old.organization_id = '${bad}') execute function fail()`);
	const { handler, seen } = makeHandler("good");
	await dispatch(handler);
	await database.owner.query("drop function fail cascade");
	expect(seen).toContain(`${good} 1`);
	expect(await waiting()).toMatchObject([{ attempts: 0, waiting_for: null }]);
	// A slow run may try the organization twice.
	expect(lines[0]).toMatchObject({ level: 50 });
	expect(new Set(lines.map((line) => line.organization))).toEqual(
		new Set([bad]),
	);
});

test("a handler that always fails is tried a few times, loses nothing, and lets new events pass", async () => {
	const id = await newOrganization();
	await store(id, 500);
	let calls = 0;
	let isBroken = true;
	const broken = makeHandler("broken", () => {
		calls++;
		if (isBroken) throw new Error("no");
	});
	const good = makeHandler("good");
	await dispatch(broken.handler, good.handler);
	expect(calls).toBe(20);
	expect(good.seen).toHaveLength(500);
	expect(await waiting()).toHaveLength(500);

	await store(id, 1);
	await dispatch(broken.handler, good.handler);
	expect(good.seen).toHaveLength(501);

	isBroken = false;
	await makeDue();
	await dispatch(broken.handler, good.handler);
	expect(new Set(broken.seen).size).toBe(500);
	expect(broken.seen).toHaveLength(501);
	expect(good.seen).toHaveLength(501);
	expect(await waiting()).toEqual([]);
});

test("a hundred busy organizations do not keep the others from their turn", async () => {
	const late = await newOrganization();
	await store(late, 1);
	await database.owner.query(
		"update events set occurred_at = now() - interval '1 hour'",
	);
	for (let n = 0; n < 105; n++) await store(await newOrganization(), 1);
	const { rows } = await database.pool.query(
		"select id from organizations_with_events() as id",
	);
	expect(rows).toHaveLength(100);
	expect(rows[0].id).toBe(late);
});
