/**
 * Shows the way from a failing check to a closed nonconformity in the demonstration, with the real
 * agent on this machine and with a simulated device. A real mail server, webhook receiver and chat
 * get what Assay sends, and a real browser shows each step.
 *
 *     npm run bench:whole-loop -- [folder for screenshots]
 *
 * Needs Linux, root and Chromium. Takes about five minutes.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { chromium, type Page } from "playwright-core";
import { reportOf } from "../../simulator/fleet.ts";
import { roleOf } from "../../simulator/roles.ts";
import { openWebConsole } from "../../src/cli/web-console.ts";
import { EVENT_TYPE_NAMES } from "../../src/events/types.ts";
import { makeLogger } from "../../src/log.ts";
import { startDemoService } from "../demo-service.ts";
import { freePort } from "../own-service.ts";
import { toTable } from "../report.ts";
import { conclude, runAndUndo, say, type Undo } from "../run.ts";
import { enrollAgent } from "./real-agent.ts";
import { openReceivers } from "./receivers.ts";

const CHECK = "PASSWORD_POLICY";
const CHECK_NAME = "Local password policy";
const OWNERS = {
	agent: "agent@example.com",
	simulated: "simulated@example.com",
};
const DEVICES = 20;
/** A mail collects what happens for a minute, and a chat gets one message a minute. */
const TIMEOUT_MS = 180_000;

const undo: Undo[] = [];
const shots = process.argv[2];
const steps: [step: string, seconds: string][] = [];

