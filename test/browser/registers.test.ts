import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { FieldType } from "../../src/records/field.ts";
import type { AnyRecordKind } from "../../src/records/kind.ts";
import { labelOf } from "../../src/records/labels.ts";
import { recordKinds } from "../../src/registers/all.ts";
import { asset } from "../../src/registers/asset.ts";
import { people } from "../../src/registers/people.ts";
import { vendor } from "../../src/registers/vendor.ts";
import { callByName } from "../support/call-by-name.ts";
import type { TestUser } from "../support/people.ts";
import { samples } from "../support/record-samples.ts";
import { inputOf, makeReferences } from "../support/record-values.ts";
import { axe, startConsole, type TestConsole } from "./browser.ts";
import { fill, type Given, messageBeside } from "./form.ts";

let served: TestConsole;
let admin: TestUser;
beforeAll(async () => {
	served = await startConsole();
	admin = await served.makePerson("admin");
	await add("addVendor", { name: "Example Shop" });
	await add("addPeople", {
		full_name: "Ada Lovelace",
		primary_email_address: "ada@example.com",
		kind: "EMPLOYEE",
	});
});
afterAll(() => served.close());

async function add(name: string, input: object): Promise<void> {
	const organization_id = served.organizationId;
	await callByName(served.database, admin, name, {
		organization_id,
		...input,
	});
}

const at = (path: string) => `/o/${served.organizationId}/r/${path}`;
const open = (person: TestUser, path: string) =>
	served.openPageAs(person, at(path));

interface Register {
	definition: AnyRecordKind;
	/** The fields of the form that the test fills in, with their labels. */
	given: { field: string; label: string; value: Given }[];
	/** The heading of the record's page, which is also the text of its link in the list. */
	title: string;
	/**
	 * A field with a value that the server rejects, and the message beside it. Without a value, the
	 * field stays empty.
	 */
	wrong: { label: string; value?: Given; message: string };
	/** A change of one field, and the text that the record's page shows for it. */
	change: { label: string; value: Given; shown: string };
}

/**
 * The same code makes the forms of all registers from their fields. Together, these registers and
 * the fields of BY_TYPE have fields of every type.
 */
const registers: Register[] = [
	{
		definition: vendor,
		given: [
			{ field: "name", label: "Name", value: { text: "Example Cloud" } },
			{
				field: "description",
				label: "Description",
				value: { text: "Hosts the database\nand its backups" },
			},
			{
				field: "category",
				label: "Category",
				value: { choose: "Engineering" },
			},
			{
				field: "website_url",
				label: "Website",
				value: { text: "https://example.com/" },
			},
			{
				field: "certifications",
				label: "Certifications",
				value: { tag: "ISO 27001" },
			},
			{ field: "countries", label: "Countries", value: { pick: "Germany" } },
			{ field: "owner_id", label: "Owner", value: { pick: "Ada Lovelace" } },
		],
		title: "Example Cloud",
		wrong: {
			label: "Website",
			value: { text: "ftp://example.com" },
			message: "Must be a web address",
		},
		change: {
			label: "Countries",
			value: { pick: "Portugal" },
			shown: "Germany, Portugal",
		},
	},
	{
		definition: people,
		given: [
			{
				field: "full_name",
				label: "Full name",
				value: { text: "Grace Hopper" },
			},
			{ field: "kind", label: "Kind", value: { choose: "Employee" } },
			{
				field: "primary_email_address",
				label: "Primary e-mail address",
				value: { text: "grace@example.com" },
			},
			{
				field: "additional_email_addresses",
				label: "Additional e-mail addresses",
				value: { tag: "hopper@example.com" },
			},
			{
				field: "contract_start_date",
				label: "Contract start date",
				value: { text: "2025-12-01" },
			},
		],
		title: "Grace Hopper",
		wrong: {
			label: "Primary e-mail address",
			value: { text: "grace" },
			message: "Must be an e-mail address such as ada@example.com.",
		},
		change: {
			label: "Contract start date",
			value: { text: "2026-01-31" },
			shown: "31 Jan 2026",
		},
	},
	{
		definition: asset,
		given: [
			{ field: "name", label: "Name", value: { text: "Projector" } },
			{ field: "amount", label: "Amount", value: { text: "3" } },
			{
				field: "asset_type",
				label: "Asset type",
				value: { choose: "Physical" },
			},
			{
				field: "vendor_ids",
				label: "Vendors",
				value: { pick: "Example Shop" },
			},
		],
		title: "Projector",
		wrong: {
			label: "Asset type",
			message: "Choose an asset type.",
		},
		change: { label: "Amount", value: { text: "12" }, shown: "12" },
	},
];

/**
 * Values of types, and how the page of a record shows them. The test fills in the first field of
 * each of these types in all registers, so a register that is the first with a datetime needs no
 * value here. Dates are here so that this always tests something.
 */
const BY_TYPE: { type: FieldType; value: Given; shown: RegExp }[] = [
	{ type: "date", value: { text: "2026-03-09" }, shown: /\b9\sMar\s2026/ },
	{
		type: "datetime",
		value: { text: "2026-03-09T07:05:09" },
		shown: /\b9\sMar\s2026,\s07:05/,
	},
];

/** Returns the fields of a register that a form asks for. */
const givenFields = ({ fields }: AnyRecordKind) =>
	Object.entries(fields)
		.filter(([, { given }]) => given !== "computed")
		.map(([name, { type }]) => ({ name, type }));

