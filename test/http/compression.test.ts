import { request } from "node:http";
import { promisify } from "node:util";
import { gunzip, zstdDecompress } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { shareTools, type TestTools } from "../support/tools.ts";

let tools: TestTools;
beforeAll(async () => {
	tools = await shareTools();
});
afterAll(() => tools.close());

const decoders: Record<string, (bytes: Buffer) => Promise<Buffer>> = {
	gzip: promisify(gunzip),
	zstd: promisify(zstdDecompress),
};

/** Sends a request and returns the answer as it travelled, without decoding it. */
function send(
	path: string,
	body: unknown,
	headers: Record<string, string>,
	token = tools.admin.token,
) {
	return new Promise<{
		status: number | undefined;
		headers: Record<string, string | string[] | undefined>;
		bytes: Buffer;
		text: string;
	}>((resolve, reject) => {
		const sent = request(
			tools.url + path,
			{
				method: body === undefined ? "GET" : "POST",
				headers: {
					authorization: `Bearer ${token}`,
					"content-type": "application/json",
					...headers,
				},
			},
			async (response) => {
				const chunks: Buffer[] = [];
				for await (const chunk of response) chunks.push(chunk as Buffer);
				const bytes = Buffer.concat(chunks);
				const decode = decoders[response.headers["content-encoding"] ?? ""];
				const text = String(decode ? await decode(bytes) : bytes);
				resolve({
					status: response.statusCode,
					headers: response.headers,
					bytes,
					text,
				});
			},
		);
		sent.on("error", reject);
		sent.end(body === undefined ? undefined : JSON.stringify(body));
	});
}

const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list" };
const callOf = (name: string, input: object) => ({
	jsonrpc: "2.0",
	id: 1,
	method: "tools/call",
	params: { name, arguments: input },
});

test("large answers are compressed as the client accepts it, and read the same", async () => {
	for (const [path, body] of [
		["/api/mcp/v1", LIST],
		["/api/mcp/v1", [LIST, LIST]],
		["/api/openapi.json", undefined],
	] as const) {
		const plain = await send(path, body, {});
		expect(plain.headers["content-encoding"]).toBeUndefined();
		expect(plain.headers.vary).toBe("accept-encoding");
		for (const [accepts, encoding] of [
			["gzip, deflate", "gzip"],
			["gzip, deflate, br, zstd", "zstd"],
			["zstd;q=0, gzip", "gzip"],
		] as const) {
			const answer = await send(path, body, { "accept-encoding": accepts });
			expect(answer.headers["content-encoding"]).toBe(encoding);
			expect(answer.headers.vary).toBe("accept-encoding");
			expect(answer.headers["content-length"]).toBe(
				String(answer.bytes.length),
			);
			expect(answer.bytes.length).toBeLessThan(plain.bytes.length / 3);
			expect(answer.text).toBe(plain.text);
		}
		const none = await send(path, body, { "accept-encoding": "br, gzip;q=0" });
		expect(none.headers["content-encoding"]).toBeUndefined();
	}
});

test("lists are compressed at both doors, short answers are not", async () => {
	const organization_id = tools.organizationId;
	for (let number = 0; number < 20; number++) {
		await tools.use("addMeasure", {
			organization_id,
			name: `Measure ${number}`,
			category: "Operations",
			description: "A text that is long enough. ".repeat(10),
		});
	}
	const headers = { "accept-encoding": "gzip" };
	const door = `/api/mcp/tools/listMeasures?organization_id=${organization_id}`;
	for (const answer of [
		await send(door, undefined, headers),
		await send(
			"/api/mcp/v1",
			callOf("listMeasures", { organization_id }),
			headers,
		),
	]) {
		expect(answer.status).toBe(200);
		expect(answer.headers["content-encoding"]).toBe("gzip");
		expect(answer.text).toContain("Measure 19");
	}
	const short = await send(
		"/api/mcp/tools/listOrganizations",
		undefined,
		headers,
	);
	expect(short.headers["content-encoding"]).toBeUndefined();
	expect(short.text).toContain(organization_id);
});

test("an answer with a secret is never compressed, alone or in a batch", async () => {
	const headers = { "accept-encoding": "gzip, zstd" };
	const add = callOf("addDevice", { organization_id: tools.organizationId });
	for (const [path, body] of [
		["/api/mcp/v1", add],
		["/api/mcp/v1", [LIST, add]],
		["/api/mcp/tools/addDevice", { organization_id: tools.organizationId }],
	] as const) {
		const answer = await send(path, body, headers);
		expect(answer.text).toContain("asy_enr_");
		expect(answer.headers["content-encoding"]).toBeUndefined();
	}
	// The batch above is long enough: without the secret it is compressed.
	const batch = await send("/api/mcp/v1", [LIST, LIST], headers);
	expect(batch.headers["content-encoding"]).toBe("zstd");
	// An update is long enough too, and a tool that writes is not compressed.
	const long = await send(
		"/api/mcp/tools/addMeasure",
		{
			organization_id: tools.organizationId,
			name: "Long",
			category: "Operations",
			description: "x".repeat(5_000),
		},
		headers,
	);
	expect(long.bytes.length).toBeGreaterThan(5_000);
	expect(long.headers["content-encoding"]).toBeUndefined();
});

test("openapi.json is not sent again to a client that has it", async () => {
	const first = await send("/api/openapi.json", undefined, {});
	const etag = String(first.headers.etag);
	expect(etag).toMatch(/^W\/"[\w-]{43}"$/);
	for (const known of [etag, `"other", ${etag}`, etag.slice(2), "*"]) {
		const again = await send("/api/openapi.json", undefined, {
			"if-none-match": known,
			"accept-encoding": "gzip",
		});
		expect(again.status, known).toBe(304);
		expect(again.bytes.length).toBe(0);
		expect(again.headers.etag).toBe(etag);
		expect(again.headers["content-encoding"]).toBeUndefined();
	}
	const other = await send("/api/openapi.json", undefined, {
		"if-none-match": '"other"',
	});
	expect(other.status).toBe(200);
});
