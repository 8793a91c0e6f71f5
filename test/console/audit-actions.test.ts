import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
	changesIn,
	type Entry,
	namesItsRecord,
	otherEndOf,
	ownPhraseOf,
	phraseOf,
	titleOf,
} from "../../console/src/parts/audit-actions/audit-actions.ts";
import { linkUserOf } from "../../console/src/parts/audit-actions/by-link.ts";
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

test("a sentence names what kind of record its verb is about", () => {
	const inWords = (operation: string, record_kind: string, changes = {}) =>
		phraseOf({ operation, record_kind, changes });
	expect(inWords("takeSnapshot", "snapshot")).toBe("took the snapshot");
	expect(inWords("archiveRecords", "vendor")).toBe("archived the vendor");
	expect(inWords("addComment", "risk")).toBe("commented on the risk");
	expect(ownPhraseOf("addComment")).toBe("commented");
	const back = { archived_at: { before: "2026-01-31", after: null } };
	expect(inWords("archiveRecords", "vendor", back)).toBe(
		"took back into use the vendor",
	);
	for (const name of names) {
		expect(inWords(name, "risk"), name).not.toMatch(/[{}]|\bthe the\b/);
		expect(ownPhraseOf(name) ?? "", name).not.toMatch(/[{}]|\bthe$/);
	}
});

test("an import is described by the number of its records", () => {
	const inWords = (added: number, updated: number) =>
		phraseOf({
			operation: "importRecords",
			record_kind: "import",
			changes: { added: { after: added }, updated: { after: updated } },
		});
	expect(inWords(1, 0)).toBe("imported 1 record into the register of");
	expect(inWords(1, 2)).toBe("imported 3 records into the register of");
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
		({
			operation,
			changes,
			outcome: "DONE",
			at: "now",
			record_id: "y",
		}) as Entry;
	const link = (end: string, id = "x") => ({
		linked_record: { [end]: { kind: "risk", id } },
	});
	const added = entry("addRisk", { name: { after: "Theft" } });
	const deleted = entry("deleteRisk", { name: { before: "Theft" } });
	const linked = entry("linkRecords", link("after"));
	const otherEnd = {
		...entry("linkRecords", link("after", "y")),
		record_id: "x",
	};
	expect(
		changesIn([
			added,
			entry("addRisk", link("after")),
			entry("addRecords", link("after")),
			deleted,
			entry("deleteRisk", link("before")),
			linked,
			otherEnd,
		]),
	).toEqual([added, deleted, linked]);
});

test("each link is in the news once, although others were made at the same time, also with the older tools", () => {
	const entry = (operation: string, at: string, id: string, other: string) =>
		({
			operation,
			at,
			outcome: "DONE",
			record_id: id,
			changes: { linked_record: { after: { kind: "risk", id: other } } },
		}) as unknown as Entry;
	const one = entry("linkRecords", "1", "a", "b");
	const two = entry("linkRecords", "2", "c", "b");
	const third = entry("linkRecords", "2", "d", "b");
	const older = entry("linkControlMeasure", "3", "a", "b");
	expect(
		changesIn([
			older,
			entry("linkControlMeasure", "3", "b", "a"),
			one,
			two,
			entry("linkRecords", "0", "b", "a"),
			third,
			entry("linkRecords", "2", "b", "c"),
			entry("linkRecords", "2", "b", "d"),
		]),
	).toEqual([older, one, two, third]);
	const measure = { ...one, record_kind: "measure" };
	expect(phraseOf(measure)).toBe("linked the measure");
	const removed = { linked_record: { before: { kind: "risk", id: "b" } } };
	expect(phraseOf({ ...measure, changes: removed })).toBe(
		"removed the link between the measure",
	);
});

test("starter records are one piece of news that counts them", () => {
	const entry = (second: number, changes: object) =>
		({
			operation: "addStarters",
			changes,
			outcome: "DONE",
			at: new Date(second * 1000).toISOString(),
		}) as Entry;
	const counts = { frameworks: 1, controls: 33, risks: 2, links: 40 };
	const last = entry(1000, { starter_records: { after: counts } });
	const link = { linked_record: { after: { kind: "risk", id: "x" } } };
	const ofEarlierVersion = entry(500, link);
	const news = changesIn([
		last,
		entry(999.9, link),
		entry(999.8, { name: { after: "Theft" } }),
		ofEarlierVersion,
		entry(499, { name: { after: "Theft" } }),
	]);
	expect(news).toEqual([last, ofEarlierVersion]);
	expect(news.map(phraseOf)).toEqual([
		"added 1 framework, 33 controls and 2 risks from a starter set",
		"added records from a starter set",
	]);
	expect(news.some(namesItsRecord)).toBe(false);
});

test("an entry about a link says that it came or went, whatever the operation, and names the other record", () => {
	const risk = { kind: "risk", id: "x", name: "Theft" };
	const entry = (operation: string, end: string) => ({
		operation,
		changes: { linked_record: { [end]: risk } },
	});
	for (const operation of ["linkRecords", "addRisk", "addRecords"]) {
		expect(titleOf(entry(operation, "after"))).toBe("Add link");
	}
	for (const operation of ["unlinkRecords", "deleteRisk"]) {
		expect(titleOf(entry(operation, "before"))).toBe("Remove link");
		expect(otherEndOf(entry(operation, "before"))).toEqual(risk);
	}
	const renamed = { name: { before: "Theft", after: "Burglary" } };
	const update = { operation: "updateRisk", changes: renamed };
	expect(titleOf(update)).toBe("Update risk");
	expect(otherEndOf(update)).toBeUndefined();
});

test("an entry of 0.1.0 about the fields that a review changed is no second review", () => {
	const entry = (changes: object) => ({
		operation: "addVendorReview",
		record_kind: "vendor",
		changes: changes as Entry["changes"],
	});
	const dates = { last_review_date: { before: null, after: "2026-01-31" } };
	const review = { review: { after: { outcome: "APPROVED" } } };
	expect(titleOf(entry(dates))).toBe("Update vendor");
	expect(phraseOf(entry(dates))).toBe("changed the vendor");
	for (const changes of [review, { ...review, ...dates }]) {
		expect(titleOf(entry(changes))).toBe("Add vendor review");
		expect(phraseOf(entry(changes))).toBe("reviewed the vendor");
	}
});

test("an entry about what a person did by a link tells who it was, also after an erasure", () => {
	const entry = (operation: string, changes: object) => ({
		actor_kind: "SYSTEM" as const,
		actor_name: "somebody, by a link",
		record_id: "record",
		operation,
		changes: changes as Entry["changes"],
	});
	const signed = entry("signDocumentByLink", {
		version_1_signature: { after: { person_id: "ada", way: "COPIED_LINK" } },
	});
	expect(linkUserOf(signed)).toEqual({ personId: "ada", isCopied: true });
	const asked = entry("addDeviceException", {
		requested_by_person_id: { after: "ada" },
		link: { after: "MAILED" },
	});
	expect(linkUserOf(asked)).toEqual({ personId: "ada", isCopied: false });
	const opened = entry("openMyDevices", { link: { after: "COPIED" } });
	expect(linkUserOf(opened)).toEqual({ personId: "record", isCopied: true });
	const erased = {
		version_1_signature: "[erased]",
		requested_by_person_id: null,
	};
	expect(linkUserOf(entry("signDocumentByLink", erased))).toEqual({
		personId: undefined,
		isCopied: false,
	});
	for (const others of [
		{ actor_kind: "USER" as const },
		{ actor_name: "assay restore" },
	]) {
		expect(linkUserOf({ ...signed, ...others })).toBeUndefined();
	}
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
