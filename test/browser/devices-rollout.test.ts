import { createHash } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { recordOperations } from "../../src/records/operations.ts";
import { people } from "../../src/registers/people.ts";
import { makeFolder } from "../support/folder.ts";
import { callAs } from "../support/people.ts";
import {
	axe,
	screenshot,
	startConsole,
	type TestConsole,
	visit,
} from "./browser.ts";
import { type Fleet, fleetOf } from "./fleet.ts";

const SHA = createHash("sha256").update("the package").digest("hex");
/** A package with another checksum than the list names. */
const CHANGED = "assay-agent_1.4.0_arm64.deb";
let folder: string;
let served: TestConsole;
let fleet: Fleet;
beforeAll(async () => {
	folder = await makeFolder("assay-packages-");
	const file = "assay-agent_1.4.0_amd64.deb";
	await writeFile(join(folder, file), "the package");
	await writeFile(join(folder, CHANGED), "the package");
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
		JSON.stringify({
			version: "1.4.0",
			is_signed: false,
			packages: [
				listed,
				{
					...listed,
					file: CHANGED,
					architecture: "arm64",
					sha256: "0".repeat(64),
				},
			],
		}),
	);
	served = await startConsole({ ASSAY_AGENT_DIR: folder });
	fleet = fleetOf(served);
});
afterAll(async () => {
	await served.close();
	await rm(folder, { recursive: true });
});

test("the page that adds a device offers the packages with their checksums, and a key warns before it runs out", async () => {
	const { page, at, organization } = await fleet.start(
		"admin",
		async () => undefined,
	);
	await visit(page, at("/devices/new"));
	await page.getByLabel("Name", { exact: true }).fill("nb-0107");
	await page.getByRole("button", { name: "Add the device" }).click();
	await page.getByRole("tab", { name: "Linux" }).click();
	const table = page.getByRole("region", { name: "Packages of agent 1.4.0" });
	await table.getByRole("cell", { name: SHA }).waitFor();
	const withheld = page.getByRole("alert").filter({ hasText: CHANGED });
	await withheld
		.getByText("does not have the SHA-256 that packages.json names")
		.waitFor();
	expect(await table.getByText(CHANGED).count()).toBe(0);
	const link = table.getByRole("link", { name: /amd64\.deb/ });
	expect(await link.getAttribute("href")).toBe(
		"/agent-packages/assay-agent_1.4.0_amd64.deb",
	);
	await page
		.getByText("sudo apt install ./assay-agent_1.4.0_amd64.deb")
		.waitFor();
	await page
		.getByText(/npx assay agent install --no-service --server http/)
		.waitFor();
	await axe(page);
	// On a phone each package is a card, with the whole checksum in view.
	await page.setViewportSize({ width: 390, height: 844 });
	await table.scrollIntoViewIfNeeded();
	await screenshot(page, "devices/packages-phone");
	await expect
		.poll(() =>
			table.evaluate(
				({ scrollWidth, clientWidth }) => scrollWidth - clientWidth,
			),
		)
		.toBe(0);
	await axe(page);
	await page.setViewportSize({ width: 1280, height: 800 });
	// There is no package for macOS, so the page offers the agent as one file for Node.
	await page.getByRole("tab", { name: "macOS" }).click();
	await page.getByRole("link", { name: "assay-agent.cjs" }).waitFor();
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
	await page.getByLabel("Maximum number of devices").fill("5");
	await page.getByRole("button", { name: "Make the key" }).click();
	const commands = page.getByText("assay-agent install --no-service");
	await commands.waitFor();
	expect(await commands.innerText()).toMatch(
		/^curl .*\/agent-packages\/assay-agent_1\.4\.0_amd64\.deb &&\necho ".*sha256sum -c &&\napt install -y \.\/assay-agent_1\.4\.0_amd64\.deb &&\n.*\n.*--enrollment-token-file .* &&\nrm /,
	);
	await page.getByRole("tab", { name: "Windows" }).click();
	// Every user may create files in C:\ProgramData, so the key does not go there.
	await page
		.getByText(
			'--enrollment-token-file "C:\\Program Files\\Assay Key\\key.txt"',
		)
		.waitFor();
	const lost = page.getByText("The key is lost when you close");
	const made = page.getByRole("dialog", { name: "Your key “Ansible”" });
	await made.getByRole("button", { name: "Close", exact: true }).click();
	await lost.waitFor();
	await axe(page);
	await made.getByRole("button", { name: "Copy Enrollment key" }).click();
	await lost.waitFor({ state: "hidden" });
	await made.getByRole("button", { name: "I have copied it" }).click();
	await made.waitFor({ state: "hidden" });
	const key = page.getByRole("row", { name: /Ansible/ });
	await key.getByText("Open").waitFor();
	await served.database.owner.query(
		"update enrollment_keys set created_at = now() - interval '28 days', expires_at = now() + interval '2 days' where organization_id = $1",
		[organization],
	);
	await page.reload();
	await key.getByText("Runs out soon").waitFor();
	await key.getByRole("cell", { name: "None" }).waitFor();
	await axe(page);
	await screenshot(page, "devices/enrollment-keys");
	await visit(page, at(""));
	await axe(page);
	await page
		.getByRole("link", { name: "1 enrollment key runs out soon" })
		.click();
	await key.getByText("Runs out soon").waitFor();
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
	await page.getByRole("button", { name: "Agent outdated (2)" }).waitFor();
	await page.getByRole("link", { name: "2 Agent outdated" }).click();
	await page.getByText("Agent before: Linux 1.4.0").waitFor();
	await page.getByRole("link", { name: "nb-2.local" }).waitFor();

	await page.getByLabel("Select all on this page").check();
	await page.getByRole("button", { name: "Set the owner …" }).click();
	const owner = page.getByRole("dialog", { name: "owner of 2 devices" });
	// Nothing is chosen yet. To remove owners is a choice of its own.
	const set = owner.getByRole("button", { name: "Set the owner" });
	expect(await set.isDisabled()).toBe(true);
	await owner.getByLabel("Remove the owners of the selected devices").check();
	await expect
		.poll(() =>
			owner.getByRole("button", { name: "Remove the owners" }).isEnabled(),
		)
		.toBe(true);
	await owner.getByLabel("Remove the owners of the selected devices").uncheck();
	await owner.getByRole("button", { name: "Create a person" }).click();
	const person = page.getByRole("dialog", { name: "Create a person" });
	await person.getByLabel("Full name").fill("Grace Hopper");
	await person.getByLabel("E-mail address").fill("grace@example.com");
	await person.getByRole("button", { name: "Create the person" }).click();
	await person.waitFor({ state: "hidden" });
	await axe(page);
	const formerOwners = await ownersOf();
	await set.click();
	await page.getByText("2 owners set.").waitFor();
	await page.getByRole("button", { name: "Undo" }).click();
	await page.getByText("2 devices have their former owner again").waitFor();
	expect(await ownersOf()).toEqual(formerOwners);
	await page.getByRole("button", { name: "Set the owner …" }).click();
	await owner.getByRole("combobox", { name: "Owner" }).click();
	await page.getByRole("option", { name: /^Grace Hopper/ }).click();
	await set.click();
	await page.getByText("2 owners set.").waitFor();
	expect(await ownersOf()).toEqual([
		["nb-1.local", "Grace Hopper"],
		["nb-2.local", "Grace Hopper"],
	]);

	await page.getByText("2 selected").waitFor();

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
	await choose("nb-1.local,nobody\n\nnb-3.local,grace@example.com\n");
	await dialog.getByText("1 line is wrong").waitFor();
	await dialog.getByText(/^Line 4: device: no device has/).waitFor();
	const save = dialog.getByRole("button", { name: "Set the owners" });
	expect(await save.isDisabled()).toBe(true);
	await axe(page);
	await choose("nb-1.local,\nnb-2.local,nobody\n");
	await dialog
		.getByText("1 device changes, 1 stays as it is. 1 line has no owner.")
		.waitFor();
	await save.click();
	await page.getByText("1 owner set.").waitFor();
	expect(await ownersOf()).toEqual([
		["nb-1.local", "Grace Hopper"],
		["nb-2.local", null],
	]);
});

