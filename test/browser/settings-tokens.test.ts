import {
	Client,
	StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeApiToken } from "../support/people.ts";
import {
	axe,
	row,
	screenshot,
	startConsole,
	type TestConsole,
} from "./browser.ts";
import { pressEscape } from "./settled.ts";

let served: TestConsole;
beforeAll(async () => {
	served = await startConsole();
});
afterAll(() => served.close());

const path = (query = "") =>
	`/o/${served.organizationId}/settings/api-tokens${query}`;
const dialog = (page: Page, name: string | RegExp) =>
	page.getByRole("dialog", { name, exact: true });

/** Creates a token on the page. Returns the secret that the page shows. */
async function createToken(page: Page, name: string): Promise<string> {
	await page.getByRole("button", { name: "Create token" }).first().click();
	await page.getByLabel("Name").fill(name);
	await page.getByRole("button", { name: "Create the token" }).click();
	return page.getByLabel("API token", { exact: true }).innerText();
}

/** Lists the organizations over MCP, as an AI client does. */
async function listOverMcp(token: string, clientName: string) {
	const client = new Client(
		{ name: clientName, version: "1.0.0" },
		{ versionNegotiation: { mode: { pin: "2026-07-28" } } },
	);
	await client.connect(
		new StreamableHTTPClientTransport(
			new URL(`${served.service.url}/api/mcp/v1`),
			{ requestInit: { headers: { authorization: `Bearer ${token}` } } },
		),
	);
	const answer = await client.callTool({
		name: "listOrganizations",
		arguments: {},
	});
	await client.close();
	return answer;
}

async function statusOf(token: string): Promise<number> {
	const answer = await fetch(
		`${served.service.url}/api/mcp/tools/listOrganizations`,
		{ headers: { authorization: `Bearer ${token}` } },
	);
	return answer.status;
}

test("a token is created and copied, used over MCP, shown as used, rotated, revoked and then rejected", async () => {
	const page = await served.openPageAs(
		await served.makePerson("member"),
		path(),
	);
	await page.getByRole("heading", { name: "No API tokens yet" }).waitFor();
	await screenshot(page, "tokens-empty");
	await axe(page);

	await page.getByRole("button", { name: "Create token" }).first().click();
	await page.getByLabel("Name").waitFor();
	await screenshot(page, "tokens-create");
	await axe(page);
	await page.getByRole("button", { name: "Create the token" }).click();
	await page.getByText("Enter a name.").first().waitFor();
	await page.getByLabel("Name").fill("Claude Code on my laptop");
	await page.getByLabel("Description").fill("Keeps the risk register");
	await page.getByRole("button", { name: "Create the token" }).click();

	await page.getByLabel("API token", { exact: true }).waitFor();
	await pressEscape(page.getByRole("dialog"));
	const lost = page.getByText("The token is lost when you close");
	await lost.waitFor();
	await page.getByRole("button", { name: "Copy API token" }).click();
	await lost.waitFor({ state: "detached" });
	const token = String(await page.evaluate("navigator.clipboard.readText()"));
	expect(token).toMatch(/^asy_pat_/);
	for (const label of ["Claude Code", "mcpServers", "Python", "curl"]) {
		expect(await page.getByLabel(label).last().innerText()).toContain(token);
	}
	expect(await page.getByLabel("Python").last().innerText()).toContain(
		"/api/mcp/v1?errors=result",
	);
	await screenshot(page, "tokens-shown-once");
	await axe(page);
	await page.getByLabel(/Store the token in the variable/).check();
	expect(
		await page.getByLabel("Claude Code", { exact: true }).innerText(),
	).toContain("$ASSAY_TOKEN");
	expect(await page.getByLabel("Python").last().innerText()).toContain(
		"os.environ['ASSAY_TOKEN']",
	);
	await page.getByRole("button", { name: "I have copied it" }).click();
	await expect.poll(() => page.content()).not.toContain(token);

	const mine = row(page, "Claude Code on my laptop");
	await mine.getByText("Never", { exact: true }).waitFor();
	const answer = await listOverMcp(token, "browser-test");
	expect(JSON.stringify(answer.structuredContent)).toContain("Acme");
	// The page loads the list again without a reload.
	await mine.getByText(/browser-test/).waitFor();
	await mine.getByText("1", { exact: true }).waitFor();
	await screenshot(page, "tokens-used");

	await mine.getByRole("link").click();
	const details = dialog(page, "Claude Code on my laptop");
	await details.getByText(/1 call on 1 of the last 30 days/).waitFor();
	await details.getByText(/by browser-test.* from 127.0.0.1/).waitFor();
	await details.getByRole("cell", { name: "listOrganizations" }).waitFor();
	await details.getByRole("slider", { name: "Day in the chart" }).waitFor();
	await screenshot(page, "tokens-details");
	await axe(page);
	await details.getByRole("button", { name: "Show as a table" }).click();
	await details.getByRole("columnheader", { name: "Day (UTC)" }).waitFor();
	await page.reload();
	await details.getByRole("button", { name: "Rotate" }).click();
	await dialog(page, /^Rotate/).waitFor();
	await screenshot(page, "tokens-rotate");
	await page.getByRole("button", { name: "Make the second token" }).click();
	const second = await page
		.getByLabel("API token", { exact: true })
		.innerText();
	expect(second).not.toBe(token);
	expect([await statusOf(token), await statusOf(second)]).toEqual([200, 200]);
	await page.getByRole("button", { name: "I have copied it" }).click();

	await details.getByRole("button", { name: "Revoke" }).click();
	const question = dialog(page, /^Revoke/);
	await question.getByText("cannot be undone").waitFor();
	await screenshot(page, "tokens-revoke");
	await axe(page);
	await question.getByRole("button", { name: "Cancel" }).click();
	expect(await statusOf(token)).toBe(200);
	await details.getByRole("button", { name: "Revoke" }).click();
	await question.getByRole("button", { name: "Revoke the token" }).click();
	await details.getByText("Revoked", { exact: true }).first().waitFor();
	expect([await statusOf(token), await statusOf(second)]).toEqual([401, 200]);
	await expect(listOverMcp(token, "browser-test")).rejects.toThrow(
		/401|nvalid/,
	);
	await details.getByRole("button", { name: "Close" }).click();
	await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
	await expect
		.poll(() => row(page, "Claude Code on my laptop").count())
		.toBe(2);
});

