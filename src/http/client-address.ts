import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";

export type AddressOf = (request: IncomingMessage) => string | undefined;

/**
 * Makes the function that finds a request's client address, for the audit log and for the lists of
 * sessions and API tokens. Behind a proxy, the connection comes from the proxy. The client's
 * address is then the last address in X-Forwarded-For that is not a trusted proxy. The client may
 * have written everything before that address, so the function ignores it. `trusted` contains
 * addresses and ranges (see ASSAY_TRUSTED_PROXIES). If `trusted` is empty, the header is ignored.
 * `onIgnored` gets the sender of each request whose forwarded address is ignored because the sender
 * is not a trusted proxy.
 */
export function makeAddressOf(
	trusted: readonly string[],
	onIgnored: (sender: string) => void = () => {},
): AddressOf {
	const proxies = new BlockList();
	for (const range of trusted) {
		const [address = "", bits] = range.split("/");
		const family = isIP(address) === 6 ? "ipv6" : "ipv4";
		if (bits === undefined) proxies.addAddress(address, family);
		else proxies.addSubnet(address, Number(bits), family);
	}
	const isProxy = (address: string) =>
		proxies.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");

	return (request) => {
		let address = plain(request.socket.remoteAddress ?? "");
		if (address === "") return undefined;
		const { forwarded, "x-forwarded-for": hopsText = "" } = request.headers;
		if (!isProxy(address)) {
			if (hopsText !== "" || forwarded) onIgnored(address);
			return address;
		}
		const hops = String(hopsText).split(",").map(plain);
		while (isProxy(address)) {
			const before = hops.pop();
			if (before === undefined || isIP(before) === 0) break;
			address = before;
		}
		return address;
	};
}

/**
 * Removes a port, brackets, and the prefix `::ffff:`, which IPv6 sockets put before an IPv4
 * address.
 */
function plain(text: string): string {
	return text
		.trim()
		.replace(/^\[(.*)\](:\d+)?$/, "$1")
		.replace(/^::ffff:(?=\d+\.)/i, "")
		.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, "$1");
}
