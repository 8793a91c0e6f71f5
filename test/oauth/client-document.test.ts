import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { expect, onTestFinished, test } from "vitest";
import { fetchClientDocument } from "../../src/oauth/client-document.ts";
import { makeOutgoingRule } from "../../src/outgoing/outgoing-address.ts";
import { CERTIFICATE, PRIVATE_KEY } from "../agent/certificate.ts";

const TYPE_A = 1;

/**
 * Starts a DNS server that gives each address in turn as the answer to a question for IPv4
 * addresses, and then none. Returns where it is, and the addresses that it has left.
 */
async function startDns(addresses: string[]) {
	const socket = createSocket("udp4");
	socket.on("message", (question, from) => {
		const end = question.indexOf(0, 12) + 5;
		const isTypeA = question.readUInt16BE(end - 4) === TYPE_A;
		const address = isTypeA ? addresses.shift() : undefined;
		const head = Buffer.from(question.subarray(0, end));
		head.writeUInt16BE(0x8180, 2);
		head.writeUInt16BE(address ? 1 : 0, 6);
		head.writeUInt32BE(0, 8);
		// A pointer to the name, type A, class IN, 0 seconds, 4 bytes.
		const record = Buffer.from("c00c00010001000000000004", "hex");
		const bytes = Buffer.from((address ?? "").split(".").map(Number));
		const answer = address ? [head, record, bytes] : [head];
		socket.send(Buffer.concat(answer), from.port, from.address);
	});
	socket.bind(0, "127.0.0.1");
	await once(socket, "listening");
	onTestFinished(() => void socket.close());
	return { server: `127.0.0.1:${socket.address().port}`, left: addresses };
}

/** Starts a website with TLS on this machine. Returns the address of a document on it. */
async function startWebsite() {
	const trusted = getCACertificates();
	setDefaultCACertificates([...trusted, CERTIFICATE]);
	const website = createServer({ key: PRIVATE_KEY, cert: CERTIFICATE });
	website.listen(0, "127.0.0.1");
	await once(website, "listening");
	onTestFinished(() => {
		setDefaultCACertificates(trusted);
		website.close();
	});
	const { port } = website.address() as AddressInfo;
	const client_id = `https://assay.example.com:${port}/client.json`;
	return { website, client_id };
}

test("the name of a document's host is looked up once, so it cannot lead elsewhere after the check", async () => {
	const { website, client_id } = await startWebsite();
	const redirect_uris = ["https://assay.example.com/callback"];
	website.on("request", (_, response) => {
		response.end(JSON.stringify({ client_id, redirect_uris }));
	});
	const dns = await startDns(["127.0.0.1", "192.168.1.1"]);
	const rule = {
		...makeOutgoingRule(["127.0.0.1"]),
		dnsServers: [dns.server],
	};
	expect(await fetchClientDocument(client_id, rule)).toEqual({
		name: "assay.example.com",
		redirectUris: redirect_uris,
	});
	expect(dns.left).toEqual(["192.168.1.1"]);
	await expect(fetchClientDocument(client_id, rule)).rejects.toThrow(
		"not a public address",
	);
});

test("a host that switches the protocol or answers with a long error harms nobody", async () => {
	const { website, client_id } = await startWebsite();
	const dns = await startDns(["127.0.0.1", "127.0.0.1"]);
	const rule = {
		...makeOutgoingRule(["127.0.0.1"]),
		dnsServers: [dns.server],
	};
	website.once("request", (_, { socket }) =>
		socket?.write(
			"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n",
		),
	);
	await expect(fetchClientDocument(client_id, rule)).rejects.toThrow(
		"closed before a complete answer",
	);
	website.once("request", (_, response) =>
		response.writeHead(404).end("x".repeat(100_000)),
	);
	await expect(fetchClientDocument(client_id, rule)).rejects.toThrow(
		"status 404",
	);
});
