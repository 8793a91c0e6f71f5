import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { makeOutgoingRule } from "../../src/webhooks/outgoing-address.ts";
import { post } from "../../src/webhooks/post.ts";
import { makeReceiver } from "./receiver.ts";

const receiver = makeReceiver();
const { received } = receiver;
let url: string;
beforeAll(async () => {
	url = await receiver.listen();
});
afterEach(() => receiver.reset());
afterAll(() => receiver.close());

test("a receiver that redirects, closes, floods or hangs harms nobody", async () => {
	const rule = makeOutgoingRule(["127.0.0.1"]);
	const send = (maxMs?: number) => post(url, "{}", {}, rule, maxMs);
	receiver.behave = (response) =>
		response.writeHead(302, { location: `${url}/elsewhere` }).end();
	expect((await send()).status).toBe(302);
	expect(received).toHaveLength(1);
	receiver.behave = (response) => response.destroy();
	await expect(send()).rejects.toThrow("socket hang up");
	let written = 0;
	receiver.behave = (response) => {
		const pour = () => {
			while (!response.destroyed && response.write("x".repeat(65_536))) {
				written += 65_536;
			}
		};
		response.on("drain", pour);
		pour();
	};
	const flooded = await send();
	expect(flooded.text).toHaveLength(1000);
	expect(written).toBeLessThan(50_000_000);
	receiver.behave = ({ socket }) =>
		socket?.write(
			"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n",
		);
	await expect(send()).rejects.toThrow("closed before a complete answer");
	receiver.behave = () => {};
	await expect(send(200)).rejects.toThrow("no complete answer within 0.2 s");
});

test("private and special addresses are rejected when the connection is made, unless the operator allows them", async () => {
	const rule = makeOutgoingRule([]);
	await expect(post(url, "{}", {}, rule)).rejects.toThrow(
		"127.0.0.1 is not a public address",
	);
	await expect(
		post(url.replace("127.0.0.1", "localhost"), "{}", {}, rule),
	).rejects.toThrow("which is not a public address");
	expect(received).toHaveLength(0);
	for (const address of [
		"10.1.2.3",
		"100.64.0.1",
		"169.254.169.254",
		"172.31.0.1",
		"192.168.1.1",
		"0.0.0.0",
		"224.0.0.1",
		"255.255.255.255",
		"::1",
		"::",
		"::ffff:127.0.0.1",
		"fe80::1",
		"fd00::1",
		"64:ff9b::7f00:1",
		"2002:7f00:1::",
		"2001:db8::1",
	]) {
		expect(rule.isAllowed(address), address).toBe(false);
	}
	for (const address of ["8.8.8.8", "172.32.0.1", "2606:4700::1111"]) {
		expect(rule.isAllowed(address), address).toBe(true);
	}
	const wider = makeOutgoingRule(["10.0.0.0/8", "fd00::/8"]);
	expect(wider.isAllowed("10.1.2.3")).toBe(true);
	expect(wider.isAllowed("fd00::1")).toBe(true);
	expect(wider.isAllowed("192.168.1.1")).toBe(false);
});