test("a token can expire at the end of a day, or never", async () => {
	const page = await served.openPageAs(
		await served.makePerson("viewer"),
		path("?token=new"),
	);
	await page.getByLabel("Name").fill("Nightly export");
	await page.getByRole("combobox", { name: "Expires" }).click();
	await page.getByRole("option", { name: "On a chosen day …" }).click();
	await page.getByRole("button", { name: "Create the token" }).click();
	await page.getByText("Choose a day.").waitFor();
	await page.getByLabel("Day").fill("2019-01-01");
	await page.getByRole("button", { name: "Create the token" }).click();
	await page.getByText("Must be in the future").waitFor();
	const year = new Date().getFullYear() + 1;
	await page.getByLabel("Day").fill(`${year}-06-30`);
	await page.getByRole("button", { name: "Create the token" }).click();
	await page.getByRole("button", { name: "I have copied it" }).click();
	// The time is the end of the day in the organization's time zone, shown in the reader's.
	await row(page, "Nightly export").getByText(`1 Jul ${year}, 02:00`).waitFor();
	await page.getByRole("button", { name: "Create token" }).click();
	await page.getByLabel("Name").fill("For good");
	await page.getByRole("combobox", { name: "Expires" }).click();
	await page.getByRole("option", { name: "Never" }).click();
	await page.getByRole("button", { name: "Create the token" }).click();
	await page.getByRole("button", { name: "I have copied it" }).click();
	await row(page, "For good").getByText("Never").first().waitFor();
	expect(await page.getByRole("tab").count()).toBe(0);
});

test("an administrator sees and revokes every token that reaches the organization", async () => {
	const member = await served.makePerson("member");
	const { token } = await makeApiToken(served.database, member, {
		name: "Member's script",
	});
	const page = await served.openPageAs(
		await served.makePerson("admin"),
		path(),
	);
	await page
		.getByRole("tab", { name: "All tokens in this organization" })
		.click();
	const found = row(page, "Member's script");
	await found.getByText(member.email).waitFor();
	await screenshot(page, "tokens-organization");
	await axe(page);
	await page.reload();
	await found.getByRole("link").click();
	const details = dialog(page, "Member's script");
	await details.getByRole("button", { name: "Revoke" }).waitFor();
	expect(await details.getByRole("button", { name: "Rotate" }).count()).toBe(0);
	await details.getByRole("button", { name: "Revoke" }).click();
	await page.getByRole("button", { name: "Revoke the token" }).click();
	await details.getByText("Revoked", { exact: true }).first().waitFor();
	expect(await statusOf(token)).toBe(401);
	await details.getByRole("link", { name: /in the audit log/ }).click();
	await page.getByRole("heading", { name: "Audit log" }).waitFor();
});