async function run(): Promise<number> {
	const folder = mkdtempSync(join(tmpdir(), "assay-bench-"));
	undo.push(() => rmSync(folder, { recursive: true, force: true }));
	if (shots) mkdirSync(shots, { recursive: true });
	const receivers = await openReceivers(undo);
	const port = await freePort();
	say("filling the demonstration");
	const demo = await startDemoService(
		DEVICES,
		undo,
		{
			ASSAY_PORT: String(port),
			ASSAY_BASE_URL: `http://localhost:${port}`,
			ASSAY_SMTP_URL: receivers.smtpUrl,
			ASSAY_MAIL_FROM: "Assay <assay@example.com>",
			ASSAY_OUTGOING_NETWORKS: "127.0.0.1",
		},
		await openWebConsole(makeLogger("warn")),
	);
	const base = `http://localhost:${port}`;
	const browser = await chromium.launch({
		executablePath: process.env.CHROMIUM_PATH ?? "/usr/bin/chromium",
		args: ["--no-sandbox", "--disable-gpu", "--no-first-run"],
	});
	undo.push(() => browser.close());
	const context = await browser.newContext({
		baseURL: base,
		viewport: { width: 1280, height: 1400 },
	});
	context.setDefaultTimeout(60_000);
	const page = await context.newPage();
	// The steps are undone from the last one, so this shows where a failed run stood.
	undo.push(() => shoot(page, "at-the-end"));
	const [admin] = demo.logins;
	await page.goto("/");
	await page.getByLabel("E-mail address").fill(admin?.email ?? "");
	await page
		.getByLabel("Password", { exact: true })
		.fill(admin?.password ?? "");
	await page.getByRole("button", { name: "Sign in", exact: true }).click();
	await page.getByRole("link", { name: "Devices" }).first().waitFor();

	// biome-ignore lint/suspicious/noExplicitAny: the answers of operations have many forms.
	const use = async (name: string, input: object = {}): Promise<any> => {
		const answer = await context.request.post(`/api/console/${name}`, {
			data: input,
			headers: { origin: base },
		});
		if (!answer.ok()) throw new Error(`${name}: ${await answer.text()}`);
		return answer.json();
	};
	const { organizationId: organization_id } = demo;
	const agent = await enrollAgent(base, demo.enrollmentToken, folder);
	const { devices } = await use("listDevices", {
		organization_id,
		filter: { query: "This machine" },
	});
	const machine: { id: string; name: string } = devices[0];
	const simulated = await findSimulated(use, demo.fleet.deviceIds);
	// A person gets at most one urgent mail in ten minutes, so each device has its own owner.
	for (const [id, address] of [
		[machine.id, OWNERS.agent],
		[simulated.id, OWNERS.simulated],
	]) {
		const { people } = await use("addPeople", {
			organization_id,
			full_name: `Owner of ${id === machine.id ? "this machine" : "a device"}`,
			primary_email_address: address,
			kind: "EMPLOYEE",
		});
		await use("updateDevice", { id, owner_id: people.id });
	}
	await use("updateDevicePolicy", {
		organization_id,
		checks: [
			{
				check_key: CHECK,
				...{ grace_days: 0, new_device_grace_days: 0 },
				...{ severity: "MAJOR", per_device: true },
			},
		],
	});
	const told = EVENT_TYPE_NAMES.filter((type) =>
		/^(posture|nonconformity)\./.test(type),
	);
	const { secret } = await use("addWebhook", {
		organization_id,
		url: receivers.hook,
		event_types: told,
	});
	await use("addNotificationChannel", {
		organization_id,
		kind: "DEVICE_OWNERS",
		name: "Owners",
	});
	await use("addNotificationChannel", {
		...{ organization_id, kind: "SLACK", name: "Security" },
		...{ address: receivers.chat, event_types: told },
	});
	const fleetReport = async (n: number, status: "PASS" | "FAIL") => {
		const results = reportOf(demo.fleet, n).map((result) => ({
			...result,
			...("check_key" in result && result.check_key === CHECK && { status }),
		}));
		const answer = await fetch(`${base}/api/agent/v1/postures`, {
			method: "POST",
			body: JSON.stringify({ results }),
			headers: { authorization: `Bearer ${demo.fleet.keys[n]}` },
		});
		if (answer.status !== 204) throw new Error(await answer.text());
	};

	for (const { device, who, switchTo } of [
		{
			device: machine,
			who: "this machine (real agent)",
			switchTo: (isOn: boolean) => agent.report(isOn ? 12 : 6),
		},
		{
			device: simulated,
			who: "a simulated device",
			switchTo: (isOn: boolean) =>
				fleetReport(simulated.n, isOn ? "PASS" : "FAIL"),
		},
	]) {
		const shot = (name: string) =>
			shoot(page, `${device === machine ? "agent" : "simulated"}-${name}`);
		const kind = device === machine ? "agent" : "simulated";
		const state = async () => {
			const { device: now } = await use("getDevice", { id: device.id });
			return now.postures.find(
				(one: { check_key: string }) => one.check_key === CHECK,
			);
		};
		const mine = (type: string) =>
			receivers
				.delivered(type, secret)
				.filter(
					({ data }) =>
						data.record_id === device.id || data.device_id === device.id,
				);
		say(who);
		await switchTo(true);
		await until(
			`${who} passes`,
			async () => (await state())?.status === "PASS",
		);
		const mailsBefore = (await receivers.mails()).length;
		const chatsBefore = receivers.chats().length;

		await switchTo(false);
		begin();
		await until(
			`${who}: the webhook gets posture.failed, with a genuine signature`,
			() => mine("posture.failed").length > 0,
		);
		const opened = await until(
			`${who}: a nonconformity opens, and the webhook gets it`,
			() => mine("nonconformity.opened")[0],
		);
		await page.goto(
			`/o/${organization_id}/devices/${device.id}?check=${CHECK}`,
		);
		await page
			.getByRole("link", { name: /Nonconformity NC-/ })
			.first()
			.waitFor();
		await shot("1-device-fails");
		await page
			.getByRole("link", { name: /Nonconformity NC-/ })
			.first()
			.click();
		await page.getByText("still failing", { exact: true }).first().waitFor();
		await shot("2-nonconformity-open");
		step(`${who}: the browser shows the open nonconformity with its device`);
		await until(`${who}: the chat gets a message`, () =>
			receivers
				.chats()
				.slice(chatsBefore)
				.some((text) => text.includes(CHECK_NAME)),
		);
		const mail = await until(
			`${who}: the owner gets a mail with the steps`,
			async () =>
				(await receivers.mails())
					.slice(mailsBefore)
					.find(
						({ to, text }) => to === OWNERS[kind] && text.includes(CHECK_NAME),
					),
		);
		await openLink(page, mail.text, device === machine ? "agent" : "simulated");
		step(
			`${who}: the link in the mail shows the failing device without an account`,
		);

		await switchTo(true);
		begin();
		await until(
			`${who}: the nonconformity closes after PASS, and the webhook gets it`,
			() =>
				receivers
					.delivered("nonconformity.closed", secret)
					.find(({ data }) => data.record_id === opened.data.record_id),
		);
		await page.goto(
			`/o/${organization_id}/r/nonconformity/${opened.data.record_id}`,
		);
		await page
			.getByText(/Assay closed it on/)
			.first()
			.waitFor();
		await shot("4-nonconformity-closed");
		step(`${who}: the browser shows the closed nonconformity and the proof`);
	}
	await page.goto(`/o/${organization_id}/settings/notifications`);
	await page.getByRole("heading", { name: "Notifications" }).first().waitFor();
	await shoot(page, "5-notifications");
	await page.goto(`/o/${organization_id}/settings/webhooks`);
	await page.getByRole("heading", { name: "Webhooks" }).first().waitFor();
	await shoot(page, "6-webhooks");
	return conclude(`${toTable(["Step", "s after the switch"], steps)}\n`, []);
}

