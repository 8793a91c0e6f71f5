import type { Host } from "../../host.ts";
import { type CheckOutcome, fail, pass, unknown } from "../check.ts";
import { productsBy } from "../remote-control-products.ts";
import { judgeSshd } from "../sshd.ts";
import { findProgramNames } from "./processes.ts";

/**
 * Services that give access to a desktop or a shell with a password. For the services that inetd
 * starts, the check reads inetd's settings instead.
 */
const SERVICES: Record<string, string> = {
	...Object.fromEntries(productsBy("unix")),
	telnetd: "telnet",
	rlogind: "rlogin",
	rshd: "rsh",
	"xrdp-sesman": "rdp",
	xrdp: "rdp",
	Xvnc: "vnc",
	x11vnc: "vnc",
	wayvnc: "vnc",
	x0vncserver: "vnc",
};

/**
 * Returns PASS if nobody can sign in from another machine with only a password. This is the case if
 * there is no remote desktop, product for remote control, telnet or rlogin, and SSH is off or
 * passes `judgeSshd`. The check ignores packet filters, and the addresses on which a server
 * listens.
 */
export async function checkRemoteLogin(host: Host): Promise<CheckOutcome> {
	const names = await findProgramNames(host);
	if (names === undefined)
		return unknown(host.isPrivileged ? "processes_not_readable" : "needs_root");
	const running = Object.keys(SERVICES).filter((name) => names.has(name));
	const services = new Set(running.map((name) => SERVICES[name]));
	if (names.has("inetd")) {
		const offered = await readInetd(host);
		if (offered === undefined) return unknown("inetd_settings_not_readable");
		for (const service of offered) services.add(service);
	}
	if (services.has("ssh")) return unknown("ssh_behind_inetd");
	if (services.size > 0) return fail({ open_services: [...services].sort() });
	return names.has("sshd")
		? judgeSshd(host, { ssh_running: true })
		: pass({ ssh_running: false });
}

/**
 * Returns the services that inetd offers, read from lines such as `telnet stream tcp nowait root
 * /usr/libexec/telnetd telnetd`.
 */
async function readInetd(host: Host): Promise<string[] | undefined> {
	const file = await host.readFile("/etc/inetd.conf");
	if (file.kind !== "text") return undefined;
	const offered: string[] = [];
	for (const line of file.text.split("\n")) {
		const [, name] =
			/^(telnet|login|shell|ssh)[ \t]+stream[ \t]/.exec(line) ?? [];
		if (name !== undefined)
			offered.push(
				name === "login" ? "rlogin" : name === "shell" ? "rsh" : name,
			);
	}
	return offered;
}
