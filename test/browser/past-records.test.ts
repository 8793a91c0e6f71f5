import { afterAll, beforeAll, expect, test } from "vitest";
import { ageRecords } from "../support/aged-records.ts";
import { callByName } from "../support/call-by-name.ts";
import type { TestUser } from "../support/people.ts";
import { axe, screenshot, startConsole, type TestConsole } from "./browser.ts";

let served: TestConsole;
let admin: TestUser;
beforeAll(async () => {
	served = await startConsole();
	admin = await served.makePerson("admin");
});
afterAll(() => served.close());

const use = (name: string, input: object) =>
	callByName(served.database, admin, name, input);
const add = (name: string, input: object) =>
	use(name, { organization_id: served.organizationId, ...input });

const NOW = Date.now();
const dayAgo = (days: number) =>
	new Date(NOW - days * 86_400_000).toISOString().slice(0, 10);

/** Moves the records into the past, and the versions of documents with their requests to sign. */
async function age(days: number) {
	const { owner } = served.database;
	await ageRecords(owner, served.organizationId, `${days} days`);
	const by = `- interval '${days} days'`;
	await owner.query(`
		set local session_replication_role = replica;
		update document_versions set created_at = created_at ${by}, updated_at = updated_at ${by},
			published_at = published_at ${by};
		update document_signatures set requested_at = requested_at ${by}
	`);
}

test("the page of a document of a past day shows the text, the requests to sign and the evidence of that day", async () => {
	const { document } = await add("addDocument", {
		title: "Acceptable use",
		document_type: "POLICY",
		classification: "INTERNAL",
	});
	const publish = async (content: string) => {
		const { document_version: draft } = await use(
			"createDraftDocumentVersion",
			{ document_id: document.id, content },
		);
		return use("publishDocumentVersion", { id: draft.id });
	};
	const { document_version: first } = await publish("Lock your screen.");
	const { people: person } = await add("addPeople", {
		full_name: "Ada Byron",
		primary_email_address: "ada@example.com",
		kind: "EMPLOYEE",
	});
	await use("requestDocumentVersionSignature", {
		document_version_id: first.id,
		person_ids: [person.id],
	});
	const { evidence } = await add("addEvidence", {
		name: "Minutes of the approval",
		valid_until: dayAgo(3),
		linked_record_ids: [document.id],
	});
	await age(10);
	await use("unlinkRecords", {
		record_id: document.id,
		linked_record_id: evidence.id,
	});
	await publish("Lock your screen and your door.");

	const path = `/o/${served.organizationId}/r/document/${document.id}`;
	const page = await served.openPageAs(admin, `${path}?as_of=${dayAgo(5)}`);
	const text = page.getByRole("region", { name: "Text", exact: true });
	await text.getByText("Lock your screen.").waitFor();
	const signatures = page.getByRole("region", { name: "Signatures" });
	await signatures.getByText("0 of 1 signed").waitFor();
	await signatures.getByRole("row", { name: /Ada Byron/ }).waitFor();
	expect(await signatures.getByRole("columnheader").allTextContents()).toEqual([
		"Person",
		"Status",
		"Asked",
	]);
	expect(await page.getByText("your door").count()).toBe(0);
	const proof = page.getByRole("region", { name: "Evidence" });
	await proof.getByRole("link", { name: "Minutes of the approval" }).waitFor();
	await proof.getByText(/^Expires/).waitFor();
	for (const name of [
		"Draft a new version",
		"Ask people to sign",
		"Add a link",
	]) {
		expect(await page.getByRole("button", { name }).count()).toBe(0);
	}
	await axe(page);
	await screenshot(page, "past-document");

	await page
		.getByText("This page of a past day leaves out the comments")
		.waitFor();
	await page.getByRole("link", { name: "Show the page of today" }).click();
	await text.getByText("your door").waitFor();
	await proof.getByText("Nothing proves this yet.").waitFor();
	await page.getByRole("heading", { name: "Comments" }).waitFor();
});

test("evidence had expired on a past day if its last day was before it", async () => {
	const { measure } = await add("addMeasure", {
		name: "Restore test",
		category: "Technology",
		state: "IMPLEMENTED",
	});
	await add("addEvidence", {
		name: "Record of the test",
		valid_until: dayAgo(6),
		linked_record_ids: [measure.id],
	});
	await age(10);
	const path = `/o/${served.organizationId}/r/measure/${measure.id}?as_of=`;
	const page = await served.openPageAs(admin, `${path}${dayAgo(6)}`);
	const proof = page.getByRole("region", { name: "Evidence" });
	await proof.getByText(/^Expires/).waitFor();
	await page.goto(`${path}${dayAgo(5)}`);
	await proof.getByText(/^Expired/).waitFor();
});

test("a contract is still running on its last day, and the file of that day has its date", async () => {
	await add("addPeople", {
		full_name: "Amelie Laurent",
		primary_email_address: "amelie@example.com",
		kind: "CONTRACTOR",
		contract_start_date: dayAgo(400),
		contract_end_date: dayAgo(5),
	});
	await age(10);
	const list = `/o/${served.organizationId}/r/people?exclude_contract_ended=true&as_of=`;
	const page = await served.openPageAs(admin, `${list}${dayAgo(5)}`);
	await page.getByRole("link", { name: "Amelie Laurent" }).waitFor();
	const download = page.waitForEvent("download");
	await page.getByRole("button", { name: "Export CSV" }).click();
	expect((await download).suggestedFilename()).toBe(
		`assay-people-${dayAgo(5)}.csv`,
	);
	await page.goto(`${list}${dayAgo(4)}`);
	await page.getByRole("link", { name: "Ada Byron" }).waitFor();
	expect(await page.getByText("Amelie Laurent").count()).toBe(0);
});

test("the history names an owner who was deleted since", async () => {
	const { people: owner } = await add("addPeople", {
		full_name: "Lucía Ferrer",
		primary_email_address: "lucia@example.com",
		kind: "EMPLOYEE",
	});
	const { measure } = await add("addMeasure", {
		name: "Badge at the door",
		category: "Premises",
		state: "IMPLEMENTED",
		owner_id: owner.id,
	});
	await use("updateMeasure", { id: measure.id, owner_id: null });
	await use("deletePeople", { id: owner.id });
	const page = await served.openPageAs(
		admin,
		`/o/${served.organizationId}/r/measure/${measure.id}?tab=history`,
	);
	const history = page.getByRole("tabpanel", { name: "History" });
	await history
		.getByText(/Deleted \(…/)
		.first()
		.waitFor();
});
