import { expect, test } from "vitest";
import { findFacts } from "../../agent/facts/freebsd.ts";
import { recordedHost } from "./recorded-host.ts";
import { type Change, changed, commands } from "./recorded-table.ts";
import { GOOD_BSD } from "./recordings/freebsd.ts";

const facts = (change: Change) =>
	findFacts(recordedHost(changed(GOOD_BSD, change)));
const made = "0f1e2d3c-4b5a-11ef-8a11-0c4d2e9f7a63";

test("a machine is identified by its firmware's UUID", async () => {
	expect(await facts({})).toEqual({
		hardware_uuid: "4c4c4544-0051-4a10-8054-b7c04f4d3233",
		serial_number: "7QJTM23",
		os_version: "FreeBSD 14.5-RELEASE-p2",
	});
});

test("a board whose UUID others share is identified by its host UUID", async () => {
	expect(
		await facts(
			commands({
				"kenv -q smbios.system.uuid": "03000200-0400-0500-0006-000700080009\n",
				"kenv -q smbios.system.serial": "To be filled by O.E.M.\n",
				"sysctl -n kern.hostuuid": `${made}\n`,
			}),
		),
	).toMatchObject({ hardware_uuid: made, serial_number: undefined });
});

test("a jail does not report the identity of its host", async () => {
	expect(
		await facts(
			commands({
				"sysctl -n security.jail.jailed": "1\n",
				"sysctl -n kern.hostuuid": `${made}\n`,
			}),
		),
	).toMatchObject({ hardware_uuid: made, serial_number: undefined });
});

test("if the kernel gives no answer, the UUID comes from the file", async () => {
	const host = recordedHost({
		platform: "FREEBSD",
		files: { "/etc/hostid": `${made}\n` },
	});
	expect(await findFacts(host)).toEqual({
		hardware_uuid: made,
		serial_number: undefined,
		os_version: "",
	});
});

test("if the command for the firmware's UUID does not end, no other id replaces it", async () => {
	const kenv = { ended: "timed_out" } as const;
	expect(
		await facts(commands({ "kenv -q smbios.system.uuid": kenv })),
	).toMatchObject({ hardware_uuid: undefined, is_unread: true });
});
