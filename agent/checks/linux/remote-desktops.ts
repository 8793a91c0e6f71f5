import type { Host } from "../../host.ts";
import { remoteControlAt } from "../remote-control-ports.ts";
import { productsBy } from "../remote-control-products.ts";
import { isSandboxedApp, type Process, readArguments } from "./processes.ts";
import { readText } from "./read-text.ts";

/**
 * Ports of services that send passwords in clear text or give access to a whole desktop. Port 514
 * (rsh) is left out, because the log service listens there too.
 */
const SERVICES: Record<number, string> = {
	23: "telnet",
	512: "rexec",
	513: "rlogin",
	3389: "rdp",
};

/** Servers for remote control, by the name of their process, which has at most 15 characters. */
const SERVERS: Record<string, string> = {
	...Object.fromEntries(productsBy("unix")),
	xrdp: "xrdp",
	Xvnc: "vnc",
	Xtigervnc: "vnc",
	Xtightvnc: "vnc",
	x11vnc: "vnc",
	x0vncserver: "vnc",
	x0tigervncserve: "vnc",
	"vncserver-x11-c": "vnc",
	"vino-server": "vnc",
};

/** Options with which a server of VNC only takes connections from this device, or none. */
const LOCAL_ONLY = /^-+(localhost(=(1|yes|on|true))?|inetd)$/i;

/**
 * Returns our names for the services through which somebody may control the device from elsewhere.
 * A service counts if it listens on its usual port, or if its process runs and does not keep to
 * this device. Processes in containers do not count, but apps in sandboxes do.
 */
export async function findRemoteControl(
	host: Host,
	ports: ReadonlySet<number>,
	processes: readonly Process[],
): Promise<string[]> {
	const found = new Set<string>();
	for (const port of ports) {
		const name = SERVICES[port] ?? remoteControlAt(port);
		if (name) found.add(name);
	}
	for (const { name, pid, isContained } of processes) {
		const service = Object.hasOwn(SERVERS, name) ? SERVERS[name] : undefined;
		if (!service || found.has(service)) continue;
		if (isContained && !(await isAppOfDesktop(host, service, pid))) continue;
		if (service === "vnc" && (await isLocalVnc(host, pid))) continue;
		if (service === "xrdp" && (await isLocalXrdp(host))) continue;
		found.add(service);
	}
	return [...found].sort();
}

/**
 * Returns true if a process with a list of processes of its own shows a user's desktop to others.
 * Servers of VNC and xrdp also run in containers, where they only have desktops of their own.
 */
const isAppOfDesktop = async (host: Host, service: string, pid: number) =>
	service !== "vnc" && service !== "xrdp" && (await isSandboxedApp(host, pid));

async function isLocalVnc(host: Host, pid: number): Promise<boolean> {
	const words = (await readArguments(host, pid)) ?? [];
	return words.some(
		(word, index) =>
			LOCAL_ONLY.test(word) &&
			!/^(no|0|off|false)$/i.test(words[index + 1] ?? ""),
	);
}

/** xrdp.ini has, for example, `port=3389`, `port=tcp://127.0.0.1:3389` or `port=tcp://.:3389`. */
async function isLocalXrdp(host: Host): Promise<boolean> {
	const text = (await readText(host, "/etc/xrdp/xrdp.ini")) ?? "";
	const port = /^port=(.{1,200})$/m.exec(text)?.[1] ?? "3389";
	return port
		.trim()
		.split(/[\s,]+/)
		.every((part) => LOCAL_ADDRESS.test(part));
}

const LOCAL_ADDRESS =
	/^(tcp:\/\/(\.|127\.0\.0\.1|localhost):|tcp6:\/\/(\.|\[?::1\]?):|unix:|vsock:)/;
