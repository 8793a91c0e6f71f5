import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Role } from "../../src/principal.ts";
import { callByName } from "../support/call-by-name.ts";
import {
	axe,
	screenshot,
	startConsole,
	type TestConsole,
	visit,
} from "./browser.ts";
import { settled, typeInto } from "./settled.ts";

const MEASURE = "Test of backups, each month";

let served: TestConsole;
beforeAll(async () => {
	served = await startConsole();
	const admin = await served.makePerson("admin");
	const add = (name: string, input: object) =>
		callByName(served.database, admin, name, {
			organization_id: served.organizationId,
			...input,
		});
	const aRisk = {
		category: "Availability",
		treatment: "MITIGATED",
		inherent_likelihood: 3,
		inherent_impact: 5,
	};
	for (const name of [
		"Backups cannot be restored",
		"Backup tape is stolen",
		"Dashboard shows wrong numbers",
	]) {
		await add("addRisk", { ...aRisk, name });
	}
	await add("addMeasure", { name: MEASURE, category: "Operations" });
	await add("addDevice", { name: "backup-server" });
});
afterAll(() => served.close());

async function use(page: Page, operation: string, input: object) {
	const answer = await page.request.post(`/api/console/${operation}`, {
		data: input,
		headers: { origin: served.service.url },
	});
	expect(answer.status(), await answer.text()).toBe(200);
}

async function open(role: Role, path = "/", options = {}) {
	const person = await served.makePerson(role);
	const page = await served.openPageAs(person, path, options);
	await page.getByRole("heading", { level: 1 }).waitFor();
	// The page hears keys when it has loaded.
	await settled(page);
	return page;
}

const field = (page: Page) =>
	page.getByRole("combobox", { name: "Search everything" });

test("Ctrl-K finds a record of any kind and opens it with only the keyboard", async () => {
	const page = await open("viewer");
	await page.keyboard.press("Control+K");
	await typeInto(field(page), "backup");
	for (const kind of ["Risks", "Measures", "Devices"]) {
		await page.getByRole("group", { name: kind }).waitFor();
	}
	await axe(page);
	await screenshot(page, "search-found");
	const wanted = page.getByRole("option", { name: "Backup tape is stolen" });
	for (let presses = 0; presses < 10; presses++) {
		if ((await wanted.getAttribute("aria-selected")) === "true") break;
		await page.keyboard.press("ArrowDown");
	}
	const active = await field(page).getAttribute("aria-activedescendant");
	expect(active).toBe(await wanted.getAttribute("id"));
	await page.keyboard.press("Enter");
	await page.waitForURL("**/r/risk/*");
	await page
		.getByRole("heading", { name: "Backup tape is stolen", level: 1 })
		.waitFor();
	expect(await field(page).count()).toBe(0);
});

test("Enter before the response arrives opens the best match for the typed words", async () => {
	const page = await open("member");
	await page.keyboard.press("Control+K");
	await typeInto(field(page), "backups cannot");
	await page.keyboard.press("Enter");
	await page
		.getByRole("heading", { name: "Backups cannot be restored", level: 1 })
		.waitFor();
});

test("records come before pages that match the typed word only by another name", async () => {
	const page = await open("viewer");
	await page.keyboard.press("Control+K");
	await field(page).fill("dashboard");
	const options = page.getByRole("option");
	// "dashboard" is another name of the page Home.
	await expect
		.poll(() => options.allInnerTexts())
		.toEqual([
			expect.stringMatching(/^Dashboard shows wrong numbers\s+Availability$/),
			"Home",
		]);
	await expect
		.poll(() => options.first().getAttribute("aria-selected"))
		.toBe("true");
});

test("a page is found by the singular and the plural of a word in its name", async () => {
	const page = await open("admin");
	await page.keyboard.press("Control+K");
	for (const word of ["policy", "policies"]) {
		await field(page).fill(word);
		const pages = page.getByRole("group", { name: "Go to" });
		await expect
			.poll(() => pages.getByRole("option").allInnerTexts())
			.toEqual(["Device policy", "Policies of groups"]);
	}
});

