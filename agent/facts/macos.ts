import { versionField } from "../checks/macos/os-version.ts";
import type { FactFinder } from "../facts.ts";
import type { Host } from "../host.ts";

/**
 * Returns the UUID and the serial number from the device tree, and a version such as "macOS 15.3
 * (24D60)". Every Mac has a UUID, so a tree without one was not read.
 */
export const findFacts: FactFinder = async (host) => {
	const tree = await host.run("ioreg", [
		"-rd1",
		"-c",
		"IOPlatformExpertDevice",
	]);
	const uuid = property(tree.stdout, "IOPlatformUUID");
	const serial = property(tree.stdout, "IOPlatformSerialNumber");
	const { stdout } = await host.run("sw_vers");
	const version = versionField(stdout, "ProductVersion");
	const build = versionField(stdout, "BuildVersion");
	const hostname =
		(await readName(host, "HostName")) ??
		(await readName(host, "LocalHostName"));
	return {
		...(/^[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}$/i.test(uuid ?? "")
			? { hardware_uuid: uuid }
			: { hardware_uuid: undefined, is_unread: true }),
		...(hostname !== undefined && { hostname }),
		// A virtual machine may have no serial number, or the serial number 0.
		serial_number: /^[A-Z0-9+/=-]{4,64}$/i.test(serial ?? "")
			? serial
			: undefined,
		os_version:
			version === undefined
				? ""
				: `macOS ${version}${build === undefined ? "" : ` (${build})`}`,
	};
};

/**
 * Returns a name that somebody gave to this Mac in its settings. Without a fixed `HostName`,
 * `gethostname` follows DHCP and DNS, and so changes with the network.
 */
async function readName(
	host: Host,
	name: "HostName" | "LocalHostName",
): Promise<string | undefined> {
	const { exitCode, stdout } = await host.run("scutil", ["--get", name]);
	return (exitCode === 0 && stdout.trim()) || undefined;
}

/** Returns the value of a property from a line such as `    "IOPlatformUUID" = "564D…"`. */
function property(tree: string, name: string): string | undefined {
	return new RegExp(`^[ |]*"${name}" = "([^"]{1,64})"\\s*$`, "m").exec(
		tree,
	)?.[1];
}
