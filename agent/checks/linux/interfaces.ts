import type { Host } from "../../host.ts";
import { type Family, STRANGER } from "./packet.ts";
import { readText } from "./read-text.ts";

/** The names of the network interfaces through which others reach the device. */
export interface Interfaces {
	/** Interfaces on which anybody's packets may arrive. */
	outer: string[];
	/**
	 * Tunnels of a VPN (WireGuard or TUN, such as Tailscale and OpenVPN). Only members of the VPN
	 * send packets through them, unless the VPN also carries the traffic with the internet.
	 */
	tunnels: string[];
}

/**
 * Bridges to the containers and virtual machines of this device. Nobody else sends packets through
 * them.
 */
const OWN_BRIDGES =
	/^(docker\d+|br-[0-9a-f]{12}|podman\d+|cni-podman\d+|virbr\d+|lxcbr\d+|lxdbr\d+|incusbr\d+)$/;

/** Returns the interfaces, without the loopback and the bridges inside the device. */
export async function findInterfaces(host: Host): Promise<Interfaces> {
	const text = (await readText(host, "/proc/net/dev")) ?? "";
	const names = text
		.split("\n")
		.map((line) => /^\s*([^\s/]{1,32}):/.exec(line)?.[1])
		.filter((name) => name !== undefined)
		.filter((name) => name !== "lo" && !OWN_BRIDGES.test(name));
	const found: Interfaces = { outer: [], tunnels: [] };
	for (const name of new Set(names)) {
		const kind = (await isTunnel(host, name)) ? "tunnels" : "outer";
		found[kind].push(name);
	}
	return found;
}

const IFF_TUN = 1;

async function isTunnel(host: Host, name: string): Promise<boolean> {
	const folder = `/sys/class/net/${name}`;
	const about = await readText(host, `${folder}/uevent`);
	if (/^DEVTYPE=wireguard$/m.test(about ?? "")) return true;
	// The kernel prints a number such as 0x1001. A TAP device has another bit.
	const flags = await readText(host, `${folder}/tun_flags`);
	return /^0x[0-9a-f]{1,8}$/.test(flags?.trim() ?? "")
		? (Number.parseInt(flags ?? "", 16) & IFF_TUN) !== 0
		: false;
}

/**
 * Returns the interface through which the device sends packets to a stranger on the internet, or
 * null if it sends none. Returns undefined if the system does not say.
 */
export async function findWayToInternet(
	host: Host,
	family: Family,
): Promise<string | null | undefined> {
	const result = await host.run("ip", [
		family === "ipv4" ? "-4" : "-6",
		"route",
		"get",
		STRANGER[family],
	]);
	if (result.ended !== "exited") return undefined;
	if (result.exitCode !== 0) {
		return /unreachable/i.test(result.stderr) ? null : undefined;
	}
	return / dev (\S{1,32})( |$)/m.exec(result.stdout)?.[1];
}

/**
 * Names that systems give to interfaces. They contain neither the address of the hardware, as
 * `enx001122334455` does, nor a word that somebody chose.
 */
const USUAL_NAME =
	/^((eth|wlan|wwan|usb|br|bond|team|ppp|tun|tap|wg|wt|tailscale|ipsec)\d{1,4}|(en|wl|ww)([osP]|p\d)[a-zA-Z0-9]{0,12})$/;

const MAX_NAMED = 10;

/** Returns the names that evidence may contain. The others become `other`. */
export const interfaceWords = (names: Iterable<string>): string[] =>
	[
		...new Set(
			[...names].map((name) => (USUAL_NAME.test(name) ? name : "other")),
		),
	]
		.sort()
		.slice(0, MAX_NAMED);
