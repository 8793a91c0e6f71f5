import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { pino } from "pino";
import { expect, test } from "vitest";
import { makeAccessLog } from "../../src/http/access-log.ts";

test.each([
	["/devices?token=asy_pat_x", "/devices"],
	["http://ada:hunter2@assay.example.com/devices?a=b", "/devices"],
	[`/${"a".repeat(300)}`, `/${"a".repeat(199)}`],
])("the line of a request for %s has the path %s and no password or query", async (target, path) => {
	const lines: Record<string, unknown>[] = [];
	const log = pino(
		{ base: null },
		{ write: (line) => lines.push(JSON.parse(line)) },
	);
	const accessLog = makeAccessLog(log, () => "203.0.113.5");
	const server = createServer((request, response) => {
		accessLog(request, response);
		response.end();
	});
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
	socket.write(
		`GET ${target} HTTP/1.1\r\nHost: assay.example.com\r\nConnection: close\r\n\r\n`,
	);
	socket.resume();
	await once(socket, "close");
	await expect.poll(() => lines).toHaveLength(1);
	expect(lines[0]).toMatchObject({ path, status: 200, address: "203.0.113.5" });
	expect(JSON.stringify(lines)).not.toMatch(/hunter2|asy_pat|a=b/);
	server.close();
});
