import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { configOfCopy } from "../../src/cli/copy.ts";
import { readConfig } from "../../src/config/config.ts";
import { makeLogger } from "../../src/log.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { serve } from "../../src/serve.ts";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { PASSWORD, sendTo } from "../support/console-client.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";
import { findFreePort } from "../support/free-port.ts";
import { makeUser } from "../support/people.ts";
import { startAssay } from "../support/program.ts";
import { openSmtpSink } from "../support/smtp-sink.ts";
import { until } from "../support/until.ts";
import { makeReceiver } from "../webhooks/receiver.ts";

let database: TestDatabase;
let settings: Record<string, string>;
beforeAll(async () => {
	database = await createDatabase();
	settings = {
		ASSAY_PORT: "0",
		ASSAY_BASE_URL: "https://assay.example.com",
		ASSAY_METRICS_PORT: String(await findFreePort()),
		DATABASE_URL: database.url,
	};
});
afterAll(() => database.drop());

test("a copy starts beside the service, and a second service with the same port of metrics says in one line why it does not", async () => {
	const service = await startAssay(settings);
	onTestFinished(async () => {
		await service.stop("SIGTERM");
	});
	const copy = await startAssay(settings, { copy: true });
	expect((await fetch(`${copy.url}/health/ready`)).status).toBe(200);
	expect(copy.metricsUrl).toBeUndefined();
	expect(await copy.stop("SIGTERM")).toBe(0);

	// A failed start that leaves a job running is ended by force, after the job has found its pool
	// closed.
	const code = encodeURIComponent(
		`const { exit } = process;
		process.exit = (code) => { console.error("ended by force"); exit(code); };`,
	);
	const second = await startAssay({
		...settings,
		NODE_OPTIONS: `--import=data:text/javascript,${code}`,
	}).catch(({ message }) => message);
	expect(second).toContain(
		`another program already listens on 127.0.0.1:${settings.ASSAY_METRICS_PORT}; stop that program, or set ASSAY_METRICS_PORT to a free port`,
	);
	expect(second).not.toMatch(/ended by force|calling end|"stack"|\.ts:\d/);
});

test("a copy is for this machine, and sends neither mail nor webhooks", async () => {
	const receiver = makeReceiver();
	const sink = await openSmtpSink();
	const config = configOfCopy(
		readConfig({
			...settings,
			ASSAY_HOST: "0.0.0.0",
			ASSAY_OUTGOING_NETWORKS: "127.0.0.1",
			ASSAY_SMTP_URL: sink.url,
			ASSAY_MAIL_FROM: "Assay <assay@example.com>",
			ASSAY_SECRET: "of-the-service-".padEnd(40, "x"),
		}),
	);
	const organization_id = await createOrganization(database.pool, "Acme");
	const { email } = await makeUser(
		database,
		{ organizationId: organization_id, role: "admin" },
		{ passwordHash: await hashPassword(PASSWORD) },
	);
	const service = await serve(config, makeLogger("silent"));
	expect(service.url).toContain("//127.0.0.1:");
	const { cookie } = await sendTo(service.url, "/api/auth/sign-in/email", {
		email,
		password: PASSWORD,
	});
	const use = async (name: string, input: object) => {
		const { status, body } = await sendTo(
			service.url,
			`/api/console/${name}`,
			{ organization_id, ...input },
			{ cookie },
		);
		expect(status, JSON.stringify(body)).toBe(200);
		return body;
	};
	await use("addWebhook", {
		url: await receiver.listen(),
		event_types: ["record.created"],
	});
	await use("addVendor", { name: "Cloud" });
	const invited = await use("inviteMember", {
		email: "bob@example.com",
		role: "viewer",
	});
	expect(invited).toMatchObject({ is_mailed: false });
	await until("a queued delivery", async () => {
		service.wake();
		const { rowCount } = await database.owner.query(
			"select from webhook_deliveries",
		);
		return rowCount;
	});
	service.wake();
	// This waits for everything that is being sent.
	await service.close();
	expect(receiver.received).toEqual([]);
	expect(sink.waiting()).toBe(0);
	sink.close();
	receiver.close();
});
