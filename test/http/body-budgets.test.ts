import { afterAll, beforeAll, expect, test } from "vitest";
import { makeSecret } from "../../src/tokens/secret.ts";
import { startConsole, type TestConsole } from "../support/console-session.ts";
import { RawConnection, type RawResponse } from "../support/raw-http.ts";
import { heartbeatBody, type TestDevice } from "../support/service.ts";

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
): Promise<RawResponse> {
	let answer: RawResponse | undefined;
	for (let sent = 0; sent < 100 && !answer; sent++) {
		send()
			.response()
			.then(
				(response) => {
					answer ??= response;
				},
				() => {},
			);
		await new Promise((resolve) => setTimeout(resolve, 10));
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
