import { afterAll, beforeAll, expect, test } from "vitest";
import { setMaintenance } from "../../src/load/maintenance.ts";
import { until } from "../support/until.ts";
import {
	axe,
	screenshot,
	startConsole,
	type TestConsole,
	visit,
} from "./browser.ts";
import { pressEscape, settled } from "./settled.ts";

let served: TestConsole;
beforeAll(async () => {
	served = await startConsole();
});
afterAll(() => served.close());

test("`/` opens the organization, and the frame shows its name and pages", async () => {
	const page = await served.openPageAs(await served.makePerson("admin"));
	await page.waitForURL(`**/o/${served.organizationId}`);
	await page.getByRole("button", { name: "Organization: Acme" }).waitFor();
	const main = page.getByRole("navigation", { name: "Main" });
	for (const name of ["Home", "Devices", "Risks", "Data types"]) {
		await main.getByRole("link", { name, exact: true }).waitFor();
	}
	await axe(page);
	await screenshot(page, "shell");
});

test("on a low screen all groups are in sight, and the keyboard opens and folds one for good", async () => {
	const page = await served.openPageAs(await served.makePerson("admin"), "/", {
		viewport: { width: 1440, height: 800 },
	});
	const main = page.getByRole("navigation", { name: "Main" });
	const settings = main.getByRole("button", { name: "Settings" });
	await settings.waitFor();
	await expect
		.poll(async () => {
			const box = await settings.boundingBox();
			return box && box.y + box.height;
		})
		.toBeLessThanOrEqual(800);
	const log = main.getByRole("link", { name: "Audit log" });
	expect(await log.count()).toBe(0);
	await screenshot(page, "shell-low");
	await settings.press("Enter");
	await log.waitFor();
	await main.getByRole("button", { name: "Work" }).press("Space");
	const tasks = main.getByRole("link", { name: "Tasks" });
	await tasks.waitFor({ state: "hidden" });
	await page.reload();
	await log.waitFor();
	expect(await tasks.count()).toBe(0);
	await axe(page);
	await main.getByRole("button", { name: "Settings" }).click();
	await log.waitFor({ state: "hidden" });
	// The group of the page that is shown is open unless the reader has folded it.
	await page.evaluate("localStorage.removeItem('assay-folded-groups')");
	await page.goto(`/o/${served.organizationId}/settings/audit-log`);
	await log.waitFor();
});

test("during maintenance the pages show the operator's message, and go on by themselves afterwards", async () => {
	const page = await served.openPageAs(await served.makePerson("member"));
	await page.getByRole("heading", { name: "Home" }).waitFor();
	const { pool } = served.database;
	await setMaintenance(pool, "We move to a new server until 14:00 UTC.");
	await until("the service notices", async () => {
		served.service.wake();
		const answer = await fetch(`${served.service.url}/api/auth/get-session`);
		return answer.status === 403;
	});
	try {
		await page.getByRole("link", { name: "Risks", exact: true }).click();
		const alert = page.getByRole("alert");
		await alert
			.getByText(/Assay is in maintenance/)
			.first()
			.waitFor();
		await page.reload();
		await alert
			.getByText(/We move to a new server until 14:00 UTC/)
			.first()
			.waitFor();
		await axe(page);
		await screenshot(page, "maintenance");
	} finally {
		await setMaintenance(pool, null);
		served.service.wake();
	}
	await page.getByRole("heading", { name: "Risks", level: 1 }).waitFor();
});