test("3,000 owners are imported from one file in parts, and a line that fails meanwhile is named", async () => {
	const { owner: db } = served.database;
	const { page, organization } = await fleet.start("admin", async (made) => {
		const admin = await served.makePerson("admin", made);
		for (const name of ["ada", "grace"]) {
			await callAs(served.database, admin, recordOperations(people)[2], {
				organization_id: made,
				full_name: name,
				primary_email_address: `${name}@example.com`,
				kind: "EMPLOYEE",
			});
		}
		await db.query(
			`insert into devices (organization_id, id, name, hostname, search_text)
			select $1, md5('nb-' || n), 'nb-' || n, 'nb-' || n, 'nb' from generate_series(1, 3000) n`,
			[made],
		);
		return undefined;
	});
	const sent: string[] = [];
	page.on("request", (request) => {
		if (!request.url().endsWith("/api/console/importDeviceOwners")) return;
		const { first_line, last_line, dry_run } = request.postDataJSON();
		if (!dry_run) sent.push(`${first_line}-${last_line}`);
	});
	await page.getByRole("button", { name: "More actions" }).click();
	await page.getByRole("menuitem", { name: "Import owners …" }).click();
	const dialog = page.getByRole("dialog", { name: "Import owners of devices" });
	const lines = Array.from(
		{ length: 3000 },
		(_, n) => `NB-${n + 1},${n === 1999 ? "grace" : "ada"}@example.com`,
	);
	await page.locator("input[type=file]").setInputFiles({
		name: "owners.csv",
		mimeType: "text/csv",
		buffer: Buffer.from(["device,owner", ...lines].join("\n")),
	});
	await dialog
		.getByText(`${(3000).toLocaleString("en-US")} devices change, 0 stay`)
		.waitFor();
	// Somebody changes the address of a person meanwhile.
	await db.query(
		"update people set primary_email_address = 'gone@example.com' where organization_id = $1 and full_name = 'grace'",
		[organization],
	);
	const save = dialog.getByRole("button", { name: "Set the owners" });
	await save.click();
	await dialog.getByText("1 line was not imported").waitFor();
	await dialog
		.getByText(/^Line 2001, owner: no person .* grace@example.com/)
		.waitFor();
	await axe(page);
	await screenshot(page, "devices/import-owners-failed");
	expect(sent.slice(0, 4)).toEqual([
		"2-501",
		"502-1001",
		"1002-1501",
		"1502-2001",
	]);
	expect(sent.at(-1)).toBe("2502-3001");
	const owned = await db.query(
		"select 1 from devices where organization_id = $1 and owner_id is not null",
		[organization],
	);
	expect(owned.rowCount).toBe(2999);
	await db.query(
		"update people set primary_email_address = 'grace@example.com' where organization_id = $1 and full_name = 'grace'",
		[organization],
	);
	await save.click();
	await page.getByText("1 owner set.").waitFor();
	await dialog.waitFor({ state: "hidden" });
});