test("the last opened records are offered before anything is typed, with their current names", async () => {
	const page = await open("member", `/o/${served.organizationId}/r/measure`);
	await page.getByRole("link", { name: MEASURE }).click();
	await page.getByRole("heading", { name: MEASURE }).waitFor();
	const id = new URL(page.url()).pathname.split("/").at(-1);
	await use(page, "updateMeasure", { id, name: "Restore of backups" });
	await page.goto("/");
	await page.getByRole("button", { name: "Search" }).click();
	await screenshot(page, "search-recent");
	await page
		.getByRole("group", { name: "Recent" })
		.getByRole("option", { name: "Restore of backups" })
		.click();
	await page.waitForURL(`**/r/measure/${id}`);
	await use(page, "updateMeasure", { id, name: MEASURE });
});

test("commands go to pages, add records and change the theme, and a viewer sees none that would be rejected", async () => {
	const page = await open("admin");
	const run = async (words: string, option: string) => {
		// A form that opens takes the focus.
		await settled(page);
		await page.keyboard.press("Control+K");
		await field(page).fill(words);
		await page.getByRole("option", { name: option, exact: true }).waitFor();
		await field(page).press("Enter");
	};
	await run("audit l", "Audit log");
	await page.waitForURL("**/settings/audit-log");
	for (const words of ["group policy", "policies of gr"]) {
		await run(words, "Policies of groups");
		await page.waitForURL("**/settings/device-policy#groups");
		await page.getByRole("heading", { name: "Policies of groups" }).waitFor();
		await visit(page, "/");
		await page.getByRole("heading", { name: "Home" }).waitFor();
	}
	await run("new risk", "New risk");
	await page.waitForURL("**/r/risk/new");
	await run("dark", "Dark theme");
	await expect
		.poll(() =>
			page.evaluate("document.documentElement.dataset.mantineColorScheme"),
		)
		.toBe("dark");

	const viewer = await open("viewer");
	await viewer.keyboard.press("Control+K");
	await viewer.getByRole("option", { name: "Risks" }).waitFor();
	for (const name of ["New risk", "Add device", "Audit log"]) {
		const offered = viewer.getByRole("option", { name, exact: true });
		expect(await offered.count(), name).toBe(0);
	}
	await field(viewer).fill("qwxyz");
	await viewer.getByText("Nothing matches “qwxyz”").waitFor();
	// The audit log exists, so a viewer learns how to get the right to read it.
	const asks = viewer.getByText("To read it too, ask an administrator");
	expect(await asks.count()).toBe(0);
	await field(viewer).fill("audit log");
	await asks.waitFor();
	expect(await viewer.getByText("Nothing matches").count()).toBe(0);
	await field(viewer).press("Escape");
	await expect.poll(() => field(viewer).count()).toBe(0);
});

test("the address of Help without a guide shows the list of guides", async () => {
	const page = await open("viewer");
	for (const path of ["/help", `/o/${served.organizationId}/help`]) {
		await visit(page, path);
		await page.waitForURL("**/help/console");
		const guides = page.getByRole("navigation", { name: "Documents" });
		await guides.getByRole("link", { name: "Glossary" }).waitFor();
	}
});

