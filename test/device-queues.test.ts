import { afterAll, beforeAll, expect, test } from "vitest";
import { makeSecret } from "../src/access/token.ts";
import {
	heartbeatBody,
	startService,
	type TestDevice,
	type TestService,
} from "./service.ts";

let assay: TestService;
beforeAll(async () => {
	assay = await startService();
});
afterAll(() => assay.close());

const beat = ({ key, hardwareUuid }: TestDevice) =>
	assay.post("heartbeat", heartbeatBody({ hardware_uuid: hardwareUuid }), {
		key,
	});

const statusesOf = async (answers: Promise<Response>[]) =>
	(await Promise.all(answers)).map(({ status }) => status);

async function activate(
	count: number,
	organizationId?: string,
): Promise<TestDevice[]> {
	const devices: TestDevice[] = [];
	while (devices.length < count) {
		devices.push(await assay.activateDevice(organizationId));
	}
	return devices;
}

test("a thousand heartbeats of one invented key at once take no device's place, and are 401 or 503", async () => {
	const devices = await activate(40);
	const key = makeSecret("dev");
	const crowd: Promise<Response>[] = [];
	const beats: Promise<Response>[] = [];
	while (crowd.length < 1000) {
		for (let number = 0; number < 100; number++) {
			crowd.push(assay.post("heartbeat", heartbeatBody(), { key }));
		}
		beats.push(...devices.splice(0, 4).map(beat));
		// Requests that are all read in one turn are refused for the processor's sake.
		await new Promise((resolve) => setTimeout(resolve, 5));
	}
	expect(await statusesOf(beats)).toEqual(Array(40).fill(200));
	expect(new Set(await statusesOf(crowd))).toEqual(new Set([401, 503]));
});
