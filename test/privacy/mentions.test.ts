import { afterAll, beforeAll, expect, test } from "vitest";
import { texts } from "../../src/privacy/mentions.ts";
import { type Calls, shareCalls } from "../support/calls.ts";
import { privacyCommands } from "./commands.ts";

let calls: Calls;
let organization_id: string;
beforeAll(async () => {
	calls = await shareCalls();
	organization_id = calls.organizationId;
});
afterAll(() => calls.close());

const { run } = privacyCommands(() => calls);

const inDays = (days: number) =>
	new Date(Date.now() + days * 86_400_000).toISOString();

test("an erasure lists versions of documents, notes, reasons, groups, views and the organization that name the person", async () => {
	const name = "Quokka Jones";
	const text = `Ask ${name}`;
	const { people } = await calls.call("addPeople", {
		organization_id,
		full_name: name,
		primary_email_address: "quokka@example.com",
		kind: "EMPLOYEE",
	});
	const { document } = await calls.call("addDocument", {
		organization_id,
		title: "Visitors",
		document_type: "POLICY",
		classification: "INTERNAL",
	});
	const { document_version: first } = await calls.call(
		"createDraftDocumentVersion",
		{ document_id: document.id, content: text },
	);
	await calls.call("publishDocumentVersion", { id: first.id });
	const { document_version: second } = await calls.call(
		"createDraftDocumentVersion",
		{ document_id: document.id, content: "Nobody", changelog: text },
	);
	await calls.database.owner.query(
		`insert into document_approvals (organization_id, id, version_id, person_name, decision, note)
		select organization_id, id, id, 'Bob', 'REJECTED', $2 from document_versions where id = $1`,
		[second.id, text],
	);
	const { vendor } = await calls.call("addVendor", {
		organization_id,
		name: "Cloud",
	});
	const { vendor_review: review } = await calls.call("addVendorReview", {
		vendor_id: vendor.id,
		outcome: "APPROVED",
		note: text,
	});
	const { device_exception: exception } = await calls.call(
		"addDeviceException",
		{
			organization_id,
			check: "FIREWALL_ENABLED",
			reason: text,
			ends_at: inDays(1),
		},
	);
	const { device_group: group } = await calls.call("addDeviceGroup", {
		organization_id,
		name: `Devices of ${name}`,
	});
	const { snapshot } = await calls.call("takeSnapshot", {
		organization_id,
		name: `For ${name}`,
		type: "ALL",
	});
	const { saved_view: view } = await calls.call("saveView", {
		organization_id,
		list: "risk",
		name: "Mine",
		search: { q: name },
		is_shared: true,
	});
	await calls.call("updateOrganization", {
		organization_id,
		description: text,
	});

	const { code, result } = await run(
		...["person", "erase", "--org", organization_id, "--person", people.id],
	);
	expect(code).toBe(0);
	expect(
		result.mentions.map(({ kind, id }: Record<string, string>) => [kind, id]),
	).toEqual(
		[
			["device_exception", exception.id],
			["device_group", group.id],
			["document_version", first.id],
			["document_version", second.id],
			["organization", organization_id],
			["saved_view", view.id],
			["snapshot", snapshot.id],
			["vendor_review", review.id],
		].sort(([a, b], [c, d]) => compare(a, c) || compare(b, d)),
	);
	expect(result.mentions).toContainEqual({
		kind: "document_version",
		id: second.id,
		name: "Visitors, version 2",
	});
});

const compare = (a = "", b = "") => (a < b ? -1 : a > b ? 1 : 0);

/** The usual names of columns with a text that people write. */
const WRITTEN =
	"(^|_)(name|title|text|note|reason|description|content|changelog|comment|label)$";

/** Such columns that an erasure does not search, each because of what it has. */
const OTHERS = {
	"the name of a user, which the erasure of the user replaces":
		/^(?!people\.).*\.(actor|address_set_by|approved_by|author|decided_by|link_copied_by|published_by|requested_by|reviewer|taken_by|uploaded_by|user)_name$/,
	"the name of the person, which the erasure replaces":
		/^document_(approvals|signatures)\.person_name$/,
	"an entry of the audit log or a snapshot, of which the erasure counts what is left":
		/^(audit_entries\.(record|token)_name|snapshot_records\.name)$/,
	"made by the service":
		/^(archive_files\.name|devices\.agent_name|mails\.failure_text)$/,
	"what stays of a deleted organization": /^deleted_organizations\./,
	"what an identity provider says about a user": /^scim_users\./,
};

test("every column with a text that somebody may write is searched for the name of a person who is erased", async () => {
	const { rows } = await calls.database.owner.query<{ name: string }>(
		`select c.relname || '.' || a.attname as name
		from pg_class c
		join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
		where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
			and a.attgenerated = '' and a.atttypid in ('text'::regtype, 'text[]'::regtype)
			and a.attname ~ $1 and a.attname <> 'search_text' and a.attname <> 'end_reason'
			and (c.relname = 'organizations' or exists (
				select from pg_attribute o
				where o.attrelid = c.oid and o.attname = 'organization_id' and o.attnotnull
			))
		order by 1`,
		[WRITTEN],
	);
	const searched = texts.flatMap(({ table, columns }) =>
		columns.map((column) => `${table}.${column}`),
	);
	const others = rows
		.map(({ name }) => name)
		.filter((name) => !searched.includes(name))
		.filter((name) => !Object.values(OTHERS).some((one) => one.test(name)));
	expect(others).toEqual([]);
});
