import type { Host } from "./host.ts";

/** The proxy that the system's settings name for the service. */
export interface SystemProxy {
	proxy?: URL | undefined;
	/** A hint for the case that no connection comes about. */
	note?: string;
}

/** Time for PowerShell to start, and for Windows to find and run a proxy script. */
const TIMEOUT_MS = 10_000;

const SCRIPT_NOTE =
	"this Mac takes its proxy from a script (PAC), which the agent does not run; set HTTPS_PROXY to the proxy that the script names: for install in its environment, for the installed service in proxies.json in the agent's folder";

/**
 * Returns the proxy that the settings of Windows or macOS name for the service. Windows itself
 * evaluates a proxy script (PAC, WPAD). On macOS only a fixed proxy counts. Returns no proxy on
 * other systems, and if the system does not answer.
 */
export async function findSystemProxy(
	host: Host,
	service: URL,
): Promise<SystemProxy> {
	if (host.platform === "WINDOWS") return askWindows(host, service);
	if (host.platform === "DARWIN") return askMac(host, service);
	return {};
}

async function askWindows(host: Host, service: URL): Promise<SystemProxy> {
	// The address becomes part of a script, so it may contain nothing that PowerShell interprets.
	if (!/^https?:\/\/[A-Za-z0-9.:[\]-]+$/.test(service.origin)) return {};
	const { exitCode, stdout } = await host.run(
		"powershell.exe",
		[
			"-NoLogo",
			"-NoProfile",
			"-NonInteractive",
			"-Command",
			`$u = [Uri] '${service.origin}/'; $p = [System.Net.WebRequest]::GetSystemWebProxy(); if ($p -and -not $p.IsBypassed($u)) { $p.GetProxy($u).AbsoluteUri }`,
		],
		{ timeoutMs: TIMEOUT_MS },
	);
	const proxy = exitCode === 0 ? readProxy(stdout.trim()) : undefined;
	// Without a proxy, Windows names the service itself.
	return proxy?.host === service.host ? {} : { proxy };
}

async function askMac(host: Host, service: URL): Promise<SystemProxy> {
	const { exitCode, stdout } = await host.run("scutil", ["--proxy"]);
	if (exitCode !== 0) return {};
	const value = (key: string) =>
		new RegExp(`^ {2}${key} : (\\S{1,255})$`, "m").exec(stdout)?.[1];
	const kind = service.protocol === "https:" ? "HTTPS" : "HTTP";
	const name = value(`${kind}Proxy`);
	if (value(`${kind}Enable`) === "1" && name !== undefined) {
		const isExcepted =
			exceptions(stdout).some((pattern) =>
				matches(pattern, service.hostname),
			) ||
			(value("ExcludeSimpleHostnames") === "1" &&
				!service.hostname.includes("."));
		if (isExcepted) return {};
		const port = value(`${kind}Port`) ?? "80";
		const proxy = readProxy(
			`http://${name.includes(":") ? `[${name}]` : name}:${port}/`,
		);
		if (proxy) return { proxy };
	}
	const hasScript =
		value("ProxyAutoConfigEnable") === "1" ||
		value("ProxyAutoDiscoveryEnable") === "1";
	return hasScript ? { note: SCRIPT_NOTE } : {};
}

/** The agent speaks to its proxy over http or https. It cannot use another kind, such as SOCKS. */
function readProxy(text: string): URL | undefined {
	const url = URL.parse(text) ?? undefined;
	return url && /^https?:$/.test(url.protocol) ? url : undefined;
}

/** Returns the hosts that macOS reaches without the proxy, such as `*.local` and `10.0.0.7`. */
function exceptions(text: string): string[] {
	const [, after = ""] = text.split("\n  ExceptionsList : <array> {\n", 2);
	const [list = ""] = after.split("\n  }", 1);
	return [...list.matchAll(/^ {4}\d+ : (\S{1,255})$/gm)].map(
		([, pattern]) => pattern as string,
	);
}

function matches(pattern: string, hostname: string): boolean {
	const wanted = pattern.toLowerCase();
	return wanted.startsWith("*")
		? hostname.endsWith(wanted.slice(1))
		: hostname === wanted || hostname.endsWith(`.${wanted}`);
}
