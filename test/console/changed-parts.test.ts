import { expect, test } from "vitest";
import {
	changedEnds,
	changedParts,
} from "../../console/src/parts/records/changed-parts.ts";

test("of two lists, only the elements that were added or removed are parts", () => {
	expect(changedParts(["a", "b", "c"], ["c", "d", "a"])).toEqual([
		{ before: "b", after: undefined },
		{ before: undefined, after: "d" },
	]);
	expect(changedParts(null, ["a"])).toEqual([
		{ before: undefined, after: "a" },
	]);
	expect(changedParts(["a", "b"], ["b", "a"])).toEqual([]);
});

test("elements with an id are compared by it", () => {
	const one = { id: "1", name: "One" };
	const renamed = { id: "1", name: "First" };
	expect(changedParts([one, { id: "2" }], [{ id: "2" }, renamed])).toEqual([
		{ before: one, after: renamed },
	]);
});

test("of two objects, only the names whose values differ are parts", () => {
	expect(
		changedParts(
			{ FIREWALL: "PASSING", SCREEN_LOCK: "PASSING", GONE: "STALE" },
			{ FIREWALL: "PASSING", SCREEN_LOCK: "FAILING", NEW: "PASSING" },
		),
	).toEqual([
		{ name: "SCREEN_LOCK", before: "PASSING", after: "FAILING" },
		{ name: "GONE", before: "STALE", after: undefined },
		{ name: "NEW", before: undefined, after: "PASSING" },
	]);
});

test("texts, numbers and a list beside a text have no parts", () => {
	expect(changedParts("a", "b")).toBeUndefined();
	expect(changedParts(1, null)).toBeUndefined();
	expect(changedParts(null, null)).toBeUndefined();
	expect(changedParts(["a"], "b")).toBeUndefined();
});

test("the ends of a change contain only what differs, and count the rest", () => {
	expect(changedEnds(["a", "b", "c"], ["c", "d", "a"])).toEqual({
		before: ["b"],
		after: ["d"],
		unchanged: 2,
	});
	expect(
		changedEnds({ platform: "LINUX", owner: null }, { platform: "DARWIN" }),
	).toEqual({
		before: { platform: "LINUX", owner: null },
		after: { platform: "DARWIN" },
		unchanged: 0,
	});
	expect(changedEnds({ a: 1, b: 2 }, { a: 1, b: 3 })).toEqual({
		before: { b: 2 },
		after: { b: 3 },
		unchanged: 1,
	});
});

test("an end that is no list, an empty one and another order are shown whole", () => {
	for (const [before, after] of [
		["a", "b"],
		[null, ["a"]],
		[
			["a", "b"],
			["b", "a"],
		],
	]) {
		expect(changedEnds(before, after)).toEqual({
			before,
			after,
			unchanged: 0,
		});
	}
});
