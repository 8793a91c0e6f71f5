import { afterAll, beforeAll, expect, test } from "vitest";
import {
	axe,
	screenshot,
	signIn,
	startConsole,
	type TestConsole,
} from "./browser.ts";
import { settled, typeInto } from "./settled.ts";

let served: TestConsole;
beforeAll(async () => {
	served = await startConsole();
});
afterAll(() => served.close());

test("a visitor who is not signed in is asked to sign in and then reaches the wanted page", async () => {
	const person = await served.makePerson("member");
	const page = await served.openPage();
	const wanted = `/o/${served.organizationId}/r/risk?q=water&sort=name`;
	await page.goto(wanted);
	await page.getByRole("heading", { name: "Sign in" }).waitFor();
	await axe(page);
	await screenshot(page, "sign-in");
	await signIn(page, person);
	await page.waitForURL(`**${wanted}`);
});

test("a wrong password and an unknown address are rejected with the same message", async () => {
	const { email } = await served.makePerson("member");
	const page = await served.openPage();
	const said: string[] = [];
	for (const who of [email, "nobody@example.com"]) {
		await page.goto("/sign-in");
		await signIn(page, { email: who }, "not the password");
		said.push(await page.getByRole("alert").innerText());
	}
	expect(said[0]).toContain("The e-mail address or the password is wrong.");
	expect(said[1]).toBe(said[0]);
	await axe(page);
	await screenshot(page, "sign-in-wrong");
});

test("after too many wrong passwords the page says how long to wait", async () => {
	const { email } = await served.makePerson("member");
	const page = await served.openPage();
	await page.goto("/sign-in");
	const headers = { origin: served.service.url };
	const data = { email, password: "not the password" };
	let status = 0;
	for (let tries = 0; tries < 50 && status !== 429; tries++) {
		const answer = await page.request.post("/api/auth/sign-in/email", {
			data,
			headers,
		});
		status = answer.status();
	}
	await signIn(page, { email });
	await expect
		.poll(() => page.getByRole("alert").innerText())
		.toMatch(/try again in \d+ minutes/);
});

test("a password is masked until the user shows it, can be pasted, and works with password managers", async () => {
	const page = await served.openPage();
	await page.goto("/sign-in");
	const password = page.getByLabel("Password", { exact: true });
	expect(await password.getAttribute("type")).toBe("password");
	expect(await password.getAttribute("autocomplete")).toBe("current-password");
	await page.getByLabel(/e-mail/i).fill("correct horse battery");
	await page.keyboard.press("ControlOrMeta+a");
	await page.keyboard.press("ControlOrMeta+c");
	await password.focus();
	await page.keyboard.press("ControlOrMeta+v");
	await expect.poll(() => password.inputValue()).toBe("correct horse battery");
	await page
		.locator("form")
		.getByRole("button", { name: /password/i })
		.first()
		.click();
	await expect.poll(() => password.getAttribute("type")).toBe("text");
});

test("signing in never leads to another host", async () => {
	const person = await served.makePerson("member");
	const page = await served.openPage();
	for (const to of [
		"https://evil.example/",
		"//evil.example/",
		"/\\evil.example",
	]) {
		await page.context().clearCookies();
		await page.goto(`/sign-in?to=${encodeURIComponent(to)}`);
		await signIn(page, person);
		await page.getByRole("button", { name: "Your account" }).waitFor();
		expect(new URL(page.url()).origin).toBe(served.service.url);
	}
});

test("after signing out the pages ask to sign in again", async () => {
	const person = await served.makePerson("viewer");
	const page = await served.openPageAs(person);
	await page.getByRole("button", { name: "Your account" }).click();
	await page.getByRole("menuitem", { name: "Sign out" }).click();
	await page.getByRole("heading", { name: "Sign in" }).waitFor();
	await page.goto(`/o/${served.organizationId}`);
	await page.getByRole("heading", { name: "Sign in" }).waitFor();
});

test("after a session has ended, the sign-in page appears and then returns to the same page", async () => {
	const person = await served.makePerson("member");
	const page = await served.openPageAs(person);
	await page.getByRole("heading", { name: "Home" }).waitFor();
	await page.context().clearCookies();
	await page.goto(`/o/${served.organizationId}/devices`);
	await signIn(page, person);
	await page.waitForURL(`**/o/${served.organizationId}/devices`);
});

test("a user who is signed out keeps the typed text and can save it after signing in in another tab, or learns why not", async () => {
	const person = await served.makePerson("member");
	const page = await served.openPageAs(
		person,
		`/o/${served.organizationId}/r/task/new`,
	);
	const name = page.getByRole("textbox", { name: "Name" });
	await typeInto(name, "Not to be lost");
	await page.context().clearCookies();
	const told = page.getByRole("dialog", {
		name: "You are signed out",
	});
	// A request of the page may be refused before the click. Then the dialog lies over the button, so
	// the event is sent to it. A click would wait, and press the button of a later test of this page.
	await page
		.getByRole("button", { name: "Add the task" })
		.dispatchEvent("click");
	await told.waitFor();
	await axe(page);
	await screenshot(page, "signed-out-with-changes");
	const [tab] = await Promise.all([
		page.context().waitForEvent("page"),
		told.getByRole("link", { name: "Sign in in another tab" }).click(),
	]);
	await signIn(tab, person);
	await tab.getByRole("heading", { name: "Home" }).waitFor();
	await told.getByRole("button", { name: "Stay here" }).click();
	expect(await name.inputValue()).toBe("Not to be lost");
	await page.getByRole("button", { name: "Add the task" }).click();
	await page.getByRole("heading", { name: "Not to be lost" }).waitFor();
	await page.reload();
	await page.getByRole("heading", { name: "Not to be lost" }).waitFor();
	await settled(page);

	await page.context().clearCookies();
	await page.getByRole("link", { name: "Risks", exact: true }).click();
	await page.getByText("You have been signed out").waitFor();
	await expect
		.poll(() => page.locator(":focus").getAttribute("name"))
		.toBe("email");
	await axe(page);
	await signIn(page, person);
	await page.waitForURL(/\/r\/(risk|task\/)/);
});
