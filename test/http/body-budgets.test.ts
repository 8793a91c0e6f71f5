import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { makeSecret } from "../../src/tokens/secret.ts";
import { PASSWORD } from "../support/console-client.ts";
import { startConsole, type TestConsole } from "../support/console-session.ts";
import { makeUser } from "../support/people.ts";
import { RawConnection, type RawResponse } from "../support/raw-http.ts";
import {
	heartbeatBody,
	startService,
	type TestDevice,
} from "../support/service.ts";

const MIB = 1 << 20;

let served: TestConsole;
let device: TestDevice;
beforeAll(async () => {
	served = await startConsole();
	device = await served.activateDevice();
});
afterAll(() => served.close());

const beat = ({ key, hardwareUuid }: TestDevice) =>
	served.post("heartbeat", heartbeatBody({ hardware_uuid: hardwareUuid }), {
		key,
	});

/** Sends a request of 1 MiB except for its last byte. */
function sendHalf(path: string, headers: string[]): RawConnection {
	const { url } = served.service;
	return new RawConnection(url).send(
		[
			`POST ${path} HTTP/1.1`,
			`host: ${new URL(url).host}`,
			...headers,
			`content-length: ${MIB}`,
			"",
			" ".repeat(MIB - 1),
		].join("\r\n"),
	);
}

const sendReport = (key: string) =>
	sendHalf("/api/agent/v1/postures", [`authorization: Bearer ${key}`]);

/** Sends unfinished requests until one of them is answered, and returns the answer. */
async function sendUntilAnswered(
	send: () => RawConnection,
	most = 100,
): Promise<RawResponse> {
	let answer: RawResponse | undefined;
	for (let sent = 0; sent < most && !answer; sent++) {
		send()
			.response()
			.then(
				(response) => {
					answer ??= response;
				},
				() => {},
			);
		await new Promise((resolve) => setTimeout(resolve, 5));
	}
	await expect.poll(() => answer).toBeDefined();
	return answer as unknown as RawResponse;
}

test("unfinished reports with invented keys leave devices their heartbeats and reports", async () => {
	const answer = await sendUntilAnswered(() => sendReport(makeSecret("dev")));
	expect(answer.status).toBe(401);
	expect((await beat(device)).status).toBe(200);
	const unfinished = sendReport(device.key);
	expect((await beat(device)).status).toBe(200);
	const rejected = await unfinished.send("x").response();
	expect(rejected.status).toBe(400);
	// One device cannot take the memory of all devices either.
	const other = await served.activateDevice();
	const full = await sendUntilAnswered(() => sendReport(device.key));
	expect(full.status).toBe(503);
	expect(full.headers["retry-after"]).toMatch(/^\d+$/);
	expect((await beat(other)).status).toBe(200);
});

test("a user's unfinished calls have a limit, and leave other users their calls", async () => {
	const { cookie } = await served.signIn("viewer");
	const other = await served.signIn("viewer");
	const answer = await sendUntilAnswered(() =>
		sendHalf("/api/console/listRisks", [
			`origin: ${served.service.url}`,
			`cookie: ${cookie}`,
			"content-type: application/json",
		]),
	);
	expect(answer.status).toBe(503);
	const { organizationId: organization_id } = served;
	await other.use("listRisks", { organization_id });
});

test("unfinished sign-ins from one network leave other networks theirs", async () => {
	const { service, database, organizationId, close } = await startService(
		undefined,
		{ ASSAY_TRUSTED_PROXIES: "127.0.0.1" },
	);
	onTestFinished(close);
	const { url } = service;
	const { email } = await makeUser(
		database,
		{ organizationId, role: "viewer" },
		{ passwordHash: await hashPassword(PASSWORD) },
	);
	const sendHalfSignIn = () =>
		new RawConnection(url).send(
			[
				"POST /api/auth/sign-in/email HTTP/1.1",
				`host: ${new URL(url).host}`,
				`origin: ${url}`,
				"x-forwarded-for: 203.0.113.7",
				"content-type: application/json",
				"content-length: 16384",
				"",
				" ".repeat(16 * 1024 - 1),
			].join("\r\n"),
		);
	expect((await sendUntilAnswered(sendHalfSignIn, 1_200)).status).toBe(503);
	const signIn = await fetch(`${url}/api/auth/sign-in/email`, {
		method: "POST",
		headers: {
			origin: url,
			"x-forwarded-for": "198.51.100.9",
			"content-type": "application/json",
		},
		// The unfinished bodies leave one byte each.
		body: JSON.stringify({ email, password: PASSWORD }) + " ".repeat(4_000),
	});
	expect(signIn.status).toBe(200);
});
