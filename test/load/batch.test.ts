import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { AppError } from "../../src/errors.ts";
import { Batcher } from "../../src/load/batch.ts";
import type { BatchOptions } from "../../src/load/batch-options.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";
import { endShared } from "../support/shared.ts";

let database: TestDatabase;
beforeAll(async () => {
	await endShared();
	database = await createDatabase();
});
afterAll(() => database.drop());

interface Row {
	key: string;
	divisor: number;
}

/**
 * Makes a batcher that divides 10 by each row's divisor in one statement. It remembers which rows
 * came together.
 */
function makeDivider(limits: Partial<BatchOptions<Row, number>> = {}) {
	const batches: Row[][] = [];
	const batcher = new Batcher<Row, number>({
		key: (row) => row.key,
		bytes: () => 10,
		maxBatchRows: 256,
		maxBatchBytes: 1 << 20,
		maxInFlight: 2,
		maxWaitingRows: 1000,
		maxWaitingBytes: 1 << 20,
		run: async (rows) => {
			batches.push(rows);
			const answer = await database.pool.query<{ quotient: number }>(
				"select 10 / d as quotient from unnest($1::int[]) with ordinality as u(d, n) order by n",
				[rows.map((row) => row.divisor)],
			);
			return answer.rows.map((row) => row.quotient);
		},
		...limits,
	});
	return { batcher, batches };
}

const row = (key: string, divisor = 1): Row => ({ key, divisor });

test("items that arrive together go into one statement, sorted by key", async () => {
	const { batcher, batches } = makeDivider();
	const answers = await Promise.all(
		["c", "a", "b"].map((key, index) => batcher.add(row(key, index + 1))),
	);
	expect(answers).toEqual([10, 5, 3]);
	expect(batches.map((batch) => batch.map((one) => one.key))).toEqual([
		["a", "b", "c"],
	]);
});

test("items of one turn of the event loop are not late, however long the turn takes", async () => {
	const { batcher, batches } = makeDivider({ maxWaitMs: 20 });
	const first = batcher.add(row("a"));
	const until = performance.now() + 50;
	while (performance.now() < until);
	expect(batcher.isFull()).toBe(false);
	expect(await Promise.all([first, batcher.add(row("b"))])).toEqual([10, 10]);
	expect(batches).toHaveLength(1);
});

test("a bad row fails alone", async () => {
	const { batcher } = makeDivider();
	const settled = await Promise.allSettled(
		Array.from({ length: 50 }, (_, index) =>
			batcher.add(row(`key ${index}`, index === 17 ? 0 : 2)),
		),
	);
	settled.forEach((outcome, index) => {
		if (index === 17) {
			expect(outcome.status).toBe("rejected");
		} else {
			expect(outcome).toEqual({ status: "fulfilled", value: 5 });
		}
	});
});

test("the same key is never in two batches at the same time, and every item is answered", async () => {
	const inFlight = new Set<string>();
	const { batcher } = makeDivider();
	const watched = new Batcher<Row, number>({
		key: (one) => one.key,
		bytes: () => 1,
		maxBatchRows: 4,
		maxBatchBytes: 100,
		maxInFlight: 3,
		maxWaitingRows: 1000,
		maxWaitingBytes: 1000,
		run: async (rows) => {
			for (const one of rows) {
				if (inFlight.has(one.key))
					throw new Error(`${one.key} is in two running batches`);
				inFlight.add(one.key);
			}
			const answers = await Promise.all(rows.map((one) => batcher.add(one)));
			for (const one of rows) inFlight.delete(one.key);
			return answers;
		},
	});
	const answers = await Promise.all(
		Array.from({ length: 200 }, (_, index) =>
			watched.add(row(`key ${index % 5}`, 10)),
		),
	);
	expect(answers).toEqual(Array(200).fill(1));
});

test("a batch respects its limits of rows and bytes and the number of batches in flight", async () => {
	let inFlight = 0;
	let mostInFlight = 0;
	const sizes: number[] = [];
	const batcher = new Batcher<number, number>({
		key: String,
		bytes: (item) => item,
		maxBatchRows: 3,
		maxBatchBytes: 10,
		maxInFlight: 2,
		maxWaitingRows: 1000,
		maxWaitingBytes: 1000,
		run: async (items) => {
			mostInFlight = Math.max(mostInFlight, ++inFlight);
			sizes.push(items.length);
			expect(items.length === 1 || items.reduce((a, b) => a + b, 0) <= 10).toBe(
				true,
			);
			await database.pool.query("select");
			inFlight--;
			return items;
		},
	});
	const items = [1, 2, 3, 4, 5, 6, 7, 8, 9, 50];
	expect(await Promise.all(items.map((item) => batcher.add(item)))).toEqual(
		items,
	);
	expect(mostInFlight).toBe(2);
	expect(Math.max(...sizes)).toBe(3);
});