test("the key ? opens the help with keys and words", async () => {
	const page = await served.openPageAs(await served.makePerson("viewer"));
	await page.getByRole("heading", { name: "Home" }).waitFor();
	await page.keyboard.press("?");
	const help = page.getByRole("dialog", { name: "Help" });
	await help.getByRole("rowheader", { name: "Silence" }).waitFor();
	await axe(page);
	await screenshot(page, "help");
	await pressEscape(help);
	await help.waitFor({ state: "hidden" });

	await page.keyboard.press("?");
	await help.getByRole("link", { name: "Devices and checks" }).click();
	await page.getByRole("heading", { name: "Devices", level: 1 }).waitFor();
	await help.waitFor({ state: "hidden" });
	const text = page.getByRole("article");
	await text.getByRole("columnheader", { name: "tool" }).first().waitFor();
	await text
		.getByRole("link", { name: "The Device Agent API" })
		.first()
		.click();
	await page
		.getByRole("heading", { name: "The Device Agent API", level: 1 })
		.waitFor();
	await axe(page);
	await screenshot(page, "help-page");

	const search = page.getByRole("searchbox", {
		name: "Search the documentation",
	});
	await search.fill("residual risk");
	await page.getByText(/sections contain these words/).waitFor();
	await axe(page);
	await screenshot(page, "help-search");
	await text
		.getByRole("link", { name: "Glossary: Words of compliance" })
		.click();
	await page.getByRole("heading", { name: "Glossary", level: 1 }).waitFor();
	await text.getByRole("heading", { name: "Words of compliance" }).waitFor();
	expect(new URL(page.url()).hash).toBe("#words-of-compliance");
	await search.fill("zzz");
	await page.getByText(/No section contains these words/).waitFor();
});

test("after a navigation the heading has the focus and names the document", async () => {
	const page = await served.openPageAs(await served.makePerson("member"));
	await page.getByRole("heading", { name: "Home" }).waitFor();
	await page.getByRole("link", { name: "Devices", exact: true }).click();
	const heading = page.getByRole("heading", { name: "Devices", level: 1 });
	await heading.waitFor();
	await page.locator("h1:focus").waitFor();
	await expect.poll(() => page.title()).toBe("Devices · Assay");
});

test("the first Tab offers to skip the navigation", async () => {
	const page = await served.openPageAs(await served.makePerson("member"));
	await page.getByRole("heading", { level: 1 }).waitFor();
	await page.keyboard.press("Tab");
	await page.locator(":focus", { hasText: "Skip to the content" }).waitFor();
});

test("at 375 px the navigation is behind a button, and nothing is wider than the screen", async () => {
	const page = await served.openPageAs(await served.makePerson("admin"), "/", {
		viewport: { width: 375, height: 740 },
	});
	await page.getByRole("heading", { name: "Home" }).waitFor();
	const risks = page.getByRole("link", { name: "Risks", exact: true });
	expect(await risks.isVisible()).toBe(false);
	await screenshot(page, "shell-375");
	await page.getByRole("button", { name: "Open the navigation" }).click();
	await risks.waitFor();
	await axe(page);
	await screenshot(page, "shell-375-open");
	await page.getByRole("link", { name: "Home", exact: true }).focus();
	await page.keyboard.press("Escape");
	await expect.poll(() => risks.isVisible()).toBe(false);
	await page.locator(":focus[aria-label='Open the navigation']").waitFor();
	await page.keyboard.press("Enter");
	await risks.click();
	await page.waitForURL("**/r/risk");
	await expect.poll(() => risks.isVisible()).toBe(false);
	const width = await page.evaluate("document.documentElement.scrollWidth");
	expect(width).toBeLessThanOrEqual(375);
});

test("the reader's choice of light or dark is kept", async () => {
	const page = await served.openPageAs(await served.makePerson("viewer"), "/", {
		colorScheme: "light",
	});
	const scheme = () =>
		page.evaluate("document.documentElement.dataset.mantineColorScheme");
	expect(await scheme()).toBe("light");
	await page.getByRole("button", { name: "Light or dark" }).click();
	await page.getByRole("menuitem", { name: "Dark" }).click();
	await expect.poll(scheme).toBe("dark");
	await page.reload();
	await page.getByRole("heading", { name: "Home" }).waitFor();
	expect(await scheme()).toBe("dark");
	await axe(page);
	await screenshot(page, "shell-dark");
});

