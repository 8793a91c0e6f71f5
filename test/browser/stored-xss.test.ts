import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { z } from "zod";
import type { Field } from "../../src/records/field.ts";
import type { AnyRecordKind } from "../../src/records/kind.ts";
import { recordKinds } from "../../src/registers/all.ts";
import { makeApiToken, type TestUser } from "../support/people.ts";
import { heartbeatBody, postureResult } from "../support/service.ts";
import type { Json } from "../support/tools.ts";
import { startConsole, type TestConsole, visit } from "./browser.ts";

/**
 * The beginning of each hostile text. If a page contains it, the page shows the rest of the text
 * too.
 */
const MARK = "Hostile";
/**
 * A text that breaks out of markup, attributes, scripts, styles and templates. If any part of it
 * runs, it sets the flag `hacked`.
 */
const EVIL = `${MARK} "'><img src=x onerror="window.hacked=1"><svg onload=window.hacked=1></title></textarea></style></script><script>window.hacked=1</script><iframe srcdoc="<script>parent.hacked=1</script>"></iframe><a href="javascript:window.hacked=1">x</a>javascript:window.hacked=1//\${window.hacked=1}{{constructor.constructor('window.hacked=1')()}}`;
const EVIL_URL = `https://example.com/"'><img/src=x/onerror=window.hacked=1>#javascript:window.hacked=1`;
/** A hostile text that passes the validation of e-mail addresses, which rejects worse ones. */
const EVIL_EMAIL = "javascript:window.hacked=1//'onfocus='@example.com?bcc=x";

/**
 * A shorter hostile text, because a hardware id and the key of a check have at most 200 characters.
 */
const EVIL_KEY = `${MARK} "'><img src=x onerror="window.hacked=1"><svg onload=window.hacked=1></script><script>window.hacked=1</script>{{constructor.constructor('window.hacked=1')()}}`;

let served: TestConsole;
let admin: TestUser;
let token: string;
let api: (tool: string, input: object) => Promise<Json>;
/** The ids of the records with hostile text, by their kind. */
const ids = new Map<string, string>();
let deviceId: string;

beforeAll(async () => {
	served = await startConsole();
	admin = await served.makePerson("admin");
	token = (await makeApiToken(served.database, admin, { name: EVIL })).token;
	api = async (tool, input) => {
		const answer = await fetch(`${served.service.url}/api/mcp/tools/${tool}`, {
			method: "POST",
			body: JSON.stringify({
				...(tool.startsWith("add") && {
					organization_id: served.organizationId,
				}),
				...input,
			}),
			headers: { authorization: `Bearer ${token}`, "user-agent": EVIL },
		});
		if (answer.status !== 200) throw new Error(await answer.text());
		return (await answer.json()) as Json;
	};
	await fillRegisters();
	await addDevice();
	await served.database.owner.query("update organizations set name = $1", [
		EVIL,
	]);
	await served.database.owner.query(
		"update users set name = $1 where id = $2",
		[EVIL, admin.id],
	);
});
afterAll(() => served.close());

/**
 * Adds records with hostile text to all registers. People, vendors and frameworks come first,
 * because other records refer to them.
 */
async function fillRegisters() {
	const later = recordKinds.filter(({ fields }) =>
		Object.values(fields).some((field) => needs(field)),
	);
	const kinds = [
		...new Set([...recordKinds].filter((k) => !later.includes(k))),
	];
	for (const kind of [...kinds, ...later]) {
		const { one } = kind.tool;
		const added = await api(`add${one}`, hostileInput(kind));
		const id = String(added[kind.key.one].id);
		ids.set(kind.kind, id);
		// A change and a rejected call are added too, because the history and the audit log show them.
		await api(`update${one}`, { id, ...hostileInput(kind, " again") });
	}
	await api("createDraftDocumentVersion", {
		document_id: ids.get("document"),
		content: `${EVIL}\n\n[x](javascript:window.hacked=1) ![x](x "onerror=window.hacked=1")\n\n${EVIL}`,
	});
	await api("linkRecords", {
		record_id: ids.get("risk"),
		linked_record_id: ids.get("vendor"),
	});
}

