import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
	changesIn,
	type Entry,
	namesItsRecord,
	otherEndOf,
	phraseOf,
	titleOf,
} from "../../console/src/parts/audit-actions/audit-actions.ts";
import { AUDIT_EVENTS } from "../../src/audit/events.ts";
import { operations } from "../../src/operations.ts";
import { recordKinds } from "../../src/registers/all.ts";

const writing = operations.filter(({ isReadOnly }) => !isReadOnly);
const names = new Set<string>([
	...writing.map(({ name }) => name),
	...AUDIT_EVENTS,
]);

/**
 * Returns the kind of record of an operation's entry if the operation's name alone does not tell
 * the kind.
 */
function kindOf(operation: string): string | null {
	if (operation === "setUp") return "member";
	if (/^(import|add)Records$/.test(operation)) return "risk";
	if (/^(add|update|delete|revoke)Device$/.test(operation)) return "device";
	if (/ApiToken$/.test(operation)) return "api_token";
	const register = recordKinds.find(({ tool }) =>
		["add", "update", "delete"].some((verb) => operation === verb + tool.one),
	);
	return register?.kind ?? null;
}

test.each([...names])("the home page describes %s in words", (operation) => {
	const phrase = phraseOf({ operation, record_kind: kindOf(operation) });
	expect(phrase).not.toMatch(/^did “/);
});

test("the first set-up is described by what it added", () => {
	const inWords = (record_kind: string) => {
		const entry = { operation: "setUp", record_kind };
		return phraseOf(entry) + (namesItsRecord(entry) ? " …" : "");
	};
	expect(["organization", "member", "people"].map(inWords)).toEqual([
		"created the organization …",
		"became the first administrator",
		"added the person …",
	]);
});

test("the news leaves out links that came or went with a record, and keeps one end of every other link", () => {
	const entry = (operation: string, changes: object) =>
		({ operation, changes, outcome: "DONE", at: "now" }) as Entry;
	const link = (end: string) => ({ linked_record: { [end]: { id: "x" } } });
	const added = entry("addRisk", { name: { after: "Theft" } });
	const deleted = entry("deleteRisk", { name: { before: "Theft" } });
	const linked = entry("linkRecords", link("after"));
	expect(
		changesIn([
			added,
			entry("addRisk", link("after")),
			entry("addRecords", link("after")),
			deleted,
			entry("deleteRisk", link("before")),
			linked,
			entry("linkRecords", link("after")),
		]),
	).toEqual([added, deleted, linked]);
});

test("an entry about a link says that it came or went, whatever the operation, and names the other record", () => {
	const risk = { kind: "risk", id: "x", name: "Theft" };
	const entry = (operation: string, end: string) => ({
		operation,
		changes: { linked_record: { [end]: risk } },
	});
	for (const operation of ["linkRecords", "addRisk", "addRecords"]) {
		expect(titleOf(entry(operation, "after"))).toBe("Link added");
	}
	for (const operation of ["unlinkRecords", "deleteRisk"]) {
		expect(titleOf(entry(operation, "before"))).toBe("Link removed");
		expect(otherEndOf(entry(operation, "before"))).toEqual(risk);
	}
	const renamed = { name: { before: "Theft", after: "Burglary" } };
	const update = { operation: "updateRisk", changes: renamed };
	expect(titleOf(update)).toBe("Update risk");
	expect(otherEndOf(update)).toBeUndefined();
});

test("an operation of an earlier version that has no words is quoted", () => {
	const phrase = phraseOf({ operation: "paintRisk", record_kind: "risk" });
	expect(phrase).toBe("did “paint risk”");
});

test("the events that the database writes are in the list of events", async () => {
	const schema = join(import.meta.dirname, "../../sql/schema.sql");
	const written = [
		...(await readFile(schema, "utf8")).matchAll(/audit_device\(.*?'(\w+)'/g),
	].map(([, name]) => name);
	expect(written.length).toBeGreaterThan(3);
	expect(AUDIT_EVENTS).toEqual(expect.arrayContaining(written));
});
