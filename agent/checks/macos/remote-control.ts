import type { Host } from "../../host.ts";
import { remoteControlAt } from "../remote-control-ports.ts";
import { productsBy } from "../remote-control-products.ts";

const RDP = 3389;

const PROGRAMS = productsBy("mac");

/**
 * Returns our names for the products through which somebody may control the Mac from elsewhere. A
 * product counts if its program runs or its usual port listens on an address other than the
 * loopback. Returns undefined if the programs or the ports cannot be listed.
 */
export async function findRemoteControl(
	host: Host,
): Promise<string[] | undefined> {
	const programs = await findPrograms(host);
	const ports = await findPorts(host);
	if (!programs || !ports) return undefined;
	const found = new Set<string>();
	for (const program of programs) {
		const name = PROGRAMS.get(program);
		if (name) found.add(name);
	}
	for (const port of ports) {
		const name = port === RDP ? "rdp" : remoteControlAt(port);
		if (name) found.add(name);
	}
	return [...found].sort();
}

/** Returns the names of all programs that run. `ps` prints the path of each. */
async function findPrograms(host: Host): Promise<Set<string> | undefined> {
	const result = await host.run("ps", ["-axwwo", "comm="]);
	if (result.ended !== "exited" || result.exitCode !== 0) return undefined;
	const paths = result.stdout.split("\n").map((line) => line.trim());
	// Without the first process, the list is not one of all processes.
	if (!paths.includes("/sbin/launchd")) return undefined;
	return new Set(paths.map((path) => path.slice(path.lastIndexOf("/") + 1)));
}

/** Returns the TCP ports that accept connections from other machines. */
async function findPorts(host: Host): Promise<Set<number> | undefined> {
	const result = await host.run("netstat", ["-an", "-p", "tcp"]);
	if (result.ended !== "exited" || result.exitCode !== 0) return undefined;
	if (!/^Proto .*Local Address/m.test(result.stdout)) return undefined;
	const ports = new Set<number>();
	for (const [, address = "", port] of result.stdout.matchAll(
		/^tcp\S* +\d+ +\d+ +(\S+)\.(\d{1,5}) +\S+ +LISTEN\b/gm,
	)) {
		if (!/^(127\..*|::1|fe80::1(%lo0)?)$/.test(address))
			ports.add(Number(port));
	}
	return ports;
}
