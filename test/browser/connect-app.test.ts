import { afterAll, beforeAll, expect, test } from "vitest";
import {
	axe,
	screenshot,
	signIn,
	startConsole,
	type TestConsole,
} from "./browser.ts";

let served: TestConsole;
beforeAll(async () => {
	served = await startConsole({ ASSAY_OAUTH: "on" });
});
afterAll(() => served.close());

test("programs do not register themselves unless the operator switches it on", async () => {
	const { url } = served.service;
	const { status } = await fetch(`${url}/oauth/register`, {
		method: "POST",
		headers: { "content-type": "application/json" },
		body: JSON.stringify({ redirect_uris: [`${url}/callback`] }),
	});
	expect(status).toBe(404);
	const metadata = await fetch(`${url}/.well-known/oauth-authorization-server`);
	const offers = (await metadata.json()) as object;
	expect(offers).toHaveProperty("token_endpoint");
	expect(offers).not.toHaveProperty("registration_endpoint");
});

test("a program is connected by allowing it, after signing in, and stands among the tokens", async () => {
	const person = await served.makePerson("member");
	const callback = `${served.service.url}/callback`;
	await served.database.owner.query(
		"insert into oauth_clients (id, name, redirect_uris, is_registered) values ('of-a-test', 'Helpful Client', array[$1], true)",
		[callback],
	);
	const query = new URLSearchParams({
		client_id: "of-a-test",
		redirect_uri: callback,
		response_type: "code",
		code_challenge: "x".repeat(43),
		code_challenge_method: "S256",
		// The console must not read this as a number.
		state: "12345678901234567890",
		scope: "read",
	});
	const page = await served.openPage();
	await page.goto(`/oauth/authorize?${query}`);
	await signIn(page, person);
	await page
		.getByRole("heading", { name: "Connect Helpful Client?" })
		.waitFor();
	expect(await page.getByLabel("Read only").isChecked()).toBe(true);
	await page.getByText("The program reaches Acme.").waitFor();
	await page.getByText("Nobody vouches for this name").waitFor();
	await page
		.getByText("Your browser then returns to a program on this computer.")
		.waitFor();
	await page.getByRole("combobox", { name: "Tools" }).waitFor();
	expect(await page.getByLabel("For how long").first().inputValue()).toBe(
		"90 days",
	);
	await axe(page);
	await screenshot(page, "connect-app");
	await page.getByRole("button", { name: "Allow" }).click();
	await page.waitForURL(/\/callback\?/);
	const { searchParams } = new URL(page.url());
	expect(searchParams.get("state")).toBe("12345678901234567890");
	expect(searchParams.get("code")).toMatch(/^asy_oac_/);
	await page.goto(`/o/${served.organizationId}/settings/api-tokens`);
	await page.getByRole("row", { name: "Helpful Client" }).waitFor();
});
