import { expect, test } from "vitest";
import { findFacts } from "../../agent/facts/macos.ts";
import { recordedHost } from "./recorded-host.ts";
import { type Change, changed, commands } from "./recorded-table.ts";
import { GOOD_MAC } from "./recordings/macos.ts";

const facts = (change: Change) =>
	findFacts(recordedHost(changed(GOOD_MAC, change)));

test("a Mac reports its platform UUID and serial number", async () => {
	expect(await facts({})).toEqual({
		hardware_uuid: "6F1C3B0A-92D4-5E7B-8A11-0C4D2E9F7A63",
		serial_number: "F2LW7K9QXH",
		os_version: "macOS 26.1 (25B78)",
	});
});

test("a virtual machine without a serial number reports none", async () => {
	const tree = `    {\n      "IOPlatformSerialNumber" = "0"\n      "IOPlatformUUID" = "564D8D2A-1111-2222-3333-444455556666"\n    }\n`;
	expect(
		await facts(commands({ "ioreg -rd1 -c IOPlatformExpertDevice": tree })),
	).toMatchObject({
		hardware_uuid: "564D8D2A-1111-2222-3333-444455556666",
		serial_number: undefined,
	});
});

test("facts that cannot be found are left out, and a missing UUID was not read", async () => {
	expect(await findFacts(recordedHost({ platform: "DARWIN" }))).toEqual({
		hardware_uuid: undefined,
		is_unread: true,
		serial_number: undefined,
		os_version: "",
	});
});

test.each([
	[
		"the name that an administrator gave it",
		{ "scutil --get HostName": "mac-0107.corp.example\n" },
		"mac-0107.corp.example",
	],
	[
		"otherwise the name in its settings, which no network changes",
		{ "scutil --get HostName": { exitCode: 1, stdout: "HostName: not set\n" } },
		"MacBook-Pro-7",
	],
])("a Mac reports %s", async (_, changes, hostname) => {
	const names = { "scutil --get LocalHostName": "MacBook-Pro-7\n" };
	expect(await facts(commands({ ...names, ...changes }))).toMatchObject({
		hostname,
	});
});
