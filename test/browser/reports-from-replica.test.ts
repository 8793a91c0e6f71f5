import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { callByName } from "../support/call-by-name.ts";
import { PASSWORD } from "../support/console-client.ts";
import { makeUser } from "../support/people.ts";
import { readPdf, wordsOf } from "../support/read-pdf.ts";
import { type Replicated, startReplicated } from "../support/replicated.ts";
import {
	axe,
	screenshot,
	signIn,
	startConsole,
	type TestConsole,
} from "./browser.ts";

let servers: Replicated;
let served: TestConsole;
beforeAll(async () => {
	servers = await startReplicated();
	served = await startConsole({
		DATABASE_URL: servers.primary.url,
		DATABASE_REPLICA_URL: servers.standby.url,
	});
});
afterAll(async () => {
	await served?.close();
	await servers?.close();
});

const MOMENT = "read from the replica, which had all changes up to";

test("a report is read from the replica on request, and the page and its files say its moment", async () => {
	const { database } = servers;
	const organization_id = await createOrganization(database.pool, "Northwind");
	const reader = await makeUser(
		database,
		{ organizationId: organization_id, role: "admin" },
		{ passwordHash: await hashPassword(PASSWORD) },
	);
	const addRisk = (name: string) =>
		callByName(database, reader, "addRisk", {
			organization_id,
			name,
			category: "Sites",
			treatment: "ACCEPTED",
			inherent_likelihood: 1,
			inherent_impact: 1,
		});
	await addRisk("Fire");
	const page = await served.openPage();
	await page.goto(`/o/${organization_id}/reports/risk-register`);
	await signIn(page, reader);
	const cell = (name: string) => page.getByText(name, { exact: true });
	await cell("Fire").waitFor();
	expect(await page.getByText(MOMENT).count()).toBe(0);

	await page.getByLabel("Read from the replica").check();
	await page.getByText(MOMENT).waitFor();
	expect(new URL(page.url()).searchParams.get("from")).toBe("replica");
	await servers.pause();
	try {
		await addRisk("Flood");
		await page.reload();
		await page.getByText(MOMENT).waitFor();
		await cell("Fire").waitFor();
		expect(await cell("Flood").count()).toBe(0);
		await axe(page);
		await screenshot(page, "reports/from-replica");
		for (const form of ["CSV", "PDF"]) {
			const downloading = page.waitForEvent("download");
			await page.getByRole("button", { name: form }).click();
			const download = await downloading;
			expect(download.suggestedFilename()).toMatch(
				/^risk-register-\d{4}-\d\d-\d\d-replica-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.(csv|pdf)$/,
			);
			const bytes = await readFile(await download.path());
			const text =
				form === "CSV"
					? bytes.toString()
					: (await readPdf(bytes)).pages.map(wordsOf).join(" ");
			expect(text).toContain("Fire");
			expect(text).not.toContain("Flood");
			if (form === "PDF") expect(text).toContain("ead from the replica");
		}
		await page.getByLabel("Read from the replica").uncheck();
		await cell("Flood").waitFor();
		expect(await page.getByText(MOMENT).count()).toBe(0);
	} finally {
		await servers.resume();
	}
});