test("a user who is not an administrator sees only their own tokens, whatever is in the address", async () => {
	const other = await served.makePerson("member");
	await makeApiToken(served.database, other, { name: "Somebody else's" });
	const page = await served.openPageAs(
		await served.makePerson("viewer"),
		path("?of=organization"),
	);
	await page.getByRole("heading", { name: "No API tokens yet" }).waitFor();
	expect(await page.getByText("Somebody else's").count()).toBe(0);
});

test("a secret is not shown again after a reload", async () => {
	const page = await served.openPageAs(
		await served.makePerson("member"),
		path(),
	);
	const token = await createToken(page, "Once");
	await page.reload();
	await row(page, "Once").waitFor();
	expect(await page.content()).not.toContain(token);
});

test("a read-only token of one toolset is created on the page, says so, and may not write", async () => {
	const page = await served.openPageAs(
		await served.makePerson("member"),
		path(),
	);
	await page.getByRole("button", { name: "Create token" }).first().click();
	await page.getByLabel("Name").fill("Reads risks");
	await page.getByLabel("Read only").check();
	await page.getByLabel("Tools").first().click();
	const starters = page.getByRole("option", { name: /^Starters/ });
	await starters.getByText("Read the suggested risks, measures").waitFor();
	const bulk = page.getByRole("option", { name: /^Bulk/ });
	await bulk.getByText("Nothing: none of these tools only reads.").waitFor();
	const risks = page.getByRole("option", { name: /^Risks/ });
	await risks.getByText("Read risks.").waitFor();
	await axe(page);
	await screenshot(page, "settings/token-toolsets");
	await risks.click();
	await page.keyboard.press("Escape");
	await axe(page);
	await page.getByRole("button", { name: "Create the token" }).click();
	const token = await page.getByLabel("API token", { exact: true }).innerText();
	const statusOfCall = async (tool: string) => {
		const answer = await fetch(`${served.service.url}/api/mcp/tools/${tool}`, {
			method: "POST",
			headers: { authorization: `Bearer ${token}` },
			body: JSON.stringify({ organization_id: served.organizationId }),
		});
		return answer.status;
	};
	expect(await statusOfCall("listRisks")).toBe(200);
	expect(await statusOfCall("addRisk")).toBe(403);
	expect(await statusOfCall("listVendors")).toBe(403);

	await page.getByRole("button", { name: "I have copied it" }).click();
	const listed = row(page, "Reads risks");
	await listed.getByText("Read only; only Risks", { exact: true }).waitFor();
	await listed.getByText("Reads risks").click();
	await page.getByText("Read only; only Risks; in every").waitFor();
});

test("a dialog that waits for its token closes neither by Escape, a click outside nor Cancel", async () => {
	const page = await served.openPageAs(
		await served.makePerson("member"),
		path(),
	);
	const { promise: isAllowed, resolve: allow } = Promise.withResolvers<void>();
	await page.route("**/api/console/createApiToken", async (route) => {
		await isAllowed;
		await route.continue();
	});
	await page.getByRole("button", { name: "Create token" }).first().click();
	await page.getByLabel("Name").fill("Slow");
	const asked = page.waitForRequest("**/api/console/createApiToken");
	await page.getByRole("button", { name: "Create the token" }).click();
	await asked;
	await page.keyboard.press("Escape");
	await page.mouse.click(5, 5);
	await page.getByRole("button", { name: "Close" }).click();
	const cancel = page.getByRole("button", { name: "Cancel" });
	expect(await cancel.isDisabled()).toBe(true);
	allow();
	await page.getByLabel("API token", { exact: true }).waitFor();
	await page.getByRole("button", { name: "I have copied it" }).click();
	await row(page, "Slow").waitFor();
});
