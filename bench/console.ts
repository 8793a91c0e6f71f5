import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Client } from "pg";
import { type Browser, chromium, type Page } from "playwright-core";
import { ensureConsole } from "../console/ensure-build.ts";
import { openEmbeddedPostgres } from "../src/db/embedded.ts";
import { stopPostmaster } from "../src/db/postmaster.ts";
import { hashPassword } from "../src/sign-in/password-hash.ts";
import {
	clickUntil,
	load,
	openVisit,
	readInteractions,
	type Timings,
	type Transferred,
	type Visitor,
} from "./console-page.ts";
import { seedConsole } from "./console-seed.ts";
import { startService, stopChildren } from "./processes.ts";
import { describeMachine } from "./report.ts";
import { runAndUndo, say, type Undo } from "./run.ts";

const USAGE = `Usage: npm run bench:console -- [options]

Starts a service with an embedded database in a temporary folder, measures the size and speed of
the web console in the system's Chromium (CHROMIUM_PATH, /usr/bin/chromium), and removes the folder.
Takes about six minutes with the defaults.

  --risks <n>     number of risks of the large organization (10000); the small one has 10
  --devices <n>   number of devices of the large organization (1000)
  --rounds <n>    number of rounds; the medians are printed (5)
  --json          print JSON instead of Markdown
  --help          print this text
`;

const PASSWORD = "a password of the benchmark";
const SMALL = 10;
const ROW = ".data-table-row";
const HOME = '[aria-label="Open work"]';
const ARGS = ["--no-sandbox", "--disable-gpu", "--no-first-run"];

interface Opened extends Timings {
	name: string;
	wire: Transferred;
}

const { values } = parseArgs({
	options: {
		risks: { type: "string", default: "10000" },
		devices: { type: "string", default: "1000" },
		rounds: { type: "string", default: "5" },
		json: { type: "boolean", default: false },
		help: { type: "boolean", default: false },
	},
});

const undo: Undo[] = [];

/** Measures a page that is opened by its address with an empty browser cache. */
async function openCold(
	browser: Browser,
	visitor: Visitor,
	name: string,
	path: string,
	shown: string,
): Promise<Opened> {
	const { context, page, wire } = await openVisit(browser, visitor);
	const timings = await load(page, path, shown);
	const opened = { name, ...timings, wire: wire() };
	await context.close();
	return opened;
}

/**
 * Measures twice how long a list takes to open from the home page. The first time includes loading
 * its code.
 */
async function openList(
	browser: Browser,
	visitor: Visitor,
	organization: string,
	list: string,
) {
	const { context, page } = await openVisit(browser, visitor);
	const home = `/o/${organization}`;
	await load(page, home, HOME);
	const link = `nav a[href="${home}/${list}"]`;
	const firstMs = await clickUntil(page, link, ROW);
	await clickUntil(page, `nav a[href="${home}"]`, HOME);
	// After this wait, the loaded data is no longer fresh, so the page requests it again.
	await page.waitForTimeout(11_000);
	const againMs = await clickUntil(page, link, ROW);
	await context.close();
	return { firstMs, againMs };
}

/** Works in a list of risks as users do all day. Returns the time of each key press and click. */
async function interact(
	browser: Browser,
	visitor: Visitor,
	organization: string,
): Promise<number[]> {
	const { context, page } = await openVisit(browser, visitor);
	await load(page, `/o/${organization}/r/risk`, ROW);
	await page.locator("[data-list-search]").click();
	await page.keyboard.type("laptop fire", { delay: 60 });
	await settle(page);
	await page.getByRole("button", { name: "Clear filters" }).click();
	await settle(page);
	await page.locator("th button").first().click();
	await settle(page);
	await page.keyboard.press("Control+K");
	await page.getByRole("combobox", { name: "Search everything" }).waitFor();
	await page.keyboard.type("laptop", { delay: 60 });
	await page.locator('[role="dialog"] [role="option"]').first().waitFor();
	await page.keyboard.press("Escape");
	await settle(page);
	await page.locator(`${ROW} a`).first().click();
	await page.waitForURL(/r\/risk\/[\w-]{32}/);
	await settle(page);
	const interactions = await readInteractions(page);
	await context.close();
	return interactions;
}

async function settle(page: Page): Promise<void> {
	await page.waitForLoadState("networkidle");
	await page.waitForTimeout(400);
}