/** Returns a simulated device that reports steadily and passes the check. */
async function findSimulated(
	// biome-ignore lint/suspicious/noExplicitAny: the answers of operations have many forms.
	use: (name: string, input: object) => Promise<any>,
	ids: (string | undefined)[],
): Promise<{ id: string; n: number }> {
	for (const [n, id] of ids.entries()) {
		if (!id || roleOf(n) !== "steady") continue;
		const { device } = await use("getDevice", { id });
		const posture = device.postures.find(
			(one: { check_key: string }) => one.check_key === CHECK,
		);
		if (device.status === "ACTIVE" && posture?.status === "PASS")
			return { id, n };
	}
	throw new Error("no simulated device passes the check");
}

let begunMs = performance.now();
function begin(): void {
	begunMs = performance.now();
}

function step(name: string): void {
	const seconds = ((performance.now() - begunMs) / 1000).toFixed(0);
	say(`${name}: ${seconds} s`);
	steps.push([name, seconds]);
}

/** Waits until `read` finds something. Throws with the step's name if it takes too long. */
async function until<Found>(
	name: string,
	read: () => Found | undefined | false | Promise<Found | undefined | false>,
): Promise<Found> {
	const end = performance.now() + TIMEOUT_MS;
	while (performance.now() < end) {
		const found = await read();
		if (found) {
			step(name);
			return found;
		}
		await sleep(500);
	}
	throw new Error(`this did not happen: ${name}`);
}

/** Opens the link of a mail in a browser without an account, and presses the button. */
async function openLink(page: Page, text: string, name: string): Promise<void> {
	const link = /https?:\/\/\S+\/my-devices#\S+/.exec(text)?.[0];
	if (!link) throw new Error(`the mail has no link:\n${text}`);
	const browser = page.context().browser();
	const context = await browser?.newContext({
		viewport: { width: 390, height: 1200 },
	});
	const phone = await context?.newPage();
	if (!context || !phone) throw new Error("the browser has ended");
	await phone.goto(link);
	await phone.getByRole("button", { name: "Show my devices" }).click();
	await phone.getByText(CHECK_NAME).first().waitFor();
	await shoot(phone, `${name}-3-my-devices`);
	await context.close();
}

async function shoot(page: Page, name: string): Promise<void> {
	if (!shots) return;
	await page.screenshot({ path: join(shots, `${name}.png`) });
}

await runAndUndo(run, undo);
