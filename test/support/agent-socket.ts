import { expect } from "vitest";
import { type DatabaseProxy, openDatabaseProxy } from "./database-proxy.ts";
import { RawConnection, type RawResponse } from "./raw-http.ts";
import {
	shareService,
	startService,
	type TestDevice,
	type TestService,
} from "./service.ts";

export const ROUTES = ["enroll", "heartbeat", "postures", "unenroll"] as const;
export const KEYED = ["heartbeat", "postures", "unenroll"] as const;

/**
 * A service with an ACTIVE device, and connections to its Device Agent API on which a test writes
 * the bytes itself.
 */
export interface AgentSocket {
	assay: TestService;
	device: TestDevice;
	open: () => RawConnection;
	/** Sends text on a new connection. */
	send: RawConnection["send"];
	/** Returns the Authorization header with a key, which is the device's by default. */
	withKey: (key?: string) => { authorization: string };
	/** Returns a complete request with the length of its body. The key is the device's by default. */
	request: (route: string, body: string | object, key?: string) => string;
	/** Returns the device's key with a wrong checksum. */
	wrongKey: () => string;
	close: () => Promise<void>;
}

/** Starts a service of its own for these connections. */
export async function startAgentSocket(): Promise<
	AgentSocket & {
		/** A proxy between the service and its database. */
		proxy: DatabaseProxy;
	}
> {
	let proxy: DatabaseProxy | undefined;
	const assay = await startService(async (url) => {
		proxy = await openDatabaseProxy(url);
		return proxy.url;
	});
	if (!proxy) throw new Error("the service asked for no database");
	const { cut } = proxy;
	return {
		...(await withSocket(assay)),
		proxy,
		close: async () => {
			await assay.close();
			await cut();
		},
	};
}

/** Returns the same for the shared service, under the conditions of `shareService`. */
export async function shareAgentSocket(): Promise<AgentSocket> {
	return withSocket(await shareService());
}

async function withSocket(assay: TestService): Promise<AgentSocket> {
	const device = await assay.activateDevice();
	const open = () => new RawConnection(assay.service.url);
	const withKey = (key = device.key) => ({ authorization: `Bearer ${key}` });
	return {
		assay,
		device,
		open,
		send: (...parts) => open().send(...parts),
		withKey,
		request: (route, body, key) => {
			const text = typeof body === "string" ? body : JSON.stringify(body);
			const length = Buffer.byteLength(text);
			return head(route, { ...withKey(key), "content-length": length }) + text;
		},
		wrongKey: () => withWrongChecksum(device.key),
		close: assay.close,
	};
}

/** Returns the head of a request with its empty line. Headers that are undefined are left out. */
export function head(
	route: string,
	headers: Record<string, string | number | undefined> = {},
	method = "POST",
): string {
	const target = route.includes("/") ? route : `/api/agent/v1/${route}`;
	const lines = Object.entries({ host: "localhost", ...headers })
		.filter(([, value]) => value !== undefined)
		.map(([name, value]) => `${name}: ${value}\r\n`);
	return `${method} ${target} HTTP/1.1\r\n${lines.join("")}\r\n`;
}

/** Changes the last character of a key, which is part of the checksum. */
export function withWrongChecksum(key: string): string {
	return key.slice(0, -1) + (key.endsWith("0") ? "1" : "0");
}

export function expectError(
	answer: RawResponse,
	status: number,
	error: string,
): void {
	expect({ status: answer.status, ...JSON.parse(answer.body) }).toEqual({
		status,
		error,
		message: expect.any(String) as string,
	});
	expectCommonHeaders(answer);
}

function expectCommonHeaders({ headers }: RawResponse): void {
	expect(headers["x-request-id"]).toMatch(/^[\w.:-]{8,128}$/);
	expect(headers["cache-control"]).toBe("no-store");
	expect(headers.server).toBeUndefined();
	expect(headers["x-powered-by"]).toBeUndefined();
}
