import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";

const PORTION = 200;
const PARALLEL = 64;
/** A service that waits for more is left alone after so long. */
const PATIENCE_MS = 400;

const CRLF = "\r\n";
const PATHS = [
	"/api/agent/v1/heartbeat",
	"/api/agent/v1/postures",
	"/api/agent/v1/enroll",
	"/api/mcp/v1",
	"/api/mcp/tools/listRisks",
	"/api/console/listRisks",
	"/",
	"*",
	"http://example.com/",
	"//",
	"/%",
];

const bytes = fc
	.uint8Array({ maxLength: 200 })
	.map((array) => Buffer.from(array).toString("latin1"));
const path = fc.constantFrom(...PATHS);
const method = fc.constantFrom(
	"POST",
	"GET",
	"PUT",
	"CONNECT",
	"OPTIONS",
	"BREW",
	"post",
	"",
);

/** What no HTTP library would send, as latin1 text. */
function bytesOf(key: string): fc.Arbitrary<string> {
	const header = fc.oneof(
		fc.constantFrom(
			"Host: x",
			"Host: localhost",
			`Authorization: Bearer ${key}`,
			"Authorization: Bearer",
			"Content-Length: -1",
			"Content-Length: 5, 6",
			"Content-Length: 99999999999999999999",
			"Content-Length: 0x10",
			"Content-Length: 10",
			"Transfer-Encoding: chunked",
			"Transfer-Encoding: chunked, gzip",
			"Transfer-Encoding : chunked",
			"Expect: 100-continue",
			"Upgrade: websocket\r\nConnection: Upgrade",
			"Connection: close",
			"X-Request-Id: \x01\x02",
			" folded: yes",
			"no colon",
			": no name",
			`Cookie: ${"a=b; ".repeat(500)}`,
			`X-Long: ${"x".repeat(20_000)}`,
			Array.from({ length: 2_500 }, (_, i) => `X-${i}: 1`).join(CRLF),
		),
		bytes,
	);
	const chunks = fc.constantFrom(
		"5\r\nhello\r\n0\r\n\r\n",
		"ffffffffffffffffff\r\nx",
		"-1\r\n",
		"5;ext=1\r\nhello\r\n0\r\nTrailer: x\r\n\r\n",
		"zz\r\n",
		"3\r\nhello\r\n0\r\n\r\n",
		"{}",
	);
	const message = fc
		.record({
			method,
			path: fc.oneof(path, bytes),
			version: fc.constantFrom("HTTP/1.1", "HTTP/1.0", "HTTP/2.0", "", "ICY"),
			headers: fc.array(header, { maxLength: 5 }),
			body: fc.oneof(fc.constant(""), chunks, bytes),
		})
		.map(
			({ method, path, version, headers, body }) =>
				`${method} ${path} ${version}${CRLF}${headers.map((line) => line + CRLF).join("")}${CRLF}${body}`,
		);
	return fc.oneof(
		{ weight: 6, arbitrary: message },
		{
			weight: 2,
			arbitrary: fc
				.array(message, { minLength: 2, maxLength: 6 })
				.map((all) => all.join("")),
		},
		{ weight: 1, arbitrary: bytes },
		// Cut off somewhere.
		{
			weight: 2,
			arbitrary: fc
				.tuple(message, fc.nat(2_000))
				.map(([text, length]) => text.slice(0, length)),
		},
	);
}

export interface SocketResult {
	cases: number;
	statuses: Record<string, number>;
	failures: { sent: string; answer: string }[];
}

/** Bytes on sockets of their own, some halves later than others. */
export async function fuzzSocket(
	port: number,
	key: string,
	{ cases, seed }: { cases: number; seed: number },
	until = Number.POSITIVE_INFINITY,
): Promise<SocketResult> {
	const result: SocketResult = { cases: 0, statuses: {}, failures: [] };
	const arbitrary = bytesOf(key);
	let portions = 0;
	let waiting: string[] = [];
	let taken = 0;
	const work = async () => {
		while (taken++ < cases && performance.now() < until) {
			if (waiting.length === 0) {
				const numRuns = PORTION;
				waiting = fc.sample(arbitrary, { seed: seed + portions++, numRuns });
			}
			const text = waiting.pop() as string;
			const answer = await exchange(port, text);
			result.cases++;
			const found = answer.match(/^HTTP\/1\.1 (\d{3}) /gm) ?? ["none"];
			for (const line of found) {
				const status = line.slice(9, 12) || "none";
				result.statuses[status] = (result.statuses[status] ?? 0) + 1;
				if (status.startsWith("5")) {
					result.failures.push({ sent: text, answer: answer.slice(0, 500) });
				}
			}
		}
	};
	await Promise.all(Array.from({ length: PARALLEL }, work));
	return result;
}

/** What comes back before the service closes or says nothing for a while. */
function exchange(port: number, text: string): Promise<string> {
	return new Promise((resolve) => {
		let received = "";
		const socket = connect(port, "127.0.0.1");
		const end = () => {
			socket.destroy();
			resolve(received);
		};
		socket.setTimeout(PATIENCE_MS, end);
		socket.on("data", (chunk: Buffer) => {
			received += chunk.toString("latin1");
		});
		socket.on("error", end);
		socket.on("close", end);
		const half = text.length >> 1;
		socket.write(text.slice(0, half), "latin1");
		setImmediate(() => socket.write(text.slice(half), "latin1"));
	});
}

/** Opens connections that say nothing, or begin a request and stop. Gives those that are open. */
export async function openIdle(port: number, count: number): Promise<Socket[]> {
	const open: Socket[] = [];
	for (let i = 0; i < count; i += 200) {
		const portion = Array.from({ length: Math.min(200, count - i) }, (_, j) => {
			return new Promise<void>((resolve) => {
				const socket = connect(port, "127.0.0.1", () => {
					open.push(socket);
					if (j % 2)
						socket.write("POST /api/agent/v1/heartbeat HTTP/1.1\r\nHo");
					resolve();
				});
				socket.on("error", () => resolve());
			});
		});
		await Promise.race([Promise.all(portion), sleep(10_000)]);
	}
	return open;
}
