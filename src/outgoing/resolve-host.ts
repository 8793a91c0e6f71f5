import { Resolver } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { join } from "node:path";

const HOSTS_FILE =
	process.platform === "win32"
		? join(process.env.SystemRoot ?? "", "System32/drivers/etc/hosts")
		: "/etc/hosts";

/**
 * Returns the addresses of a host: itself, those in the system's file of hosts, or those of DNS.
 * `servers` are the DNS servers to ask, by default those of the system.
 *
 * `dns.lookup` would do the same, but it blocks a thread of the process until DNS answers. A few
 * names whose DNS server never answers would hold up everything else that looks up a name, such as
 * new connections to the database.
 */
export async function resolveHost(
	host: string,
	servers?: readonly string[],
): Promise<string[]> {
	if (isIP(host)) return [host];
	if (host === "localhost") return ["127.0.0.1"];
	const known = await fromHostsFile(host);
	if (known.length > 0) return known;
	const resolver = new Resolver({ timeout: 2_000, tries: 2 });
	if (servers) resolver.setServers(servers);
	const answers = await Promise.allSettled([
		resolver.resolve4(host),
		resolver.resolve6(host),
	]);
	const found = answers.flatMap((answer) =>
		answer.status === "fulfilled" ? answer.value : [],
	);
	if (found.length > 0) return found;
	const { reason } = answers[0] as PromiseRejectedResult;
	throw new Error(`${host} has no address in DNS (${reason.code})`);
}

async function fromHostsFile(host: string): Promise<string[]> {
	const text = await readFile(HOSTS_FILE, "utf8").catch(() => "");
	return text
		.split("\n")
		.map((line) => line.replace(/#.*/, "").trim().toLowerCase().split(/\s+/))
		.filter(([, ...names]) => names.includes(host.toLowerCase()))
		.map(([address = ""]) => address)
		.filter((address) => isIP(address));
}