const firstByType = BY_TYPE.flatMap((wanted) => {
	const [first] = recordKinds.flatMap((definition) =>
		givenFields(definition)
			.filter(({ type }) => type === wanted.type)
			.map(({ name }) => ({ ...wanted, definition, field: name })),
	);
	return first ?? [];
});

/** Types that another test fills in: those of device checks, in control-checks.test.ts. */
const FILLED_ELSEWHERE = ["check", "checks"];

test("together, the forms in this test have fields of every other type", () => {
	const typesOf = (definition: AnyRecordKind, names: string[]) =>
		names.map((name) => definition.fields[name]?.type);
	const filled = registers.flatMap(({ definition, given }) =>
		typesOf(
			definition,
			given.map(({ field }) => field),
		),
	);
	const byType = firstByType.map(({ type }) => type);
	const all = recordKinds.flatMap(givenFields).map(({ type }) => type);
	expect(
		[...new Set([...filled, ...byType, ...FILLED_ELSEWHERE])].sort(),
	).toEqual([...new Set(all)].sort());
});

describe.each(registers)("$definition.kind", ({
	definition: { kind, noun },
	given,
	title,
	wrong,
	change,
}) => {
	test("a record goes through its life: an error beside its field, adding, listing, changing, reading again and deleting", async () => {
		const page = await open(admin, kind);
		await page
			.getByRole("link", { name: `New ${noun}` })
			.first()
			.click();
		await page
			.getByRole("heading", { name: `New ${noun}`, level: 1 })
			.waitFor();

		const save = page.getByRole("button", { name: `Add the ${noun}` });
		for (const { label, value } of given) {
			if (label !== wrong.label) await fill(page, label, value);
		}
		if (wrong.value) await fill(page, wrong.label, wrong.value);
		await save.click();
		await expect
			.poll(() => messageBeside(page, wrong.label))
			.toContain(wrong.message);
		await axe(page);

		const right = given.find(({ label }) => label === wrong.label);
		await fill(page, wrong.label, right?.value ?? { text: "" });
		await save.click();
		await page.getByRole("heading", { name: title, level: 1 }).waitFor();
		for (const { label, value } of given.slice(1)) {
			await expect.poll(shownAs(page, label)).toContain(wordsOf(value));
		}
		await axe(page);

		expect(
			await page
				.getByRole("heading", { name: title, level: 1 })
				.getAttribute("aria-current"),
		).toBe("page");
		await page
			.getByRole("navigation", { name: "Where you are" })
			.getByRole("link")
			.click();
		await page.getByRole("table").waitFor();
		await axe(page);
		await page.getByRole("link", { name: title, exact: true }).click();

		await page.getByRole("link", { name: "Edit", exact: true }).click();
		await fill(page, change.label, change.value);
		await page.getByRole("button", { name: "Save the changes" }).click();
		await page.getByRole("heading", { name: title, level: 1 }).waitFor();
		const shown = shownAs(page, change.label);
		await expect.poll(shown).toBe(change.shown);
		await page.reload();
		await expect.poll(shown).toBe(change.shown);

		await page.getByRole("button", { name: "Actions" }).click();
		await page.getByRole("menuitem", { name: "Delete …" }).click();
		const dialog = page.getByRole("dialog", { name: `Delete “${title}”?` });
		await dialog.getByRole("button", { name: `Delete the ${noun}` }).click();
		await page.waitForURL((url) => url.pathname === at(kind));
		await expect
			.poll(() => page.getByRole("link", { name: title, exact: true }).count())
			.toBe(0);
	});
});

test.each(
	firstByType,
)("a $type, such as $field of $definition.nouns, is changed in the form and read again", async ({
	definition,
	field,
	value,
	shown,
}) => {
	const { kind, tool, key } = definition;
	const sample = samples.find((known) => known.kind === kind);
	if (!sample) throw new Error(`there is no sample of ${kind}`);
	const call = (name: string, input: object = {}) =>
		callByName(served.database, admin, name, input);
	const organization_id = served.organizationId;
	const references = await makeReferences({ call }, organization_id);
	const input = inputOf(sample, references, "required");
	const added = await call(`add${tool.one}`, { organization_id, ...input });

	const label = labelOf(field);
	const page = await open(admin, `${kind}/${added[key.one].id}`);
	await page.getByRole("link", { name: "Edit", exact: true }).click();
	await fill(page, label, value);
	await page.getByRole("button", { name: "Save the changes" }).click();
	await expect.poll(shownAs(page, label)).toMatch(shown);
	await page.reload();
	await expect.poll(shownAs(page, label)).toMatch(shown);
});

/** Returns the text that a page shows for a value. Dates and addresses are shortened. */
function wordsOf(given: Given): string {
	const [word = ""] = Object.values(given);
	if (word === "2025-12-01") return "1 Dec 2025";
	return word.replace(/^https:\/\/(.*?)\/?$/, "$1");
}

/** Returns a function that reads the value beside a label on the record's page. */
const shownAs = (page: Page, label: string) => () =>
	page
		.locator("dl > div", {
			has: page.locator("dt").getByText(label, { exact: true }),
		})
		.locator("dd")
		.innerText();

test("a relative time goes on while its page stays open", async () => {
	await add("addMeasure", { name: "Encrypt disks", category: "Technology" });
	const page = await open(admin, "measure");
	await page.clock.install();
	await page.reload();
	const row = page.getByRole("row", { name: /Encrypt disks/ });
	await row.getByText(/now|seconds? ago|1 minute ago/).waitFor();
	await page.clock.fastForward("10:00");
	await row.getByText(/1\d minutes ago/).waitFor();
	// The clock would stay with the page.
	await page.context().close();
});
