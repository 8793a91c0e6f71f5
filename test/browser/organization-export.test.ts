import { readFileSync } from "node:fs";
import {
	Decrypter,
	generateIdentity,
	identityToRecipient,
} from "age-encryption";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createDatabaseForTest } from "../support/database.ts";
import { importInto } from "../support/organization-files.ts";
import { axe, screenshot, startConsole, type TestConsole } from "./browser.ts";

let served: TestConsole;
beforeAll(async () => {
	served = await startConsole();
});
afterAll(() => served.close());

const path = () => `/o/${served.organizationId}/settings/organization`;

test("an administrator exports the organization with what they chose", async () => {
	const person = await served.makePerson("admin");
	const page = await served.openPageAs(person, path());
	const section = page.getByRole("region", { name: "Export" });
	await section.getByLabel("With the raw reports of devices").uncheck();
	const download = page.waitForEvent("download");
	await section
		.getByRole("button", { name: "Export the organization" })
		.click();
	const saved = await download;
	expect(saved.suggestedFilename()).toMatch(
		/^Acme-\d{4}-\d\d-\d\d\.assay-organization$/,
	);
	await section.getByText("The download has begun.").waitFor();
	await section.scrollIntoViewIfNeeded();
	await axe(page);
	await screenshot(page, "export-organization");
	const { url } = await createDatabaseForTest();
	const { manifest } = await importInto(url, readFileSync(await saved.path()));
	expect(manifest.organization?.id).toBe(served.organizationId);
	expect(manifest.left_out).toEqual(["reports"]);
});

test("a file is encrypted for the key of the reader, and a text that is no key is refused beside its field", async () => {
	const person = await served.makePerson("admin");
	const page = await served.openPageAs(person, path());
	const section = page.getByRole("region", { name: "Export" });
	const key = section.getByLabel("Encrypt for this public key");
	const button = section.getByRole("button", {
		name: "Export the organization",
	});
	await key.fill("age1nonsense");
	await button.click();
	await section.getByText("It is not a public key of age").waitFor();
	const identity = await generateIdentity();
	await key.fill(await identityToRecipient(identity));
	const download = page.waitForEvent("download");
	await button.click();
	const file = readFileSync(await (await download).path());
	const decrypter = new Decrypter();
	decrypter.addIdentity(identity);
	const { url } = await createDatabaseForTest();
	const { manifest } = await importInto(
		url,
		Buffer.from(await decrypter.decrypt(file)),
	);
	expect(manifest.organization?.id).toBe(served.organizationId);
});

test("a download that is refused shows the words of the service", async () => {
	const person = await served.makePerson("admin");
	const page = await served.openPageAs(person, path());
	// The ticket's signature is broken on its way, as if its time were over.
	await page.route("**/api/console/organization-file?ticket=*", (route) =>
		route.continue({ url: `${route.request().url()}x` }),
	);
	const section = page.getByRole("region", { name: "Export" });
	await section
		.getByRole("button", { name: "Export the organization" })
		.click();
	await section.getByText("this download is not yours").waitFor();
	await expect(
		section.getByText("The download has begun.").count(),
	).resolves.toBe(0);
});

test("a member sees no export", async () => {
	const person = await served.makePerson("member");
	const page = await served.openPageAs(person, path());
	await page.getByText("Only administrators can change this.").waitFor();
	await expect(
		page.getByRole("region", { name: "Export" }).count(),
	).resolves.toBe(0);
});
