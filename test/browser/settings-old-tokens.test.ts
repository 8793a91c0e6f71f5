import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { avoidMidnight } from "../support/midnight.ts";
import { makeApiToken, type TestUser } from "../support/people.ts";
import {
	axe,
	row,
	screenshot,
	startConsole,
	type TestConsole,
} from "./browser.ts";

let served: TestConsole;
beforeAll(async () => {
	served = await startConsole();
});
afterAll(() => served.close());

const path = (query = "") =>
	`/o/${served.organizationId}/settings/api-tokens${query}`;
const dialog = (page: Page, name: string) =>
	page.getByRole("dialog", { name, exact: true });

/** Creates a token that is 91 days old and has calls in the last 30 days. */
async function makeOldToken(person: TestUser, name: string): Promise<string> {
	const { id } = await makeApiToken(served.database, person, { name });
	await served.database.owner.query(
		"update api_tokens set created_at = now() - interval '91 days' where id = $1",
		[id],
	);
	await served.database.owner.query(
		`insert into api_token_usage (token_id, day, tool, calls, errors)
		select $1, (now() at time zone 'UTC')::date - n, tool, 3 + (n * 37) % 90 + length(tool), (n % 9) / 4
		from generate_series(0, 29) n, unnest(array['listRisks', 'updateRisk', 'searchRecords']) tool
		where n % 7 not in (2, 3)`,
		[id],
	);
	return id;
}

function chartOf(page: Page) {
	return dialog(page, "Old one").getByRole("slider", {
		name: "Day in the chart",
	});
}

/**
 * Expects that the keyboard and the pointer both show the numbers of a day, and that the bars have
 * the right height.
 */
async function readChart(page: Page): Promise<void> {
	const chart = chartOf(page);
	await chart.focus();
	await page.keyboard.press("End");
	// The sums follow from makeOldToken, where today has n = 0 and the day before has n = 1.
	await expectDay(chart, /: 41 calls, 0 failed$/);
	await page.keyboard.press("ArrowLeft");
	await expectDay(chart, /: 152 calls, 0 failed$/);
	await page.keyboard.press("Home");
	const first = await chart.getAttribute("aria-valuetext");
	await page.keyboard.press("ArrowLeft");
	await expectDay(chart, first ?? "");
	const bars = await chart.locator("[data-bar]").all();
	expect(bars.length).toBe(30);
	await bars.at(-1)?.hover();
	await dialog(page, "Old one")
		.getByText(/: 41 calls, 0 failed$/)
		.waitFor();
	const height = async (index: number) =>
		(await bars.at(index)?.boundingBox())?.height ?? 0;
	expect((await height(-1)) / (await height(-2))).toBeCloseTo(41 / 152, 2);
}

async function expectDay(chart: Locator, words: string | RegExp) {
	await expect.poll(() => chart.getAttribute("aria-valuetext")).toMatch(words);
}

test("tokens that are older than 90 days or expire soon are marked", async () => {
	await avoidMidnight();
	const person = await served.makePerson("member");
	await makeOldToken(person, "Old one");
	await makeApiToken(served.database, person, {
		name: "Short one",
		expiresAt: new Date(Date.now() + 5 * 86_400_000 - 60_000),
	});
	const page = await served.openPageAs(person, path());
	const old = row(page, "Old one");
	await old.getByText("Older than 90 days").waitFor();
	await old.getByText("Active", { exact: true }).waitFor();
	await row(page, "Short one").getByText("Expires in 5 days").waitFor();
	await screenshot(page, "tokens-list");
	await axe(page);
	await row(page, "Old one").getByRole("link").click();
	await dialog(page, "Old one").getByText("This token is old").waitFor();
	await readChart(page);
	await screenshot(page, "tokens-chart");
	await page.goBack();
	await expect.poll(() => page.getByRole("dialog").count()).toBe(0);

	const isOldOnly = page.getByRole("switch", { name: "Older than 90 days" });
	await isOldOnly.click();
	await row(page, "Short one").waitFor({ state: "hidden" });
	await page.reload();
	await row(page, "Old one").waitFor();
	expect(await row(page, "Short one").count()).toBe(0);
	// Opening and closing a token does not change the filter.
	await row(page, "Old one").getByRole("link").click();
	await page.getByRole("button", { name: "Close" }).click();
	await expect.poll(() => new URL(page.url()).search).toBe("?age=old");
	await isOldOnly.click();
	await row(page, "Short one").waitFor();
});

test.each([
	["dark", { colorScheme: "dark" }],
	["375", { viewport: { width: 375, height: 740 } }],
] as const)("%s: the list and the chart are readable, and nothing is wider than the screen", async (name, options) => {
	const person = await served.makePerson("member");
	const id = await makeOldToken(person, "Old one");
	const page = await served.openPageAs(person, path(`?token=${id}`), options);
	await chartOf(page).waitFor();
	await screenshot(page, `tokens-chart-${name}`);
	await axe(page);
	await page.getByRole("button", { name: "Close" }).click();
	await row(page, "Old one").waitFor();
	await screenshot(page, `tokens-list-${name}`);
	const [width, limit] = (await page.evaluate(
		"[document.documentElement.scrollWidth, window.innerWidth]",
	)) as [number, number];
	expect(width).toBeLessThanOrEqual(limit);
});