test("a viewer sees no audit log, and somebody else's organization is not found", async () => {
	const page = await served.openPageAs(await served.makePerson("viewer"));
	await page.getByRole("button", { name: "Settings" }).click();
	await page.getByRole("link", { name: "Members" }).waitFor();
	expect(await page.getByRole("link", { name: "Audit log" }).count()).toBe(0);
	await page.goto(`/o/${"A".repeat(32)}/devices`);
	await page.getByRole("heading", { name: "Not found" }).waitFor();
	await axe(page);
});

test("a user who is removed while a page is open is told so and gets a link to continue, also after a reload", async () => {
	const person = await served.makePerson("member");
	const page = await served.openPageAs(person, "/");
	await page.getByRole("heading", { name: "Home" }).waitFor();
	// Otherwise a request that is still running could report the removal before this.
	await settled(page);
	const { owner } = served.database;
	await owner.query("delete from memberships where user_id = $1", [person.id]);
	await visit(page, `/o/${served.organizationId}/r/risk`);
	const told = page.getByRole("heading", {
		name: "You no longer belong to Acme",
	});
	await told.waitFor();
	await axe(page);
	await screenshot(page, "no-longer-belongs");
	await page.reload();
	await told.waitFor();
	await page.getByRole("link", { name: "Go to your account" }).click();
	await page.waitForURL("**/account");
});

test("text typed while the search first opens is not lost, and closing returns the focus", async () => {
	const person = await served.makePerson("admin");
	const page = await served.openPageAs(
		person,
		`/o/${served.organizationId}/settings/members`,
	);
	const invite = page.getByRole("button", { name: "Invite a member" });
	await invite.focus();
	await page.keyboard.press("Control+k");
	await page.keyboard.type("audit log");
	const field = page.getByRole("combobox", { name: "Search everything" });
	await expect.poll(() => field.inputValue()).toBe("audit log");
	await field.press("Escape");
	const focused = page.locator(":focus");
	await expect.poll(() => focused.textContent()).toBe("Invite a member");
	await page.keyboard.press("Enter");
	await pressEscape(page.getByRole("dialog", { name: "Invite a member" }));
	await expect.poll(() => focused.textContent()).toBe("Invite a member");
	// After a menu closes, the focus returns to the button that opened the menu.
	await page
		.getByRole("button", { name: /^Actions for/ })
		.first()
		.focus();
	await page.keyboard.press("Enter");
	await page.getByRole("menuitem", { name: "Change role" }).press("Enter");
	await pressEscape(page.getByRole("dialog", { name: /^Role of/ }));
	await expect
		.poll(() => focused.getAttribute("aria-label"))
		.toMatch(/^Actions for/);
});

test("without a network a list says that it could not be loaded, and recovers when the network is back", async () => {
	const page = await served.openPageAs(
		await served.makePerson("member"),
		`/o/${served.organizationId}/r/vendor?q=something`,
	);
	await page.getByRole("heading", { name: "No vendors match" }).waitFor();
	await page.context().setOffline(true);
	await page.getByRole("searchbox").fill("anything");
	const trouble = page.getByRole("alert");
	await trouble.getByText("This could not be loaded").waitFor();
	await trouble.getByRole("button", { name: "Try again" }).waitFor();
	await page.context().setOffline(false);
	await page.getByRole("heading", { name: /^No vendors match/ }).waitFor();
	await expect.poll(() => trouble.isVisible()).toBe(false);
});

test("nothing moves for a reader who asks for less motion", async () => {
	const page = await served.openPage();
	// Without answers, the page shows placeholders, which Mantine animates.
	await page.route("**/api/**", () => {});
	await page.goto("/");
	await page.getByRole("status", { name: "Loading" }).waitFor();
	const moving = () => page.evaluate("document.getAnimations().length");
	expect(await moving()).toBe(0);
	await page.emulateMedia({ reducedMotion: "no-preference" });
	await expect.poll(moving).toBeGreaterThan(0);
});
