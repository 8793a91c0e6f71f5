import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeFolder } from "../support/folder.ts";
import { axe, startConsole, type TestConsole, visit } from "./browser.ts";
import { type Fleet, fleetOf } from "./fleet.ts";

const SHA = "ab".repeat(32);
let folder: string;
let served: TestConsole;
let fleet: Fleet;
beforeAll(async () => {
	folder = await makeFolder("assay-packages-");
	const file = "assay-agent_1.4.0_amd64.deb";
	await writeFile(join(folder, file), "the package");
	const listed = {
		file,
		platform: "LINUX",
		architecture: "x64",
		format: "deb",
		bytes: 11,
		sha256: SHA,
	};
	await writeFile(
		join(folder, "packages.json"),
		JSON.stringify({ version: "1.4.0", is_signed: false, packages: [listed] }),
	);
	served = await startConsole({ ASSAY_AGENT_DIR: folder });
	fleet = fleetOf(served);
});
afterAll(async () => {
	await served.close();
	await rm(folder, { recursive: true });
});

test("the page that adds a device offers the packages with their checksums", async () => {
	const { page, at } = await fleet.start("admin", async () => undefined);
	await visit(page, at("/devices/new"));
	await page.getByLabel("Name", { exact: true }).fill("nb-0107");
	await page.getByRole("button", { name: "Add the device" }).click();
	await page.getByRole("tab", { name: "Linux" }).click();
	const table = page.getByRole("table", { name: "Packages of agent 1.4.0" });
	await table.getByRole("cell", { name: SHA }).waitFor();
	const link = table.getByRole("link", { name: /amd64\.deb/ });
	expect(await link.getAttribute("href")).toBe(
		"/agent-packages/assay-agent_1.4.0_amd64.deb",
	);
	await page
		.getByText("sudo apt install ./assay-agent_1.4.0_amd64.deb")
		.waitFor();
	await page
		.getByText(/^npx assay agent install --no-service --server http/)
		.waitFor();
	await axe(page);
	const opened = page.waitForEvent("popup");
	await page.getByRole("link", { name: "guide to the agent" }).click();
	const guide = await opened;
	await guide.getByRole("heading", { level: 1 }).waitFor();
	expect(new URL(guide.url()).pathname).toBe("/help/agent");
	// The page with the token is still there.
	await page.getByLabel("Enrollment token", { exact: true }).waitFor();

	await page.goto(at("/devices/enrollment-keys"));
	await page.getByRole("button", { name: "Make a key" }).click();
	await page.getByLabel("Name").fill("Ansible");
	await page.getByLabel("Most devices").fill("5");
	await page.getByRole("button", { name: "Make the key" }).click();
	const commands = page.getByText("assay-agent install --no-service");
	await commands.waitFor();
	expect(await commands.innerText()).toMatch(
		/^apt install -y \.\/assay-agent_1\.4\.0_amd64\.deb\n.*\n.*--enrollment-token-file/,
	);
});

test("a member finds the devices with an earlier agent, and gives devices an owner, also from CSV", async () => {
	const { page, organization } = await fleet.start("member", async (made) => {
		await fleet.addReporting(made, "nb-1.local", { DISK_ENCRYPTION: "PASS" });
		await fleet.addReporting(made, "nb-2.local", { DISK_ENCRYPTION: "PASS" });
		return undefined;
	});
	const ownersOf = async () => {
		const { rows } = await served.database.owner.query(
			`select d.hostname, p.full_name from devices d
			left join people p on p.organization_id = d.organization_id and p.id = d.owner_id
			where d.organization_id = $1 order by 1`,
			[organization],
		);
		return rows.map(({ hostname, full_name }) => [hostname, full_name]);
	};
	await page.getByRole("button", { name: "More filters" }).click();
	await page.getByRole("button", { name: "Agent before 1.4.0" }).click();
	await page.getByText("Agent before: 1.4.0").waitFor();
	await page.getByRole("link", { name: "nb-2.local" }).waitFor();

	await page.getByLabel("Select all on this page").check();
	await page.getByRole("button", { name: "Set the owner …" }).click();
	const owner = page.getByRole("dialog", { name: "owner of 2 devices" });
	await owner.getByRole("button", { name: "Create a person" }).click();
	const person = page.getByRole("dialog", { name: "Create a person" });
	await person.getByLabel("Full name").fill("Grace Hopper");
	await person.getByLabel("E-mail address").fill("grace@example.com");
	await person.getByRole("button", { name: "Create the person" }).click();
	await person.waitFor({ state: "hidden" });
	await axe(page);
	await owner.getByRole("button", { name: "Set the owner" }).click();
	await page.getByText("Owners set: 2.").waitFor();
	expect(await ownersOf()).toEqual([
		["nb-1.local", "Grace Hopper"],
		["nb-2.local", "Grace Hopper"],
	]);

	const choose = async (text: string) => {
		await page.locator("input[type=file]").setInputFiles({
			name: "owners.csv",
			mimeType: "text/csv",
			buffer: Buffer.from(`device,owner\n${text}`),
		});
	};
	await page.getByRole("button", { name: "More actions" }).click();
	await page.getByRole("menuitem", { name: "Import owners …" }).click();
	const dialog = page.getByRole("dialog", { name: "Import owners of devices" });
	await choose("nb-1.local,\nnb-3.local,grace@example.com\n");
	await dialog.getByText("1 line is wrong").waitFor();
	await dialog.getByText(/^Line 3:/).waitFor();
	const save = dialog.getByRole("button", { name: "Set the owners" });
	expect(await save.isDisabled()).toBe(true);
	await axe(page);
	await choose("nb-1.local,\nnb-2.local,grace@example.com\n");
	await dialog.getByText("1 device changes, 1 stay as they are.").waitFor();
	await save.click();
	await page.getByText("Owners set: 1.").waitFor();
	expect(await ownersOf()).toEqual([
		["nb-1.local", null],
		["nb-2.local", "Grace Hopper"],
	]);
});
