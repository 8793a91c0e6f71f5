import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { chromium, type Page } from "playwright-core";
import { startService, stopChildren } from "../../bench/processes.ts";
import { openEmbeddedPostgres } from "../../src/db/embedded.ts";
import { stopPostmaster } from "../../src/db/postmaster.ts";
import { makeOrganizationId } from "../../src/id.ts";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { makeIdentityId } from "../../src/sign-in/users.ts";
import { ensureConsole } from "../ensure-build.ts";
import { NAME } from "./organization.ts";
import { seed } from "./seed.ts";

/**
 * Takes the screenshots (`npm run screenshots`). The program starts a service with an example
 * organization and visits its pages in light and in dark.
 */
const PASSWORD = "a password for the pictures";
const EMAIL = "ada@harbourpine.example";
const undo: (() => Promise<void> | void)[] = [];

function say(text: string): void {
	process.stderr.write(`${text}\n`);
}

async function makeOrganization(client: Client): Promise<string> {
	const organization = makeOrganizationId();
	await client.query("insert into organizations (id, name) values ($1, $2)", [
		organization,
		NAME,
	]);
	await client.query(
		`insert into memberships (organization_id, user_id, role)
		select $1, user_id, 'admin' from create_user($2, $3, 'Ada Okafor', $4, $5)`,
		[
			organization,
			makeIdentityId("user"),
			EMAIL,
			makeIdentityId("account"),
			await hashPassword(PASSWORD),
		],
	);
	return organization;
}

async function take(page: Page, path: string, name: string): Promise<void> {
	say(name);
	// The home page is taller than a screen, and its lower half must be visible too.
	const height = name.startsWith("home") ? 1320 : 860;
	await page.setViewportSize({ width: 1280, height });
	await page.goto(path);
	await page.getByRole("heading", { level: 1 }).waitFor();
	await page.waitForLoadState("networkidle");
	// On a busy machine, a part may still wait for its data, or a cell for the name of its owner.
	for (const waiting of [
		page.locator(".mantine-Skeleton-root"),
		page.getByText("…", { exact: true }),
	]) {
		await waiting.first().waitFor({ state: "detached" });
	}
	await page.waitForTimeout(500);
	await page.screenshot({
		path: join(import.meta.dirname, "../../docs/screenshots", `${name}.png`),
		animations: "disabled",
	});
}

async function run(): Promise<void> {
	await ensureConsole(say);
	const folder = mkdtempSync(join(tmpdir(), "assay-screenshots-"));
	undo.push(() => rmSync(folder, { recursive: true, force: true }));
	const dataDir = join(folder, "data");
	undo.push(() => stopPostmaster(join(dataDir, "postgres")), stopChildren);
	// If root runs this program, PostgreSQL runs as another user, who must be able to enter the
	// folder.
	chmodSync(folder, 0o711);
	const { port } = await startService(dataDir, 1, undefined);
	const base = `http://localhost:${port}`;
	const postgres = await openEmbeddedPostgres(dataDir);
	undo.push(() => postgres.close());
	const client = new Client(postgres.connection);
	await client.connect();
	undo.push(() => client.end());
	const browser = await chromium.launch({
		executablePath: process.env.CHROMIUM_PATH ?? "/usr/bin/chromium",
		args: ["--no-sandbox", "--disable-gpu", "--no-first-run"],
	});
	undo.push(() => browser.close());

	const organization = await makeOrganization(client);
	const home = `/o/${organization}`;
	let ids: Awaited<ReturnType<typeof seed>> | undefined;
	for (const colorScheme of ["light", "dark"] as const) {
		const context = await browser.newContext({
			baseURL: base,
			colorScheme,
			locale: "en-GB",
			reducedMotion: "reduce",
		});
		await context.addInitScript(
			`localStorage.setItem("assay-first-steps-${organization}", "over")`,
		);
		const answer = await context.request.post("/api/auth/sign-in/email", {
			data: { email: EMAIL, password: PASSWORD },
			headers: { origin: base },
		});
		if (!answer.ok()) throw new Error(await answer.text());
		if (!ids) {
			say("filling the organization");
			ids = await seed(context.request, client, base, organization);
		}
		const page = await context.newPage();
		const suffix = colorScheme === "dark" ? "-dark" : "";
		for (const [name, path] of [
			["home", home],
			["devices", `${home}/devices`],
			["device", `${home}/devices/${ids.device}`],
			["risks", `${home}/r/risk`],
			["risk-matrix", `${home}/r/risk/matrix`],
			["risk", `${home}/r/risk/${ids.risk}`],
			["framework", `${home}/r/framework/${ids.framework}`],
			["audit-log", `${home}/settings/audit-log`],
		] as const) {
			await take(page, path, `${name}${suffix}`);
		}
		await context.close();
	}
}

const stopped = new Promise<never>((_, reject) => {
	for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
		process.on(signal, () => reject(new Error(`stopped by ${signal}`)));
	}
});

try {
	await Promise.race([run(), stopped]);
} catch (error) {
	say(`screenshots: ${error instanceof Error ? error.stack : error}`);
	process.exitCode = 1;
} finally {
	for (let step = undo.pop(); step; step = undo.pop()) await step();
	process.exit();
}
