import fc from "fast-check";

/**
 * The bytes to send on one socket, as latin1 text in parts. There is a pause before each part after
 * the first.
 */
export interface Sending {
	kind: string;
	parts: string[];
	/** Milliseconds between two parts. */
	pauseMs: number;
}

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
const BODY = JSON.stringify({
	hardware_uuid: "f1e2d3c4-0000-4000-8000-000000000000",
	hostname: "fuzzed",
	platform: "LINUX",
	os_version: "12",
	agent_version: "1.0.0",
});

const noise = fc
	.uint8Array({ minLength: 1, maxLength: 200 })
	.map((array) => Buffer.from(array).toString("latin1"));

/** Returns bytes that no HTTP library would send. All kinds are equally frequent. */
export function sendings(key: string): fc.Arbitrary<Sending> {
	const head = (...headers: string[]) =>
		["POST /api/agent/v1/heartbeat HTTP/1.1", "Host: x", ...headers].join(CRLF);
	const bearer = `Authorization: Bearer ${key}`;
	const length = `Content-Length: ${BODY.length}`;
	const fine = `${head(bearer, length)}${CRLF}${CRLF}${BODY}`;
	// The service closes the connection after the answer, so the end of the answer is seen at once.
	const last = `${head(bearer, length, "Connection: close")}${CRLF}${CRLF}${BODY}`;
	const odd = oddMessage(bearer);

	const oddLength = fc
		.tuple(
			fc.subarray(LENGTHS, { minLength: 1, maxLength: 3 }),
			fc.constantFrom("", "x", BODY, `${BODY}${fine}`),
		)
		.map(([lines, body]) => head(bearer, ...lines) + CRLF + CRLF + body);
	const badChunks = fc
		.tuple(
			fc.constantFrom(
				"Transfer-Encoding: chunked",
				"Transfer-Encoding: chunked, chunked",
				"Transfer-Encoding : chunked",
			),
			fc.array(fc.oneof(fc.constantFrom(...CHUNKS), noise), { maxLength: 4 }),
		)
		.map(
			([line, chunks]) => head(bearer, line) + CRLF + CRLF + chunks.join(""),
		);
	const huge = fc
		.constantFrom(...HUGE)
		.map((line) => `${head(bearer, line, length)}${CRLF}${CRLF}${BODY}`);
	const piped = fc
		.array(fc.oneof(fc.constantFrom(fine, last), odd, noise), {
			minLength: 1,
			// Together with the request before them, these are at most five requests of one device. A
			// sixth would be answered with 503.
			maxLength: 4,
		})
		.map((parts) => fine + parts.join(""));
	const cut = fc
		.tuple(fc.oneof(fc.constant(fine), odd), fc.nat(400))
		.map(([text, length]) => text.slice(0, length));

	return fc.oneof(
		atOnce("random bytes", noise),
		atOnce("odd request line or header", odd),
		atOnce("odd or two lengths", oddLength),
		atOnce("invalid chunking", badChunks),
		atOnce("huge headers or address", huge),
		atOnce("a good request, then pipelined junk", piped),
		atOnce("cut off", cut),
		slowly("slow headers", last, last.indexOf(BODY)),
		slowly("slow body", last, last.length),
	);
}

/**
 * Sends the bytes in two writes, because data that arrives in one piece is the easier case for the
 * service.
 */
function atOnce(
	kind: string,
	texts: fc.Arbitrary<string>,
): fc.Arbitrary<Sending> {
	return texts.map((text) => {
		const half = text.length >> 1;
		return { kind, parts: [text.slice(0, half), text.slice(half)], pauseMs: 0 };
	});
}

/** Sends the last bytes before `end` one by one. Every third time it never sends `end`. */
function slowly(
	kind: string,
	text: string,
	end: number,
): fc.Arbitrary<Sending> {
	return fc
		.record({
			bytes: fc.integer({ min: 3, max: 20 }),
			pauseMs: fc.integer({ min: 1, max: 40 }),
			isWhole: fc.constantFrom(true, true, false),
		})
		.map(({ bytes, pauseMs, isWhole }) => {
			const from = end - bytes;
			const parts = [text.slice(0, from), ...text.slice(from, end - 1)];
			if (isWhole) parts.push(text.slice(end - 1));
			return { kind, parts, pauseMs };
		});
}

const LENGTHS = [
	"Content-Length: -1",
	"Content-Length: 5, 6",
	"Content-Length: 99999999999999999999",
	"Content-Length: 0x10",
	"Content-Length: 10",
	"Content-Length: 0",
	`Content-Length: ${BODY.length}`,
	"Transfer-Encoding: chunked",
	"Transfer-Encoding: chunked, gzip",
];

const CHUNKS = [
	"5\r\nhello\r\n0\r\n\r\n",
	"ffffffffffffffffff\r\nx",
	"-1\r\n",
	"5;ext=1\r\nhello\r\n0\r\nTrailer: x\r\n\r\n",
	`5;${"e".repeat(20_000)}\r\nhello\r\n`,
	"zz\r\n",
	"3\r\nhello\r\n0\r\n\r\n",
	"1\n{\n",
	"{}",
];

const HUGE = [
	`Cookie: ${"a=b; ".repeat(500)}`,
	`X-Long: ${"x".repeat(15_000)}`,
	`X-Long: ${"x".repeat(20_000)}`,
	`X-Long: ${"x".repeat(1_000_000)}`,
	`${"X".repeat(20_000)}: name`,
	Array.from({ length: 900 }, (_, i) => `X-${i}: 1`).join(CRLF),
	Array.from({ length: 2_500 }, (_, i) => `X-${i}: 1`).join(CRLF),
	// A second request on the same connection, whose address has that size.
	`Connection: keep-alive${CRLF}${CRLF}GET /${"a".repeat(100_000)} HTTP/1.1${CRLF}Host: x`,
];

function oddMessage(bearer: string): fc.Arbitrary<string> {
	const header = fc.oneof(
		fc.constantFrom(
			"Host: x",
			"Host: localhost",
			bearer,
			"Authorization: Bearer",
			"Expect: 100-continue",
			"Expect: the unexpected",
			"Upgrade: websocket\r\nConnection: Upgrade",
			"Connection: close",
			"X-Request-Id: \x01\x02",
			" folded: yes",
			"no colon",
			": no name",
		),
		noise,
	);
	return fc
		.record({
			method: fc.constantFrom(
				"POST",
				"GET",
				"PUT",
				"CONNECT",
				"OPTIONS",
				"BREW",
				"post",
				"",
			),
			path: fc.oneof(
				{ weight: 4, arbitrary: fc.constantFrom(...PATHS) },
				{ weight: 1, arbitrary: noise },
			),
			version: fc.constantFrom(
				"HTTP/1.1",
				"HTTP/1.1",
				"HTTP/1.1",
				"HTTP/1.0",
				"HTTP/2.0",
				"",
				"ICY",
			),
			headers: fc.array(header, { maxLength: 3 }),
			body: fc.oneof(fc.constant(""), fc.constant(BODY), noise),
		})
		.map(
			({ method, path, version, headers, body }) =>
				`${method} ${path} ${version}${CRLF}${headers.map((line) => line + CRLF).join("")}${CRLF}${body}`,
		);
}