const needs = (field: Field) =>
	field.reference !== undefined && field.given === "required";

/**
 * Returns an input with the hostile text in every field that accepts text, and valid values in the
 * other required fields.
 */
function hostileInput(kind: AnyRecordKind, suffix = ""): Json {
	return Object.fromEntries(
		Object.entries(kind.fields)
			.map(([name, field]) => [name, hostileValue(field, suffix)])
			.filter(([, value]) => value !== undefined),
	);
}

function hostileValue(field: Field, suffix: string): unknown {
	if (field.given === "computed") return undefined;
	switch (field.type) {
		case "name":
			// A reference id is too short for the long text.
			return field.input.safeParse(EVIL).success
				? EVIL + suffix
				: `${MARK}"><img src=x onerror=window.hacked=1>${suffix}`;
		case "text":
			return `${EVIL}\n${EVIL}${suffix}`;
		case "url":
			return EVIL_URL;
		case "email":
			return EVIL_EMAIL;
		case "emails":
			return [EVIL_EMAIL];
		case "names":
			return [`${MARK}"><svg onload=window.hacked=1>${suffix}`];
		case "reference":
			return field.reference && ids.get(field.reference);
		case "references": {
			const id = field.reference && ids.get(field.reference);
			return id ? [id] : [];
		}
		case "integer":
			return 3;
		case "choice":
			return field.given === "required"
				? (field.input as z.ZodEnum).options[0]
				: undefined;
		default:
			return undefined;
	}
}

/** Adds a device that sends hostile values, because a device can send whatever it wants. */
async function addDevice() {
	const { device, enrollment_token } = await api("addDevice", {
		name: EVIL,
		owner_id: ids.get("people"),
	});
	deviceId = device.id;
	const answer = await served.post("enroll", { token: enrollment_token });
	const { api_key: key } = (await answer.json()) as { api_key: string };
	const facts = heartbeatBody({
		hostname: EVIL,
		os_version: EVIL,
		agent_version: EVIL,
		serial_number: EVIL,
		hardware_uuid: EVIL_KEY,
	});
	expect((await served.post("heartbeat", facts, { key })).status).toBe(200);
	// A different hardware id is a conflict. The page then shows the values that the hardware sent.
	await served.post(
		"heartbeat",
		{ ...facts, hardware_uuid: `${EVIL_KEY} other` },
		{ key },
	);
	const reported = await served.post(
		"postures",
		{
			results: [
				postureResult({
					status: "FAIL",
					evidence: { [EVIL]: [EVIL, { a: EVIL }] },
				}),
				postureResult({
					check_key: EVIL_KEY,
					status: "FAIL",
					evidence: { EVIL },
				}),
			],
		},
		{ key },
	);
	expect(reported.status).toBe(204);
}

async function open(path = ""): Promise<Page> {
	return served.openPageAs(admin, at(path), { userAgent: EVIL });
}

const at = (path: string) => `/o/${served.organizationId}${path}`;

/** Expects that the hostile text is visible as nothing but text. */
async function staysText(page: Page) {
	await page.getByText(MARK).first().waitFor();
	expect(await page.evaluate(FOUND), `at ${page.url()}`).toEqual([]);
}

/**
 * This code runs in the page. It looks for the flag, for elements that the console never makes, and
 * for links that lead to neither a page nor a mailbox.
 */
const FOUND = `[
	...(window.hacked ? ["a script of the text ran"] : []),
	...[...document.querySelectorAll("[onerror], [onload], [onfocus], [src='x'], [srcdoc], iframe, object, embed, base, body script")]
		.filter((element) => !/^\\/(assets|color-scheme)/.test(new URL(element.src || "http://x/none", location).pathname))
		.map((element) => element.outerHTML.slice(0, 200)),
	...[...document.querySelectorAll("a[href], form[action], area[href]")]
		.map((element) => element.href || element.action)
		.filter((address) => !/^(https?:|mailto:)/.test(address)),
	...[...document.querySelectorAll("a[href^='mailto:']")]
		.map((element) => element.href)
		.filter((address) => address.includes("?")),
]`;

