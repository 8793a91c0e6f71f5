import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { makeLogger } from "../../src/log.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { serve } from "../../src/serve.ts";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { PASSWORD, sendTo } from "../support/console-client.ts";
import { createDatabase } from "../support/database.ts";
import { makeUser } from "../support/people.ts";

const FIRST = "the first secret, which the operator replaces later";
const SECOND = "the second secret, which comes after the first one";

test("with ASSAY_SECRET_PREVIOUS a webhook's deliveries are signed with its old and its new secret, and a chat's address moves to the new one", async () => {
	const database = await createDatabase();
	onTestFinished(() => database.drop());
	const organization_id = await createOrganization(database.pool, "Acme");
	const { email } = await makeUser(
		database,
		{ organizationId: organization_id, role: "admin" },
		{ passwordHash: await hashPassword(PASSWORD) },
	);
	const received: { headers: IncomingHttpHeaders; body: string }[] = [];
	const receiver = createServer(async (request, response) => {
		let body = "";
		for await (const chunk of request) body += chunk;
		received.push({ headers: request.headers, body });
		response.end();
	});
	receiver.listen(0, "127.0.0.1");
	onTestFinished(() => {
		receiver.close();
	});
	await once(receiver, "listening");
	const { port } = receiver.address() as AddressInfo;

	/** Starts the service with these secrets. Returns a function that calls its operations. */
	async function start(ASSAY_SECRET: string, ASSAY_SECRET_PREVIOUS = "") {
		const service = await serve(
			readConfig({
				ASSAY_PORT: "0",
				ASSAY_OUTGOING_NETWORKS: "127.0.0.1",
				DATABASE_URL: database.url,
				ASSAY_SECRET,
				ASSAY_SECRET_PREVIOUS,
			}),
			makeLogger("silent"),
		);
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
		return { use, close: service.close };
	}

	/** Sends a test event. Returns which of the secrets verify it. */
	async function verifiedBy(
		{ use }: Awaited<ReturnType<typeof start>>,
		id: string,
		secrets: string[],
	) {
		const before = received.length;
		await use("testWebhook", { id });
		await expect.poll(() => received.length).toBe(before + 1);
		const { headers, body } = received[before] ?? { headers: {}, body: "" };
		const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`;
		const signatures = String(headers["webhook-signature"]).split(" ");
		return secrets.map((secret) => {
			const key = Buffer.from(secret.replace("whsec_", ""), "base64");
			const mine = createHmac("sha256", key).update(signed).digest("base64");
			return signatures.includes(`v1,${mine}`);
		});
	}

	const before = await start(FIRST);
	const { webhook, secret: old } = await before.use("addWebhook", {
		url: `http://127.0.0.1:${port}/hook`,
		event_types: ["posture.failed"],
	});
	const { channel } = await before.use("addNotificationChannel", {
		kind: "SLACK",
		name: "Team",
		address: `http://127.0.0.1:${port}/chat`,
	});
	await before.close();

	/** Sends a test message to the chat, and waits until it arrives. */
	async function tryChat({ use }: Awaited<ReturnType<typeof start>>) {
		const count = received.length;
		await use("testNotificationChannel", { id: channel.id });
		await expect.poll(() => received.length).toBe(count + 1);
	}

	const during = await start(SECOND, FIRST);
	const { secret } = await during.use("rotateWebhookSecret", {
		id: webhook.id,
	});
	expect(await verifiedBy(during, webhook.id, [old, secret])).toEqual([
		true,
		true,
	]);
	await tryChat(during);
	await during.close();

	const after = await start(SECOND);
	expect(await verifiedBy(after, webhook.id, [old, secret])).toEqual([
		false,
		true,
	]);
	await tryChat(after);
	await after.close();
});
