import { expect, test } from "vitest";
import { findFacts } from "../../agent/facts/linux.ts";
import { type Recording, recordedHost } from "./recorded-host.ts";
import { CONTAINER, linux, MACHINE, OS_RELEASE } from "./recordings/linux.ts";

const find = (files: Recording["files"]) =>
	findFacts(recordedHost(linux({ files: { ...MACHINE, ...files } })));

const UUID = "/sys/class/dmi/id/product_uuid";
const SERIAL = "/sys/class/dmi/id/product_serial";
const MACHINE_ID = { "/etc/machine-id": "0123456789abcdef0123456789abcdef\n" };

test("a laptop is identified by its firmware's UUID", async () => {
	expect(
		await find({
			...MACHINE_ID,
			[UUID]: "4C4C4544-0042-3510-8051-B4C04F4B3233\n",
			[SERIAL]: "PF3ABCDE\n",
			"/etc/os-release": OS_RELEASE.ubuntu,
		}),
	).toEqual({
		hardware_uuid: "4c4c4544-0042-3510-8051-b4c04f4b3233",
		serial_number: "PF3ABCDE",
		os_version: "Ubuntu 24.04.2 LTS",
	});
});

test.each([
	"00000000-0000-0000-0000-000000000000",
	"FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
	"03000200-0400-0500-0006-000700080009",
	"Not Settable",
	"",
])("the UUID %j does not identify a machine, so the system's own id is used", async (junk) => {
	const { hardware_uuid } = await find({ ...MACHINE_ID, [UUID]: `${junk}\n` });
	expect(hardware_uuid).toMatch(
		/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
	);
});

test("if reading the firmware's UUID fails, no other id replaces it", async () => {
	const broken = { [UUID]: { kind: "unreadable" } } as const;
	expect(await find({ ...MACHINE_ID, ...broken })).toMatchObject({
		hardware_uuid: undefined,
		is_unread: true,
	});
	const enclosed = await find({ ...CONTAINER, ...MACHINE_ID, ...broken });
	expect(enclosed.hardware_uuid).toBeDefined();
});

test("the derived id is the same each time and does not reveal the machine id", async () => {
	const denied = { [UUID]: { kind: "denied" } } as const;
	const { hardware_uuid } = await find({ ...MACHINE_ID, ...denied });
	expect((await find({ ...MACHINE_ID, ...denied })).hardware_uuid).toBe(
		hardware_uuid,
	);
	expect(hardware_uuid?.replaceAll("-", "")).not.toBe(
		"0123456789abcdef0123456789abcdef",
	);
	const other = {
		"/etc/machine-id": "fedcba9876543210fedcba9876543210\n",
		...denied,
	};
	expect((await find(other)).hardware_uuid).not.toBe(hardware_uuid);
});

test.each([
	undefined,
	"",
	"uninitialized\n",
	`${"0".repeat(32)}\n`,
])("a system whose machine id is %j has no derived id", async (id) => {
	const { hardware_uuid } = await find(
		id === undefined ? {} : { "/etc/machine-id": id },
	);
	expect(hardware_uuid).toBeUndefined();
});

test("a container does not report its host's firmware", async () => {
	const firmware = {
		[UUID]: "4C4C4544-0042-3510-8051-B4C04F4B3233\n",
		[SERIAL]: "PF3ABCDE\n",
	};
	expect(await find({ ...CONTAINER, ...firmware })).toEqual({
		hardware_uuid: undefined,
		serial_number: undefined,
		os_version: "Linux",
	});
});

test.each([
	"To be filled by O.E.M.",
	"Default string",
	"None",
	"Not Specified",
	"System Serial Number",
	"0000000000",
	"0123456789",
	"N/A",
	"\u001b[31mPF3",
])("%j is not reported as a serial number", async (junk) => {
	expect((await find({ [SERIAL]: `${junk}\n` })).serial_number).toBeUndefined();
});

test("on a board with a device tree, the serial number comes from there", async () => {
	const found = await find({
		"/proc/device-tree/serial-number": "10000000a1b2c3d4\0",
		"/etc/os-release": OS_RELEASE.debian,
	});
	expect(found.serial_number).toBe("10000000a1b2c3d4");
	expect(found.os_version).toBe("Debian GNU/Linux 12 (bookworm)");
});

test("a name of the system is short and has no control characters", async () => {
	const text = `ID=x\nPRETTY_NAME="A\u001b[31mB ${"x".repeat(5000)}"\n`;
	const { os_version } = await find({ "/etc/os-release": text });
	expect(os_version).toMatch(/^A \[31mB x+$/);
	expect(os_version.length).toBeLessThanOrEqual(200);
	expect((await find({})).os_version).toBe("Linux");
});