test("the search offers reports and help pages, also by the words that they explain", async () => {
	const page = await open("viewer");
	await page.keyboard.press("Control+K");
	await field(page).fill("residual");
	for (const name of ["Report: Risk register", "Risk matrix", "Glossary"]) {
		await page.getByRole("option", { name, exact: true }).waitFor();
	}
	await axe(page);
	await screenshot(page, "search-residual");
	const glossary = page.getByRole("option", { name: "Glossary", exact: true });
	await field(page).fill("percentages rounded");
	await expect.poll(() => page.getByRole("option").count()).toBe(1);
	await glossary.click();
	await page.waitForURL("**/help/glossary");
	await page.getByRole("heading", { name: "Words of compliance" }).waitFor();
	await page
		.getByRole("cell", { name: "residual risk", exact: true })
		.waitFor();
	await page.getByText("Assay rounds percentages down").waitFor();
	await axe(page);
	await screenshot(page, "help-glossary");
	// A help page belongs to no organization. The search there offers the other help pages.
	await page.keyboard.press("Control+K");
	await field(page).fill("webhooks");
	await page.getByRole("option", { name: "Webhooks", exact: true }).click();
	await page.waitForURL("**/help/webhooks");
	await visit(page, "/");
	await page.getByRole("heading", { name: "Home" }).waitFor();
	await page.keyboard.press("Control+K");
	await field(page).fill("statement of applicability");
	await page
		.getByRole("option", { name: "Report: Statement of applicability" })
		.waitFor();
	await field(page).press("Enter");
	await page.waitForURL("**/reports/statement-of-applicability");
});

test("`/` moves the focus to the list's search field, and is an ordinary character inside a field", async () => {
	const page = await open("viewer", `/o/${served.organizationId}/r/risk`);
	await page.keyboard.press("/");
	const search = page.getByRole("searchbox", { name: "Search risks" });
	await typeInto(search, "tape/");
	await expect.poll(() => search.inputValue()).toBe("tape/");
	await visit(page, "/");
	await page.getByRole("heading", { name: "Home" }).waitFor();
	await page.keyboard.press("/");
	await field(page).waitFor();
});

test("the dialog fits 375 px, in dark mode", async () => {
	const page = await open("admin", "/", {
		viewport: { width: 375, height: 740 },
		colorScheme: "dark",
	});
	await page.getByRole("button", { name: "Search" }).click();
	await field(page).fill("backup");
	await page.getByRole("group", { name: "Risks" }).waitFor();
	await axe(page);
	await screenshot(page, "search-375-dark");
});

test("a word with a typing mistake offers similar names, and says that nothing matches", async () => {
	const page = await open("member");
	await page.keyboard.press("Control+K");
	// Enter before the response arrives opens no record that only has a similar name.
	await typeInto(field(page), "dashbaord shows");
	await page.keyboard.press("Enter");
	const group = page.getByRole("group", { name: "Did you mean" });
	const wanted = group.getByRole("option", { name: /^Dashboard shows wrong/ });
	await wanted.waitFor();
	await page
		.getByText(
			"Nothing matches “dashbaord shows”. Some names are only similar.",
		)
		.waitFor();
	await axe(page);
	await screenshot(page, "search-similar");
	expect(new URL(page.url()).pathname).not.toContain("/r/risk/");
	await field(page).fill("snapshtos");
	await group
		.getByRole("option", { name: "Snapshots", exact: true })
		.first()
		.waitFor();
	await field(page).fill("dashbaord");
	await page.getByText("Nothing matches “dashbaord”. Some names").waitFor();
	await page.keyboard.press("Enter");
	await page
		.getByRole("heading", { name: "Dashboard shows wrong numbers", level: 1 })
		.waitFor();
});

test("a list in which nothing has the typed words links to similar names", async () => {
	const page = await open(
		"viewer",
		`/o/${served.organizationId}/r/risk?q=bakcup`,
	);
	const similar = page.getByRole("region", { name: "Similar names" });
	await page.getByText("No risks match").waitFor();
	await similar.getByText("Did you mean:").waitFor();
	expect(await similar.getByRole("link").allInnerTexts()).toHaveLength(2);
	await axe(page);
	await similar.getByRole("link", { name: "Backup tape is stolen" }).click();
	await page
		.getByRole("heading", { name: "Backup tape is stolen", level: 1 })
		.waitFor();
});
