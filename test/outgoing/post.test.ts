import { createSocket } from "node:dgram";
import { once } from "node:events";
import {
	afterAll,
	afterEach,
	beforeAll,
	expect,
	onTestFinished,
	test,
} from "vitest";
import {
	makeOutgoingRule,
	requireAllowedHost,
} from "../../src/outgoing/outgoing-address.ts";
import { post } from "../../src/outgoing/post.ts";
import { makeReceiver } from "../webhooks/receiver.ts";

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

test("an address of this computer is refused before anything is sent, and a name in DNS is not", () => {
	const rule = makeOutgoingRule([]);
	for (const host of ["localhost", "a.localhost.", "127.1", "[::1]"]) {
		expect(() =>
			requireAllowedHost("url", `http://${host}:8080/`, rule),
		).toThrow("url: must be a public address");
	}
	requireAllowedHost("url", "https://hooks.internal.example/", rule);
	requireAllowedHost(
		"url",
		"http://localhost/",
		makeOutgoingRule(["127.0.0.1"]),
	);
});

test("a name is resolved without a thread, and a DNS server that does not answer holds up nothing", async () => {
	const answers = new Map([["receiver.example", "127.0.0.1"]]);
	const dns = createSocket("udp4", (query, from) => {
		const { name, end } = readQuestion(query);
		const address = answers.get(name);
		if (!address) return;
		const isTypeA = query.readUInt16BE(end) === 1;
		const head = Buffer.from(query.subarray(0, end + 4));
		head.writeUInt16BE(0x8180, 2);
		head.writeUInt16BE(isTypeA ? 1 : 0, 6);
		head.writeUInt32BE(0, 8);
		const record = Buffer.from("c00c000100010000003c0004", "hex");
		const bytes = Buffer.from(address.split(".").map(Number));
		const answer = isTypeA ? [head, record, bytes] : [head];
		dns.send(Buffer.concat(answer), from.port, from.address);
	});
	dns.bind(0, "127.0.0.1");
	await once(dns, "listening");
	onTestFinished(() => void dns.close());
	const rule = {
		...makeOutgoingRule(["127.0.0.1"]),
		dnsServers: [`127.0.0.1:${dns.address().port}`],
	};
	await expect(
		post("http://silent.example/", "{}", {}, rule, 200),
	).rejects.toThrow("no complete answer within 0.2 s");
	const port = new URL(url).port;
	const answer = post(`http://receiver.example:${port}/`, "{}", {}, rule);
	expect((await answer).text).toBe("thanks");
});

/** Returns the name that a DNS query asks for, and the position after it. */
function readQuestion(query: Buffer): { name: string; end: number } {
	const labels: string[] = [];
	let at = 12;
	for (let size = query[at] ?? 0; size > 0; size = query[at] ?? 0) {
		labels.push(query.toString("latin1", at + 1, at + 1 + size));
		at += 1 + size;
	}
	return { name: labels.join(".").toLowerCase(), end: at + 1 };
}
