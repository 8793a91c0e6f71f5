import type { Host } from "../../host.ts";

/**
 * Returns the TCP ports that accept connections from other machines, read from the kernel's own
 * tables. Returns undefined if the tables cannot be read or do not have the kernel's format.
 */
export async function findListeningPorts(
	host: Host,
): Promise<Set<number> | undefined> {
	const ports = new Set<number>();
	for (const [path, isRequired] of [
		["/proc/net/tcp", true],
		["/proc/net/tcp6", false],
	] as const) {
		const file = await host.readFile(path);
		if (file.kind === "missing" && !isRequired) continue;
		if (file.kind !== "text") return undefined;
		const [header, ...lines] = file.text.split("\n");
		if (!header?.includes("local_address")) return undefined;
		for (const line of lines) {
			if (line.trim() === "") continue;
			const match =
				/^\s{0,8}\d+: ([0-9A-F]{8}|[0-9A-F]{32}):([0-9A-F]{4}) [0-9A-F]{8,32}:[0-9A-F]{4} ([0-9A-F]{2}) /.exec(
					line,
				);
			const [, address = "", port = "", state] = match ?? [];
			if (!match) return undefined;
			// 0A is the kernel's code for the state LISTEN.
			if (state === "0A" && !isLoopback(address)) {
				ports.add(Number.parseInt(port, 16));
			}
		}
	}
	return ports;
}

/**
 * Returns true for a loopback address. The kernel prints each group of four bytes as a number in
 * the machine's byte order, which is little-endian on all machines that matter here.
 */
function isLoopback(address: string): boolean {
	return (
		/^.{6}7F$/.test(address) ||
		address === `${"0".repeat(24)}01000000` ||
		// An IPv4 loopback address may be written as an IPv6 address.
		/^0{16}FFFF0000.{6}7F$/.test(address)
	);
}
