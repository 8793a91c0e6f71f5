import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";

export type AddressOf = (request: IncomingMessage) => string | undefined;

/**
 * Whence a request came, for the audit log and lists of sessions and tokens. Behind a proxy the
 * connection is the proxy's, and the address is the last in X-Forwarded-For that no trusted proxy has:
 * what stands before it was written by the client and may be anything. `trusted` are addresses and
 * ranges, see ASSAY_TRUSTED_PROXIES; without any the header does not count.
 */
export function makeAddressOf(trusted: readonly string[]): AddressOf {
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
		if (trusted.length === 0 || address === "") return address || undefined;
		const forwarded = request.headers["x-forwarded-for"] ?? "";
		const hops = String(forwarded).split(",").map(plain);
		while (isProxy(address)) {
			const before = hops.pop();
			if (before === undefined || isIP(before) === 0) break;
			address = before;
		}
		return address;
	};
}

/** Without what IPv6 sockets put before an IPv4 address, brackets, and a port. */
function plain(text: string): string {
	return text
		.trim()
		.replace(/^\[(.*)\](:\d+)?$/, "$1")
		.replace(/^::ffff:(?=\d+\.)/i, "")
		.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, "$1");
}