test("a full queue rejects items with service_unavailable and works again when it has emptied", async () => {
	const { batcher } = makeDivider({ maxWaitingRows: 5 });
	const settled = await Promise.allSettled(
		Array.from({ length: 8 }, (_, index) => batcher.add(row(`key ${index}`))),
	);
	expect(settled.map((outcome) => outcome.status)).toEqual([
		...Array(5).fill("fulfilled"),
		...Array(3).fill("rejected"),
	]);
	for (const outcome of settled.slice(5)) {
		expect((outcome as PromiseRejectedResult).reason).toMatchObject({
			code: "service_unavailable",
		});
	}
	expect(await batcher.add(row("again", 5))).toBe(2);
});

test("a queue is also full when it reaches its byte limit", async () => {
	const { batcher } = makeDivider({ maxWaitingBytes: 25 });
	const settled = await Promise.allSettled(
		["a", "b", "c"].map((key) => batcher.add(row(key))),
	);
	expect(settled.map((outcome) => outcome.status)).toEqual([
		"fulfilled",
		"fulfilled",
		"rejected",
	]);
});

test("when the database cannot be reached, the whole batch fails at once, and its rows are not tried one by one", async () => {
	let tries = 0;
	const { batcher } = makeDivider({
		run: async () => {
			tries++;
			const client = await database.owner.connect();
			try {
				await client.query("select pg_terminate_backend(pg_backend_pid())");
				return [];
			} finally {
				client.release(true);
			}
		},
	});
	const settled = await Promise.allSettled(
		["a", "b", "c", "d"].map((key) => batcher.add(row(key))),
	);
	expect(new Set(settled.map((outcome) => outcome.status))).toEqual(
		new Set(["rejected"]),
	);
	expect(tries).toBe(1);
});

test("idle resolves when all accepted items are done, also after failures", async () => {
	const { batcher } = makeDivider({ maxBatchRows: 2, maxInFlight: 1 });
	let done = 0;
	const all = Array.from({ length: 9 }, (_, index) =>
		batcher
			.add(row(`key ${index}`, index % 3))
			.catch((error) => expect(error).not.toBeInstanceOf(AppError))
			.finally(() => done++),
	);
	await batcher.idle();
	await Promise.resolve();
	expect(done).toBe(9);
	await Promise.all(all);
	await batcher.idle();
});

/**
 * Makes a batcher that sends one row at a time and holds the first batch until the test releases
 * it. Time stands still until the test moves it.
 */
function makeHeld(limits: Partial<BatchOptions<Row, number>>) {
	vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout"] });
	const held = Promise.withResolvers<void>();
	const { batcher } = makeDivider({
		maxBatchRows: 1,
		maxInFlight: 1,
		run: async (rows) => {
			await held.promise;
			return rows.map(({ divisor }) => divisor);
		},
		...limits,
	});
	return { batcher, release: held.resolve };
}

afterEach(() => {
	vi.useRealTimers();
});

test("while an item has waited too long, new items are turned away, and waiting items are still stored", async () => {
	const { batcher, release } = makeHeld({ maxWaitMs: 0 });
	const running = batcher.add(row("a", 1));
	await new Promise((resolve) => setImmediate(resolve));
	const waiting = batcher.add(row("b", 2));
	vi.advanceTimersByTime(5);
	await expect(batcher.add(row("c"))).rejects.toMatchObject({
		code: "service_unavailable",
	});
	expect(batcher.load()).toMatchObject({ rows: 1, refused: 1 });
	release();
	expect(await Promise.all([running, waiting])).toEqual([1, 2]);
	expect(await batcher.add(row("c", 3))).toBe(3);
});

