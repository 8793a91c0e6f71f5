import { createServer as createPlainServer, type Server } from "node:net";
import { createServer } from "node:tls";
import { afterEach, expect, test } from "vitest";
import { describeCertificate } from "../../src/cli/doctor-certificate.ts";
import { readPublicCertificate } from "../../src/http/public-certificate.ts";
import { CERTIFICATE, EXPIRED, PRIVATE_KEY } from "../agent/certificate.ts";

let server: Server | undefined;
afterEach(() => server?.close());

async function listen(made: Server): Promise<string> {
	server = made;
	made.on("connection", (socket) => socket.on("error", () => {}));
	await new Promise<void>((resolve) => made.listen(0, "127.0.0.1", resolve));
	const { port } = made.address() as { port: number };
	return `https://localhost:${port}`;
}

test("the certificate at the public address is read although nobody trusts it or it has ended", async () => {
	const own = createServer({ cert: CERTIFICATE, key: PRIVATE_KEY });
	expect(await readPublicCertificate(await listen(own))).toEqual({
		from: new Date("2026-11-21T20:34:48Z"),
		until: new Date("2126-10-28T20:34:48Z"),
	});
	own.close();
	const until = new Date("2020-02-01T00:00:00Z");
	const ended = await listen(createServer(EXPIRED));
	expect(await readPublicCertificate(ended)).toMatchObject({ until });
	const byAddress = ended.replace("localhost", "127.0.0.1");
	expect(await readPublicCertificate(byAddress)).toMatchObject({ until });
});

test("a program without TLS, or none at all, has no certificate", async () => {
	const plain = createPlainServer((socket) => {
		socket.resume().end("hello");
	});
	const address = await listen(plain);
	await expect(readPublicCertificate(address)).rejects.toThrow();
	await new Promise((resolve) => plain.close(resolve));
	await expect(readPublicCertificate(address)).rejects.toThrow();
});

const DAY_MS = 86_400_000;
test.each([
	[90, 15, "ok"],
	[90, 13, "warning"],
	[365, 20, "ok"],
	[6, 2, "ok"],
	[6, 1, "warning"],
	[90, 0, "problem"],
])("doctor judges a certificate of %i days that ends in %i days: %s", (lifetime, left, status) => {
	const now = new Date("2026-11-25T12:00:00Z");
	const until = new Date(now.getTime() + left * DAY_MS);
	const from = new Date(until.getTime() - lifetime * DAY_MS);
	const found = describeCertificate("https://a.example", { from, until }, now);
	expect(found).toMatchObject({ check: "certificate", status });
	expect(found.found).toContain(until.toISOString().slice(0, 10));
});
