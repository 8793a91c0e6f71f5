import { afterAll, beforeAll, expect, test } from "vitest";
import { makeId } from "../../src/id.ts";
import { callByName } from "../support/call-by-name.ts";
import { axe, screenshot, startConsole, type TestConsole } from "./browser.ts";
import { fleetOf } from "./fleet.ts";
import { dayFromNow, openHome } from "./home-page.ts";

let served: TestConsole;
beforeAll(async () => {
	served = await startConsole();
});
afterAll(() => served.close());

/** Makes the person with this e-mail address, who owns the device. */
async function makeOwner(organization: string, email: string, device?: string) {
	const id = makeId(organization, "people");
	await served.database.owner.query(
		`insert into people (organization_id, id, full_name, primary_email_address, kind)
		values ($1, $2, 'Olga', $3, 'EMPLOYEE')`,
		[organization, id, email],
	);
	await served.database.owner.query(
		"update devices set owner_id = $2 where id = $1",
		[device, id],
	);
	return id;
}

test("Mine lists overdue work first, and sums up the checks that have time left", async () => {
	const fleet = fleetOf(served);
	const { page } = await openHome(served, "admin", {
		prepare: async (use, organization, { email }) => {
			const laptop = await fleet.addReporting(organization, "own-laptop", {
				DISK_ENCRYPTION: "FAIL",
				FIREWALL_ENABLED: "FAIL",
				SCREEN_LOCK: "FAIL",
			});
			await use("addTask", {
				name: "Late work",
				deadline: dayFromNow(-2),
				assigned_to_id: await makeOwner(organization, email, laptop.id),
			});
		},
	});
	const mine = page.getByRole("region", { name: "Mine" });
	const sum = mine.getByRole("link", {
		name: "Your devices fail 3 checks within their grace period",
	});
	await sum.waitFor();
	await mine.getByText(/^Fix the first by /).waitFor();
	expect(await mine.getByText("own-laptop").count()).toBe(0);
	const words = await mine.innerText();
	expect(words.indexOf("Late work")).toBeGreaterThan(-1);
	expect(words.indexOf("Late work")).toBeLessThan(words.indexOf("3 checks"));
	await sum.click();
	// Home, which names the laptop several times, has no table.
	await page
		.getByRole("row")
		.getByRole("link", { name: "own-laptop" })
		.waitFor();
});

test("Mine leads a viewer to open tasks that are due later or have no due date", async () => {
	const { page } = await openHome(served, "viewer", {
		prepare: async (_, organization_id, { email }) => {
			const admin = await served.makePerson("admin", organization_id);
			const assigned_to_id = await makeOwner(organization_id, email);
			for (const task of [
				{ name: "Due next month", deadline: dayFromNow(30), assigned_to_id },
				{ name: "Due some day", assigned_to_id },
				{ name: "Done", state: "DONE", assigned_to_id },
				{ name: "Of somebody else" },
			]) {
				await callByName(served.database, admin, "addTask", {
					organization_id,
					...task,
				});
			}
		},
	});
	const mine = page.getByRole("region", { name: "Mine" });
	await mine.getByText("Nothing of yours is overdue").waitFor();
	await axe(page);
	await screenshot(page, "home-later-tasks");
	await mine.getByRole("link", { name: "Your 2 open tasks" }).click();
	// Home, which has no table, also names what changed.
	await expect
		.poll(() => page.locator("tbody .data-table-link").allInnerTexts())
		.toEqual(["Due next month", "Due some day"]);
});

test("Mine names the checks that the reader's own device fails, and leads to them", async () => {
	const fleet = fleetOf(served);
	let id = "";
	const { page } = await openHome(served, "admin", {
		prepare: async (_, organization, { email }) => {
			({ id } = await fleet.addReporting(organization, "own-laptop", {
				FIREWALL_ENABLED: "PASS",
				SCREEN_LOCK: "FAIL",
			}));
			await makeOwner(organization, email, id);
		},
	});
	const mine = page.getByRole("region", { name: "Mine" });
	await mine.getByText("Fails “Screen or idle lock”").waitFor();
	await mine.getByText(/^Fix it by /).waitFor();
	expect(await mine.getByText("Nothing of yours").count()).toBe(0);
	expect(await mine.getByText("Host firewall").count()).toBe(0);
	await axe(page);
	await mine.getByRole("link", { name: "own-laptop" }).click();
	await page.waitForURL(new RegExp(`devices/${id}.*check=SCREEN_LOCK`));
});