async function bench() {
	const folder = mkdtempSync(join(tmpdir(), "assay-bench-"));
	undo.push(() => rmSync(folder, { recursive: true, force: true }));
	const dataDir = join(folder, "data");
	undo.push(() => stopPostmaster(join(dataDir, "postgres")), stopChildren);
	// If root runs this program, PostgreSQL runs as another user, who must be able to enter the
	// folder.
	chmodSync(folder, 0o711);

	await ensureConsole(say);
	say("starting the service");
	const { port } = await startService(dataDir, 1, undefined);
	const postgres = await openEmbeddedPostgres(dataDir);
	undo.push(() => postgres.close());
	const client = new Client(postgres.connection);
	await client.connect();
	undo.push(() => client.end());

	say("seeding");
	const passwordHash = await hashPassword(PASSWORD);
	const email = "ada@example.com";
	const user = { email, passwordHash };
	const large = await seedConsole(client, user, {
		risks: Number(values.risks),
		devices: Number(values.devices),
	});
	const small = await seedConsole(client, user, {
		risks: SMALL,
		devices: SMALL,
	});
	const browser = await chromium.launch({
		executablePath: process.env.CHROMIUM_PATH ?? "/usr/bin/chromium",
		args: ARGS,
	});
	undo.push(() => browser.close());
	const stranger = { base: `http://localhost:${port}` };
	const ada = { ...stranger, user: { email, password: PASSWORD } };

	// This first visit does the work that only the first request causes, such as loading the code for
	// signing in.
	await openCold(browser, ada, "", `/o/${large}`, HOME);
	const opened: Opened[] = [];
	const lists: { name: string; firstMs: number; againMs: number }[] = [];
	const interactions: number[] = [];
	for (let round = 1; round <= Number(values.rounds); round++) {
		say(`round ${round}`);
		for (const [visitor, name, path, shown] of [
			[stranger, "sign-in", "/sign-in", "form"],
			[ada, "home", `/o/${large}`, HOME],
			[ada, "risks", `/o/${large}/r/risk`, ROW],
			[ada, "devices", `/o/${large}/devices`, ROW],
		] as const) {
			opened.push(await openCold(browser, visitor, name, path, shown));
		}
		for (const [organization, count, list, what] of [
			[small, SMALL, "r/risk", "risks"],
			[large, Number(values.risks), "r/risk", "risks"],
			[small, SMALL, "devices", "devices"],
			[large, Number(values.devices), "devices", "devices"],
		] as const) {
			const name = `${count.toLocaleString("en")} ${what}`;
			const times = await openList(browser, ada, organization, list);
			lists.push({ name, ...times });
		}
		interactions.push(...(await interact(browser, ada, large)));
	}
	const version = await client.query("show server_version");
	return {
		machine: describeMachine(version.rows[0].server_version),
		chromium: browser.version(),
		rounds: Number(values.rounds),
		opened: byName(opened).map(([name, all]) => ({
			name,
			wire: all.at(-1)?.wire,
			ttfbMs: median(all.map(({ ttfbMs }) => ttfbMs)),
			fcpMs: median(all.map(({ fcpMs }) => fcpMs)),
			lcpMs: median(all.map(({ lcpMs }) => lcpMs)),
		})),
		lists: byName(lists).map(([name, all]) => ({
			name,
			firstMs: median(all.map(({ firstMs }) => firstMs)),
			againMs: median(all.map(({ againMs }) => againMs)),
		})),
		interactions: {
			count: interactions.length,
			medianMs: median(interactions),
			p98Ms: quantile(interactions, 0.98),
		},
	};
}

function byName<Row extends { name: string }>(rows: Row[]): [string, Row[]][] {
	return Object.entries(Object.groupBy(rows, ({ name }) => name)).map(
		([name, all = []]) => [name, all],
	);
}

function median(numbers: number[]): number {
	return quantile(numbers, 0.5);
}

function quantile(numbers: number[], share: number): number {
	const sorted = numbers.toSorted((a, b) => a - b);
	return sorted[Math.floor((sorted.length - 1) * share)] ?? NaN;
}

function toMarkdown(report: Awaited<ReturnType<typeof bench>>): string {
	const kb = (bytes = 0) => (bytes / 1000).toFixed(0);
	const ms = (time: number) => time.toFixed(0);
	const { interactions } = report;
	return `${report.machine}, Chromium ${report.chromium}; medians of ${report.rounds}; ${new Date().toISOString().slice(0, 10)}

| Page, nothing cached | Script kB | CSS kB | Total kB | Requests | TTFB ms | FCP ms | LCP ms |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
${report.opened
	.map(
		({ name, wire, ttfbMs, fcpMs, lcpMs }) =>
			`| ${name} | ${kb(wire?.script)} | ${kb(wire?.css)} | ${kb(wire?.total)} | ${wire?.requests} | ${ms(ttfbMs)} | ${ms(fcpMs)} | ${ms(lcpMs)} |`,
	)
	.join("\n")}

| Click until the list is painted | First time ms | Again ms |
| --- | ---: | ---: |
${report.lists
	.map(
		({ name, firstMs, againMs }) =>
			`| ${name} | ${ms(firstMs)} | ${ms(againMs)} |`,
	)
	.join("\n")}

${interactions.count} keys and clicks in a list of risks until the next paint: median ${ms(interactions.medianMs)} ms, 98 % within ${ms(interactions.p98Ms)} ms.
`;
}

if (values.help) process.stdout.write(USAGE);
else {
	await runAndUndo(async () => {
		const report = await bench();
		process.stdout.write(
			values.json ? `${JSON.stringify(report)}\n` : toMarkdown(report),
		);
		return 0;
	}, undo);
}
