import { expect, test } from "vitest";
import { OrganizationQueue } from "../../src/load/organization-queue.ts";

/** A job that begins when the queue runs it, and ends when the test says so. */
function makeJob() {
	const begun = Promise.withResolvers<void>();
	const ended = Promise.withResolvers<string>();
	return {
		begun: begun.promise,
		end: ended.resolve,
		fail: ended.reject,
		work: () => {
			begun.resolve();
			return ended.promise;
		},
	};
}

const lockTimeout = () =>
	Object.assign(new Error("canceling statement due to lock timeout"), {
		code: "55P03",
	});

test("two jobs of one organization run at the same time, and a third one waits", async () => {
	const queue = new OrganizationQueue<string>("test");
	const [first, second, third] = [makeJob(), makeJob(), makeJob()];
	const answers = [first, second, third].map(({ work }) =>
		queue.take("A", work),
	);
	await Promise.all([first.begun, second.begun]);
	expect(queue.queue.load()).toMatchObject({ inFlight: 2, rows: 1 });
	first.end("first");
	await third.begun;
	third.end("third");
	second.end("second");
	expect(await Promise.all(answers)).toEqual(["first", "second", "third"]);
});

test("after a job met a lock, its organization leaves a place to others, also with jobs that already wait", async () => {
	const queue = new OrganizationQueue<string>("test");
	const [locked, running, ...waiting] = Array.from({ length: 6 }, makeJob);
	let isFirst = true;
	const answers = [
		queue.take("A", () => {
			const answer = isFirst ? locked?.work() : Promise.resolve("retried");
			isFirst = false;
			return answer as Promise<string>;
		}),
		...[running, ...waiting].map((job) => queue.take("A", job?.work as never)),
	];
	await Promise.all([locked?.begun, running?.begun]);
	locked?.fail(lockTimeout());
	running?.end("done");
	await waiting[0]?.begun;
	// The first waiting job does not end, so it would keep this one from running if another had the
	// second place.
	expect(await queue.take("B", async () => "other")).toBe("other");
	expect(await queue.take("C", async () => "another")).toBe("another");
	for (const { end } of waiting) end("done");
	expect(await Promise.all(answers)).toEqual([
		"retried",
		...Array(5).fill("done"),
	]);
});
