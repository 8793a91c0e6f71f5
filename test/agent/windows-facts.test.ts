import { expect, test } from "vitest";
import { FACTS_SCRIPT, findFacts } from "../../agent/facts/windows.ts";
import { CIM_DENIED, values, windowsHost } from "./windows-recording.ts";

const laptop = {
	product: values({ UUID: "4C4C4544-0042-3510-8056-B7C04F4D5933" }),
	bios: values({ SerialNumber: "7B5VMY3" }),
	machineGuid: "c8bb8a3c-5b0e-4f0a-9d3f-1f8f0f1f9c11",
	name: "Windows 10 Pro",
	version: "24H2",
	olderVersion: "2009",
	build: "26100",
	revision: 2605,
	installation: "Client",
};
const facts = (fields: object) =>
	findFacts(windowsHost(FACTS_SCRIPT, { ...laptop, ...fields }));

test("a Windows 11, whose registry says 10, is named by its build", async () => {
	expect(await facts({})).toEqual({
		hardware_uuid: "4c4c4544-0042-3510-8056-b7c04f4d5933",
		serial_number: "7B5VMY3",
		os_version: "Windows 11 Pro 24H2 (26100.2605)",
	});
});

test.each([
	[
		"Windows 10 Enterprise LTSC 2019 without a display version",
		{
			name: "Windows 10 Enterprise LTSC 2019",
			version: "",
			olderVersion: "1809",
			build: "17763",
			revision: 6532,
		},
		"Windows 10 Enterprise LTSC 2019 1809 (17763.6532)",
	],
	[
		"a server, which keeps its name",
		{
			name: "Windows Server 2025 Datacenter",
			installation: "Server",
			revision: 32690,
		},
		"Windows Server 2025 Datacenter 24H2 (26100.32690)",
	],
	[
		"a name with invalid characters",
		{ name: "Windows\u0000<b>", build: null, version: null, olderVersion: "" },
		"Windows",
	],
])("%s", async (_, fields, version) => {
	expect((await facts(fields)).os_version).toBe(version);
});

test.each([
	"00000000-0000-0000-0000-000000000000",
	"FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
	"03000200-0400-0500-0006-000700080009",
	"not a number",
])("if the board's UUID is %s, the installation's id is used", async (UUID) => {
	const { hardware_uuid } = await facts({ product: values({ UUID }) });
	expect(hardware_uuid).toBe(laptop.machineGuid);
});

test("a user who may not ask the firmware reports the installation's id", async () => {
	const denied = { ...laptop, product: CIM_DENIED, bios: CIM_DENIED };
	const user = windowsHost(FACTS_SCRIPT, denied, { isPrivileged: false });
	const found = await findFacts(user);
	expect(found.hardware_uuid).toBe(laptop.machineGuid);
	expect(found.is_unread).toBeUndefined();
	expect(found.serial_number).toBeUndefined();
});

test.each([
	[
		"WMI is out of memory",
		{
			error:
				"HRESULT 0x80041006,Microsoft.Management.Infrastructure.CimCmdlets.GetCimInstanceCommand",
		},
	],
	[
		"WMI rebuilds its repository",
		{
			error:
				"HRESULT 0x80041010,Microsoft.Management.Infrastructure.CimCmdlets.GetCimInstanceCommand",
		},
	],
	["WMI returns nothing", values()],
	["WMI denies even the agent's service", CIM_DENIED],
])("if %s, no other id replaces the firmware's", async (_, product) => {
	expect(await facts({ product })).toMatchObject({
		hardware_uuid: undefined,
		is_unread: true,
	});
});

test("if PowerShell does not end in time, the id is not read", async () => {
	const host = windowsHost(FACTS_SCRIPT, { result: { ended: "timed_out" } });
	expect(await findFacts(host)).toMatchObject({
		hardware_uuid: undefined,
		is_unread: true,
	});
});

test.each([
	"To be filled by O.E.M.",
	"Default string",
	"System Serial Number",
	"None",
	"0",
	"000000000",
	"Not Specified",
	"N/A",
])("%s is not reported as a serial number", async (SerialNumber) => {
	const { serial_number } = await facts({ bios: values({ SerialNumber }) });
	expect(serial_number).toBeUndefined();
});
