import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { Batcher } from "../../src/load/batch.ts";

/** Makes a batcher for up to two items a batch. Returns it with the items of each batch. */
function makeBatcher(minIntervalMs: number) {
	const batches: string[][] = [];
	const batcher = new Batcher<string, string>({
		key: (item) => item,
		bytes: () => 1,
		maxBatchRows: 2,
		maxBatchBytes: 100,
		maxInFlight: 2,
		minIntervalMs,
		maxWaitingRows: 100,
		maxWaitingBytes: 100,
		run: async (items) => {
			batches.push(items);
			return items;
		},
	});
	return { batcher, batches };
}

const LONG_MS = 3_600_000;

async function turns(): Promise<void> {
	for (let turn = 0; turn < 10; turn++) await nextTurn();
}

test("the first item does not wait, and the next ones wait until the interval is over", async () => {
	const { batcher, batches } = makeBatcher(LONG_MS);
	expect(await batcher.add("a")).toBe("a");
	void batcher.add("b");
	await turns();
	expect(batches).toEqual([["a"]]);
	expect(batcher.load().rows).toBe(1);
});

test("items that fill a batch do not wait", async () => {
	const { batcher, batches } = makeBatcher(LONG_MS);
	await batcher.add("a");
	await Promise.all([batcher.add("b"), batcher.add("c")]);
	expect(batches).toEqual([["a"], ["b", "c"]]);
});

test("an item that arrives within the interval goes when it is over", async () => {
	const { batcher, batches } = makeBatcher(20);
	await batcher.add("a");
	expect(await batcher.add("b")).toBe("b");
	expect(batches).toEqual([["a"], ["b"]]);
});
