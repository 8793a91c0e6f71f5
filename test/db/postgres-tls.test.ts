import { rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { TLSSocket } from "node:tls";
import { Client } from "pg";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import { examineDatabaseTls } from "../../src/cli/doctor-database-tls.ts";
import { readConfig } from "../../src/config/config.ts";
import { connectionAdvice } from "../../src/db/connection-advice.ts";
import { connectionTo } from "../../src/db/postgres-tls.ts";
import { isDatabaseUnavailable } from "../../src/errors.ts";
import { CERTIFICATE, EXPIRED, PRIVATE_KEY } from "../agent/certificate.ts";
import { makeFolderSync } from "../support/folder.ts";

const folder = makeFolderSync("assay-postgres-tls-");
const own = join(folder, "own.crt");
const other = join(folder, "other.crt");
writeFileSync(own, CERTIFICATE);
writeFileSync(other, EXPIRED.cert);
afterAll(() => rmSync(folder, { recursive: true }));

let server: Server | undefined;
afterEach(() => server?.close());

/** Starts a server that begins TLS as PostgreSQL does, and then rejects the password. */
async function listen(): Promise<number> {
	const made = createServer((socket) => {
		socket.on("error", () => {});
		socket.once("data", () => {
			socket.write("S");
			const secure = new TLSSocket(socket, {
				isServer: true,
				cert: CERTIFICATE,
				key: PRIVATE_KEY,
			});
			secure.on("error", () => {});
			secure.once("data", () => {
				const fields = "SFATAL\0C28P01\0Mwrong password\0\0";
				const message = Buffer.alloc(5 + fields.length);
				message.write("E");
				message.writeInt32BE(4 + fields.length, 1);
				message.write(fields, 5);
				secure.end(message);
			});
		});
	});
	server = made;
	await new Promise<void>((resolve) => made.listen(0, "0.0.0.0", resolve));
	return (made.address() as { port: number }).port;
}

/** Returns the error of a connection. Its code is 28P01 if the certificate was accepted. */
async function connect(host: string, parameters: string) {
	const port = await listen();
	const url = `postgres://assay:pw@${host}:${port}/assay?${parameters}`;
	const client = new Client(connectionTo(url));
	client.on("error", () => {});
	const error = await client.connect().catch((reason) => reason);
	await client.end().catch(() => {});
	return error as Error & { code?: string };
}

// The whole of 127/8 is this machine, but the certificate names only 127.0.0.1.
test.each([
	["localhost", "sslmode=require"],
	["127.0.0.2", "sslmode=require"],
	["localhost", `sslmode=verify-full&sslrootcert=${own}`],
	["localhost", `sslrootcert=${own}`],
	["127.0.0.2", `sslmode=verify-ca&sslrootcert=${own}`],
	["127.0.0.2", `sslmode=require&sslrootcert=${own}`],
])("%s with %s accepts the certificate, without a warning of the driver", async (host, parameters) => {
	const warn = vi.spyOn(process, "emitWarning");
	expect((await connect(host, parameters)).code).toBe("28P01");
	expect(warn).not.toHaveBeenCalled();
	warn.mockRestore();
});

test.each([
	["localhost", "sslmode=verify-full", "sslrootcert in DATABASE_URL"],
	[
		"localhost",
		`sslmode=verify-ca&sslrootcert=${other}`,
		"sslrootcert in DATABASE_URL",
	],
	[
		"localhost",
		`sslmode=require&sslrootcert=${other}`,
		"sslrootcert in DATABASE_URL",
	],
	[
		"127.0.0.2",
		`sslmode=verify-full&sslrootcert=${own}`,
		"use a host name in DATABASE_URL that the certificate",
	],
])("%s with %s refuses the certificate and says what to do", async (host, parameters, advice) => {
	const error = await connect(host, parameters);
	expect(error.code).not.toBe("28P01");
	expect(isDatabaseUnavailable(error)).toBe(true);
	expect(connectionAdvice(error)).toContain(advice);
});

test("a mode that goes on without TLS, and a file that cannot be read, are refused by name", () => {
	const read = (mode: string) =>
		readConfig({ DATABASE_URL: `postgres://a:b@c/d?sslmode=${mode}` });
	expect(() => read("prefer")).toThrow(
		"sslmode in DATABASE_URL must be one of disable, require, verify-ca, verify-full",
	);
	expect(() =>
		connectionTo("postgres://a:b@c/d?sslrootcert=/none/ca.crt"),
	).toThrow("sslrootcert in DATABASE_URL names /none/ca.crt, which cannot");
});

test.each([
	["postgres://a:b@db.example.com/d", "is not encrypted"],
	["postgres://a:b@db.example.com/d?sslmode=require", "nobody checks"],
	["postgres://a:b@db.example.com/d?sslmode=verify-full", "encrypted, with"],
	["postgres://a:b@localhost/d?host=/run/postgresql", undefined],
	["postgres://a:b@127.0.0.1/d", undefined],
])("doctor says of %s: %s", (url, found) => {
	const [finding] = examineDatabaseTls(url);
	if (found === undefined) expect(finding).toBeUndefined();
	else expect(finding?.found).toContain(found);
});
