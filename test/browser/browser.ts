import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import {
	type Browser,
	type BrowserContext,
	type BrowserContextOptions,
	chromium,
	type Page,
} from "playwright-core";
import { expect, inject, onTestFinished } from "vitest";
import { readConsoleFiles } from "../../src/http/console-files.ts";
import type { Role } from "../../src/principal.ts";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { PASSWORD } from "../support/console-client.ts";
import { storeSession } from "../support/console-session.ts";
import { makeUser, type TestUser } from "../support/people.ts";
import { startService, type TestService } from "../support/service.ts";
import { AXE_FILE, AXE_PATH } from "./axe-file.ts";
import { startWithPages } from "./pages.ts";
import { noteRequests } from "./settled.ts";

/**
 * The system's Chromium, so that nothing is downloaded. If its headless shell is installed, that is
 * used, because it needs half the resources.
 */
const CHROMIUM =
	process.env.CHROMIUM_PATH ??
	["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].find(existsSync);
const V8_FLAGS = [
	// Optimizes a function only after thirty times as many calls as usual. A page of a test does not
	// live long enough to gain from it. Axe-core does, so the optimizing compilers stay on.
	"--invocation-count-for-maglev=12000",
	"--interrupt-budget-for-maglev=1000000",
	"--interrupt-budget=600000",
];
const ARGS = [
	"--no-sandbox",
	"--disable-gpu",
	"--disable-quic",
	"--no-first-run",
	"--disable-background-networking",
	"--disable-component-update",
	"--disable-sync",
	`--js-flags=${V8_FLAGS.join(" ")}`,
];
const AXE_SOURCE = readFile(AXE_FILE, "utf8");
/** Set this variable to look at the pages: SCREENSHOTS=/tmp/shots npm run test:browser */
const SCREENSHOTS = process.env.SCREENSHOTS;

export interface TestConsole extends TestService {
	/** Creates a member of the organization whose password is PASSWORD. */
	makePerson: (role: Role, organizationId?: string) => Promise<TestUser>;
	/**
	 * Opens a page without cookies or stored data, on this service or on the one at `baseURL`. An
	 * error message of the browser makes the test fail.
	 */
	openPage: (options?: BrowserContextOptions) => Promise<Page>;
	/**
	 * Opens an empty page in the same way, signed in as this user. The session is only stored, so the
	 * audit log has no sign-in, and the session does not say in which browser and where it began.
	 */
	openEmptyPageAs: (person: TestUser) => Promise<Page>;
	/**
	 * Opens a page at `path` in the same way, signed in as this user. A page with a user agent of its
	 * own signs in with the password, and the service writes down the user agent.
	 */
	openPageAs: (
		person: TestUser,
		path?: string,
		options?: BrowserContextOptions,
	) => Promise<Page>;
}

/**
 * Starts the service with its console, and opens its pages in a Chromium. Each test file does this
 * once. `settings` are added to the default settings. Pages may send requests to the service and to
 * no other website but `partner`.
 */
export async function startConsole(
	settings: Record<string, string> = {},
	partner?: string,
): Promise<TestConsole> {
	// The files that the process runs share the 400 files of the console.
	consoleFiles ??= readConsoleFiles(inject("consoleFolder"));
	const [files, browser, passwordHash] = await Promise.all([
		consoleFiles,
		getBrowser(),
		hashPassword(PASSWORD),
	]);
	const { served, pages } = await startWithPages(browser, (port) =>
		startService(undefined, { ASSAY_PORT: port, ...settings }, files),
	);
	const openPage = async (options: BrowserContextOptions = {}) => {
		const [page, close] = await pages.open(options);
		const complaints = watch(page);
		noteRequests(page);
		const own = options.baseURL ?? served.service.url;
		refuseOtherHosts(page.context(), [own, partner], complaints);
		onTestFinished(async () => {
			await close();
			expect(complaints, "what the browser complained of").toEqual([]);
		});
		return page;
	};
	const openEmptyPageAs = async (
		person: TestUser,
		options?: BrowserContextOptions,
	) => {
		const page = await openPage(options);
		if (options?.userAgent) {
			await signInByRequest(page, served.service.url, person);
		} else {
			const cookie = await storeSession(served.database, person, settings);
			await page.context().addCookies([
				{
					...cookie,
					url: served.service.url,
					httpOnly: true,
					sameSite: "Strict",
				},
			]);
		}
		return page;
	};
	return {
		...served,
		close: async () => {
			await served.close();
			pages.rest();
		},
		openPage,
		openEmptyPageAs,
		makePerson: (role, organizationId = served.organizationId) =>
			makeUser(served.database, { organizationId, role }, { passwordHash }),
		openPageAs: async (person, path = "/", options) => {
			const page = await openEmptyPageAs(person, options);
			await page.goto(path);
			return page;
		},
	};
}

let consoleFiles: ReturnType<typeof readConsoleFiles> | undefined;
let launched: Promise<Browser> | undefined;

/**
 * Returns the Chromium of this process. The files that the process runs share it, because starting
 * it takes as long as loading two pages. It ends with the process. Processes do not share one,
 * because all pages of a Chromium have one clipboard.
 */
async function getBrowser(): Promise<Browser> {
	const running = await launched;
	if (running?.isConnected()) return running;
	launched = chromium.launch({
		executablePath: CHROMIUM ?? "/usr/bin/chromium",
		args: ARGS,
	});
	return launched;
}

/** Fills in and submits the sign-in page, as a user does. */
export async function signIn(
	page: Page,
	{ email }: { email: string },
	password = PASSWORD,
): Promise<void> {
	await page.getByLabel("E-mail address").fill(email);
	await page.getByLabel("Password", { exact: true }).fill(password);
	await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

/** Navigates within the page, as a link does, so that the console loads only once. */
export async function visit(page: Page, path: string): Promise<void> {
	await page.evaluate(
		`history.pushState({}, "", ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent("popstate"))`,
	);
	await page.getByRole("heading", { level: 1 }).first().waitFor();
}

/** Returns the rows of tables that contain this text. */
export const row = (page: Page, text: string) =>
	page.getByRole("row").filter({ hasText: text });

/**
 * Expects that axe-core finds no serious or critical problem on the page. With "contrast", it
 * checks only the contrast of text. If a dialog is open, it checks only the dialog, because nobody
 * can use the page behind it.
 */
export async function axe(
	page: Page,
	what: "everything" | "contrast" = "everything",
): Promise<void> {
	const isThere = await page.evaluate("typeof axe === 'object'");
	if (!isThere) {
		// A page that cannot load the file, such as one of another service, gets its text.
		await page
			.evaluate(`import("${AXE_PATH}")`)
			.catch(async () => page.evaluate(await AXE_SOURCE));
	}
	// A table or a list of found records is faded as long as newer rows are on their way.
	await expect
		.poll(() => page.locator(":is(table, ul)[aria-busy=true]").count())
		.toBe(0);
	const { width } = page.viewportSize() ?? {};
	expect(
		await page.evaluate(`(${FINDINGS})(${JSON.stringify(OPTIONS[what])})`),
		`axe at ${page.url()}, ${width} px`,
	).toEqual([]);
}

/**
 * By default, axe-core would also describe every element for which a rule passes, and compute a
 * selector for each, which takes longer than the check itself. It therefore describes only
 * violations, by their HTML.
 */
const CHEAP = { resultTypes: ["violations"], selectors: false };
const OPTIONS = {
	everything: CHEAP,
	contrast: { ...CHEAP, runOnly: ["color-contrast"] },
};

/**
 * This code runs in the page. It returns only the serious violations. The rules that can only find
 * others do not run. They need a fifth of the time, and "region" as much as all others together.
 * "avoid-inline-spacing" computes the visible text of each element with a style, although only a
 * style with "!important" can break it. axe-core would also write down the HTML of each element that
 * it checks. So it checks without, and again with the HTML if it finds something.
 */
const FINDINGS = `async (options) => {
	const isSerious = ({ impact }) => impact === "serious" || impact === "critical";
	const others = axe._audit.rules.filter((rule) => !isSerious(rule)).map(({ id }) => id);
	if (!document.querySelector("[style*=important i]")) others.push("avoid-inline-spacing");
	const rules = Object.fromEntries(others.map((id) => [id, { enabled: false }]));
	const check = async (noHtml) => {
		axe._audit.noHtml = noHtml;
		const { violations } = await axe.run(
			document.querySelector("[role=dialog][aria-modal=true]") ?? document,
			{ ...options, ...(options.runOnly ? {} : { rules }) },
		);
		return violations.filter(isSerious);
	};
	const found = await check(true);
	if (found.length === 0) return [];
	return (await check(false)).map(({ id, help, nodes }) => ({
		id,
		help,
		nodes: nodes.map(({ html, failureSummary }) => [html, failureSummary]),
	}));
}`;

/** Takes a screenshot of the page if SCREENSHOTS is set. */
export async function screenshot(page: Page, name: string): Promise<void> {
	if (!SCREENSHOTS) return;
	await mkdir(SCREENSHOTS, { recursive: true });
	await page.screenshot({
		path: join(SCREENSHOTS, `${name}.png`),
		animations: "disabled",
	});
}

/**
 * Collects the error messages of the browser. It ignores those that a test causes on purpose, which
 * are answers of 4xx and being offline.
 */
function watch(page: Page): string[] {
	const complaints: string[] = [];
	page.on("console", (message) => {
		const text = message.text();
		const isAskedFor =
			/^(Failed to load resource: (.* status of 4\d\d|net::ERR_INTERNET_DISCONNECTED)|ApiError: Assay is in maintenance)/.test(
				text,
			);
		if (message.type() === "error" && !isAskedFor) complaints.push(text);
		if (message.type() === "warning" && /Content.Security/i.test(text)) {
			complaints.push(text);
		}
	});
	page.on("pageerror", (error) => complaints.push(String(error)));
	return complaints;
}

function refuseOtherHosts(
	context: BrowserContext,
	known: readonly (string | undefined)[],
	complaints: string[],
): void {
	context.on("request", (request) => {
		const url = new URL(request.url());
		const isKnown =
			known.includes(url.origin) || /^(data|blob):$/.test(url.protocol);
		if (!isKnown) complaints.push(`a request to ${url.origin}`);
	});
}

async function signInByRequest(
	page: Page,
	base: string,
	{ email }: TestUser,
): Promise<void> {
	const answer = await page.request.post("/api/auth/sign-in/email", {
		data: { email, password: PASSWORD },
		headers: { origin: base },
	});
	expect(answer.status()).toBe(200);
}