test("hostile text in every field of every register is shown as text in the list, the details, the history and the form", async () => {
	const page = await open("/r/risk");
	for (const { kind } of recordKinds) {
		await visit(page, at(`/r/${kind}`));
		await staysText(page);
		for (const view of ["", "?tab=history", "?edit=true"]) {
			await visit(page, at(`/r/${kind}/${ids.get(kind)}${view}`));
			if (view === "?edit=true") {
				await page.getByRole("button", { name: "Save" }).first().waitFor();
				expect(await page.evaluate(FOUND), page.url()).toEqual([]);
			} else await staysText(page);
		}
	}
});

test("values that a device sends are shown as text in the list, on its page and in the reports", async () => {
	const page = await open("/devices");
	await staysText(page);
	for (const tab of ["checks", "history", "reports", "links", "enrollment"]) {
		await visit(page, at(`/devices/${deviceId}?tab=${tab}`));
		await staysText(page);
	}
	await visit(page, at(`/devices/${deviceId}?check=DISK_ENCRYPTION`));
	await staysText(page);
	await page
		.getByRole("button", { name: /As sent/ })
		.first()
		.click();
	await staysText(page);
});

test("home, settings, audit log, account and search show names of people, tokens and the organization as text", async () => {
	const page = await open();
	await staysText(page);
	for (const path of [
		"/r/risk/matrix",
		"/settings/organization",
		"/settings/members",
		"/settings/api-tokens?of=everybody",
		"/settings/audit-log",
	]) {
		await visit(page, at(path));
		await staysText(page);
	}
	await visit(page, "/account");
	await staysText(page);
	await page.goto(at(""));
	await page.getByRole("heading", { level: 1 }).first().waitFor();
	await page.keyboard.press("Control+K");
	await page
		.getByRole("combobox", { name: "Search everything" })
		.fill("Hostile img");
	await page.getByRole("option").first().waitFor();
	await staysText(page);
});

test("a file with hostile headings and cells is shown as text in the preview, and so are its errors", async () => {
	const page = await open("/r/risk/import");
	await page.getByRole("heading", { level: 1 }).waitFor();
	const cell = `"${EVIL.replaceAll('"', '""')}"`;
	await page.locator("input[type=file]").setInputFiles({
		name: `${MARK}"><img src=x onerror=window.hacked=1>.csv`,
		mimeType: "text/csv",
		buffer: Buffer.from(
			`name,category,treatment,inherent_likelihood,inherent_impact,owner_id\r\n${cell},${cell},${cell},1,1,${cell}\r\n${cell},${cell},MITIGATED,1,1,\r\n`,
		),
	});
	await page.getByRole("region", { name: "Preview" }).waitFor();
	await staysText(page);
});

test("signing in opens a page of this service, whatever the link contains", async () => {
	for (const to of [
		"/\\example.com",
		"javascript:window.hacked=1",
		"data:text/html,<script>window.hacked=1</script>",
	]) {
		const page = await served.openPage();
		await page.goto(`/sign-in?to=${encodeURIComponent(to)}`);
		await page.getByLabel("E-mail address").fill(admin.email);
		await page
			.getByLabel("Password", { exact: true })
			.fill("correct horse battery");
		await page.getByRole("button", { name: "Sign in", exact: true }).click();
		await page.waitForURL((url) => !url.pathname.startsWith("/sign-in"));
		expect(new URL(page.url()).origin, to).toBe(served.service.url);
		expect(await page.evaluate("window.hacked"), to).toBeUndefined();
		await page.context().close();
	}
});

test("an address that is not a web address is rejected, however it is written", async () => {
	for (const url of [
		"javascript:window.hacked=1",
		"JaVaScRiPt:window.hacked=1",
		" javascript:window.hacked=1",
		"java\nscript:window.hacked=1",
		"data:text/html,<script>window.hacked=1</script>",
		"vbscript:x",
		"file:///etc/passwd",
		"//example.com",
	]) {
		await expect(
			api("addVendor", { name: "Vendor", website_url: url }),
			url,
		).rejects.toThrow(/website_url/);
	}
});
