import { afterAll, beforeAll, expect, test } from "vitest";
import { verify } from "../scim/stand.ts";
import { axe, screenshot, startConsole, type TestConsole } from "./browser.ts";
import { pressEscape } from "./settled.ts";

let served: TestConsole;
beforeAll(async () => {
	served = await startConsole();
});
afterAll(() => served.close());

const path = () => `/o/${served.organizationId}/settings/sign-in`;

test("an administrator adds a domain, copies its record, and sees that it is not there", async () => {
	const page = await served.openPageAs(
		await served.makePerson("admin"),
		path(),
	);
	const card = page.getByRole("region", { name: "Domains" });
	await card.getByLabel("Add a domain").fill("not a domain");
	await card.getByRole("button", { name: "Add", exact: true }).click();
	await card.getByText("full name of a domain").waitFor();
	await card.getByLabel("Add a domain").fill("assay-test.invalid");
	await card.getByRole("button", { name: "Add", exact: true }).click();
	const domain = card.getByRole("group", { name: "assay-test.invalid" });
	await domain.getByText("Not verified").waitFor();
	expect(
		await domain.getByLabel("Name of the record", { exact: true }).innerText(),
	).toBe("_assay-challenge.assay-test.invalid");
	expect(
		await domain.getByLabel("Text of the record", { exact: true }).innerText(),
	).toMatch(/^assay-verify=/);
	await screenshot(page, "sign-in-domains");
	await axe(page);
	await domain
		.getByRole("button", { name: "Verify now: assay-test.invalid" })
		.click();
	// What the look finds depends on the name servers of the machine.
	await domain.getByText("Last look:").waitFor();
	await domain
		.getByRole("button", { name: "Remove: assay-test.invalid" })
		.click();
	await page.getByRole("button", { name: "Remove the domain" }).click();
	await domain.waitFor({ state: "detached" });
});

test("an administrator makes a SCIM credential, an identity provider uses it, and a group gets a role", async () => {
	const { database, organizationId, service } = served;
	await verify(database, organizationId, "example.com");
	const page = await served.openPageAs(
		await served.makePerson("admin"),
		path(),
	);
	const card = page.getByRole("region", { name: "Provisioning (SCIM)" });
	await card.getByRole("button", { name: "Create a credential" }).click();
	await page.getByLabel("Name").fill("Entra ID");
	await page.getByRole("button", { name: "Create the credential" }).click();
	const secret = await page
		.getByLabel("Credential", { exact: true })
		.innerText();
	expect(secret).toMatch(/^asy_scim_/);
	await pressEscape(page.getByRole("dialog"));
	await page.getByText("The credential is lost when you close").waitFor();
	await axe(page);
	await page.getByRole("button", { name: "Copy Credential" }).click();
	await page.keyboard.press("Escape");
	await page.getByRole("dialog").waitFor({ state: "detached" });

	const scim = async (resource: string, body: object) => {
		const answer = await fetch(`${service.url}/scim/v2/${resource}`, {
			method: "POST",
			headers: {
				authorization: `Bearer ${secret}`,
				"content-type": "application/scim+json",
			},
			body: JSON.stringify(body),
		});
		return (await answer.json()) as { id: string };
	};
	const { id } = await scim("Users", { userName: "ada@example.com" });
	await scim("Users", { userName: "eve@elsewhere.example" });
	await scim("Groups", { displayName: "Security", members: [{ value: id }] });
	await page.reload();
	await card.getByText("One member is provisioned.").waitFor();
	await card.getByText("elsewhere.example is not a verified domain").waitFor();
	await card.getByLabel("Role of Security").click();
	await page.getByRole("option", { name: "Member" }).click();
	await expect
		.poll(async () => {
			const { rows } = await database.owner.query(
				"select role from memberships where user_id = $1",
				[id],
			);
			return rows[0]?.role;
		})
		.toBe("member");
	await screenshot(page, "sign-in-provisioning");
	await axe(page);
	await card.getByRole("button", { name: "Revoke Entra ID" }).click();
	await page.getByRole("button", { name: "Revoke the credential" }).click();
	await card.getByText("Revoked").waitFor();
	const refused = await fetch(`${service.url}/scim/v2/Users`, {
		headers: { authorization: `Bearer ${secret}` },
	});
	expect(refused.status).toBe(401);
});

test("a member does not see the settings for signing in", async () => {
	const page = await served.openPageAs(
		await served.makePerson("member"),
		path(),
	);
	await page.getByText("Only administrators see these settings.").waitFor();
	expect(
		await page.getByRole("link", { name: "Sign-in", exact: true }).count(),
	).toBe(0);
});
