import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { FACTS_SCRIPT } from "../../agent/facts/windows.ts";
import { collectFacts, showFacts } from "../../agent/facts.ts";
import type { Host } from "../../agent/host.ts";
import { install } from "../../agent/install.ts";
import { once } from "../../agent/once.ts";
import { readState } from "../../agent/state.ts";
import { makeAgentFolder, makeParts } from "./folders.ts";
import { recordedHost } from "./recorded-host.ts";
import { startScriptedService } from "./scripted-service.ts";
import { NO_NAMESPACE, values, windowsHost } from "./windows-recording.ts";

const FIRMWARE = "4c4c4544-0042-3510-8056-b7c04f4d5933";
const laptop = {
	product: values({ UUID: FIRMWARE }),
	bios: values({ SerialNumber: "7B5VMY3" }),
	machineGuid: "c8bb8a3c-5b0e-4f0a-9d3f-1f8f0f1f9c11",
	name: "Windows 11 Pro",
	build: "26100",
	installation: "Client",
};
const working = windowsHost(FACTS_SCRIPT, laptop);
const failing = windowsHost(FACTS_SCRIPT, {
	...laptop,
	product: NO_NAMESPACE,
	bios: NO_NAMESPACE,
});
const slow = windowsHost(FACTS_SCRIPT, { result: { ended: "timed_out" } });
const placeholder = windowsHost(FACTS_SCRIPT, {
	...laptop,
	product: values({ UUID: "00000000-0000-0000-0000-000000000000" }),
});

const identity = async (host: Host, folder: string) => {
	const facts = await collectFacts(host, folder);
	return facts && [facts.hardware_uuid, facts.serial_number];
};
const known = [FIRMWARE, "7B5VMY3"];

test("a query that fails changes neither the id nor the serial number", async () => {
	const folder = await makeAgentFolder();
	expect(await identity(working, folder)).toEqual(known);
	expect(await identity(failing, folder)).toEqual(known);
	expect(await identity(slow, folder)).toEqual(known);
	expect(await identity(working, folder)).toEqual(known);
});

test("without an answer at first, the agent makes no id up and stores none", async () => {
	const folder = await makeAgentFolder();
	for (const host of [slow, failing]) {
		expect(await identity(host, folder)).toBeUndefined();
		expect(await showFacts(host, folder)).toMatchObject({
			hardware_uuid: null,
		});
	}
	await expect(readFile(join(folder, "hardware.json"))).rejects.toThrow(
		"ENOENT",
	);
	expect(await identity(working, folder)).toEqual(known);
});

test("hardware with another id is reported as other hardware, without the serial number of before", async () => {
	const folder = await makeAgentFolder();
	await collectFacts(working, folder);
	const copy = windowsHost(FACTS_SCRIPT, {
		...laptop,
		product: values({ UUID: "5d5d5544-0042-3510-8056-b7c04f4d5933" }),
		bios: NO_NAMESPACE,
	});
	expect(await identity(copy, folder)).toEqual([
		"5d5d5544-0042-3510-8056-b7c04f4d5933",
		undefined,
	]);
	expect(await identity(placeholder, folder)).toEqual([
		laptop.machineGuid,
		"7B5VMY3",
	]);
});

test("a device without any id gets one once", async () => {
	const folder = await makeAgentFolder();
	const empty = recordedHost({ platform: "LINUX" });
	const first = await identity(empty, folder);
	expect(first?.[0]).toMatch(/^[0-9a-f-]{36}$/);
	expect(await identity(empty, folder)).toEqual(first);
});

test("a device that does not say its hardware enrolls, and becomes active when it does", async () => {
	const service = await startScriptedService();
	const folder = await makeAgentFolder();
	process.env.ASSAY_ENROLLMENT_TOKEN = "asy_enr_x";
	const installed = await install(
		{ serverUrl: service.url, folder },
		makeParts(slow),
	).finally(() => {
		delete process.env.ASSAY_ENROLLMENT_TOKEN;
	});
	expect(installed.device_id).toBeNull();
	expect(installed.warnings.join()).toContain("does not say which hardware");
	expect(service.seen.map(({ route }) => route)).toEqual(["enroll"]);
	expect((await readState(folder))?.trouble?.reason).toContain("WMI");

	await once({ folder, ...makeParts(working) });
	expect(service.seen[1]).toMatchObject({
		route: "heartbeat",
		body: { hardware_uuid: FIRMWARE },
	});
	expect((await readState(folder))?.trouble).toBeNull();
});
