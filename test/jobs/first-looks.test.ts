import { expect, onTestFinished, test } from "vitest";
import { FirstLooks, startPoller } from "../../src/jobs/poller.ts";
import { makeLogger } from "../../src/log.ts";

/** Starts a poller whose looks do not end before `end` is called. */
function start(firstLooks: FirstLooks) {
	const { promise, resolve } = Promise.withResolvers<void>();
	const looking = Promise.withResolvers<void>();
	let looks = 0;
	const poller = startPoller(
		"test",
		3_600_000,
		async () => {
			looks++;
			looking.resolve();
			await promise;
			return false;
		},
		makeLogger("silent"),
		firstLooks,
	);
	onTestFinished(async () => {
		resolve();
		await poller.stop();
	});
	return {
		poller,
		end: resolve,
		looking: looking.promise,
		looks: () => looks,
	};
}

test("pollers look for the first time when they may, one after another", async () => {
	const firstLooks = new FirstLooks();
	const [one, two] = [start(firstLooks), start(firstLooks)];
	await one.poller.idle();
	expect(one.looks()).toBe(0);
	firstLooks.begin();
	await one.looking;
	expect(two.looks()).toBe(0);
	one.end();
	await two.looking;
	expect([one.looks(), two.looks()]).toEqual([1, 1]);
});

test("a first look that hangs does not hold up the others", async () => {
	const firstLooks = new FirstLooks();
	const [hanging, two, three] = [
		start(firstLooks),
		start(firstLooks),
		start(firstLooks),
	];
	firstLooks.begin();
	await Promise.all([hanging.looking, two.looking, three.looking]);
});

test("a poller that is woken does not wait for its turn, and one that is stopped does not look", async () => {
	const firstLooks = new FirstLooks();
	const [hanging, woken, stopped] = [
		start(firstLooks),
		start(firstLooks),
		start(firstLooks),
	];
	woken.poller.wake();
	await woken.looking;
	await stopped.poller.stop();
	woken.end();
	hanging.end();
	firstLooks.begin();
	await hanging.looking;
	await hanging.poller.idle();
	const last = start(firstLooks);
	await last.looking;
	expect([woken.looks(), stopped.looks()]).toEqual([1, 0]);
});