test("an item that has waited too long when its turn comes is turned away and never stored", async () => {
	const { batcher, release } = makeHeld({ maxAgeMs: 2 });
	const running = batcher.add(row("a", 1));
	await new Promise((resolve) => setImmediate(resolve));
	const waiting = Promise.allSettled([batcher.add(row("b", 2))]);
	const idle = batcher.idle();
	vi.advanceTimersByTime(5);
	release();
	expect(await running).toBe(1);
	expect(await waiting).toMatchObject([
		{ status: "rejected", reason: { code: "service_unavailable" } },
	]);
	await idle;
	expect(batcher.load()).toMatchObject({ rows: 0, bytes: 0, refused: 1 });
});

test("a queue counts as full as soon as recent batches show that it would take too long", async () => {
	const { batcher, release } = makeHeld({ maxWaitMs: 2 });
	const first = batcher.add(row("a", 1));
	expect(batcher.isFull()).toBe(false);
	await new Promise((resolve) => setImmediate(resolve));
	vi.advanceTimersByTime(50);
	release();
	expect(await first).toBe(1);
	await batcher.idle();
	const waiting = batcher.add(row("b", 2));
	expect(batcher.isFull()).toBe(true);
	await expect(batcher.add(row("c"))).rejects.toMatchObject({
		code: "service_unavailable",
		message: expect.stringContaining("overloaded"),
	});
	expect(await waiting).toBe(2);
	expect(batcher.isFull()).toBe(false);
});

test("waiting items are turned away in time even if no batch returns", async () => {
	const { batcher, release } = makeHeld({ maxAgeMs: 2_000 });
	const running = batcher.add(row("a", 1));
	await new Promise((resolve) => setImmediate(resolve));
	const waiting = Promise.allSettled([batcher.add(row("b", 2))]);
	vi.advanceTimersByTime(5_000);
	// A batch that does not return shows that the database is the cause, and not the load.
	const message = expect.stringContaining("database is too slow");
	expect(await waiting).toMatchObject([
		{ status: "rejected", reason: { code: "service_unavailable", message } },
	]);
	release();
	expect(await running).toBe(1);
});

test("only a limited number of items of one key may wait, and further ones do not take room from other keys", async () => {
	const { batcher, release } = makeHeld({
		maxBatchRows: 4,
		maxInFlight: 2,
		maxWaitMs: 0,
		maxHeldPerKey: 4,
	});
	const first = batcher.add(row("crowd"));
	await new Promise((resolve) => setImmediate(resolve));
	const crowd = Array.from({ length: 1000 }, () => batcher.add(row("crowd")));
	const settled = Promise.allSettled([first, ...crowd]);
	vi.advanceTimersByTime(5);
	expect(batcher.isFull()).toBe(false);
	const other = batcher.add(row("other", 7));
	release();
	expect(await other).toBe(7);
	expect((await settled).map(({ status }) => status)).toEqual([
		...Array(5).fill("fulfilled"),
		...Array(996).fill("rejected"),
	]);
	expect(batcher.load()).toMatchObject({ rows: 0, bytes: 0, refused: 996 });
});

test("an item that waited too long behind others of its key is turned away, and the items after it are served", async () => {
	const { batcher, release } = makeHeld({ maxAgeMs: 400, maxBatchRows: 4 });
	const running = batcher.add(row("a", 1));
	await new Promise((resolve) => setImmediate(resolve));
	const expired = Promise.allSettled([
		batcher.add(row("a", 2)),
		batcher.add(row("a", 3)),
		batcher.add(row("b", 4)),
	]);
	vi.advanceTimersByTime(450);
	release();
	expect(await running).toBe(1);
	const fresh = [batcher.add(row("a", 5)), batcher.add(row("b", 6))];
	expect(await Promise.all(fresh)).toEqual([5, 6]);
	for (const outcome of await expired) {
		expect(outcome).toMatchObject({
			status: "rejected",
			reason: { code: "service_unavailable" },
		});
	}
	await batcher.idle();
	expect(batcher.load()).toMatchObject({ rows: 0, bytes: 0, inFlight: 0 });
});

test("an AppError as the result of an item rejects that item alone", async () => {
	const { batcher } = makeDivider({
		run: async (rows) =>
			rows.map(({ key, divisor }) =>
				key === "b" ? new AppError("not_found", "none") : divisor,
			),
	});
	const settled = await Promise.allSettled(
		["a", "b", "c"].map((key) => batcher.add(row(key))),
	);
	expect(settled.map(({ status }) => status)).toEqual([
		"fulfilled",
		"rejected",
		"fulfilled",
	]);
});
