import { lookup } from "node:dns/promises";
import { expect, test } from "vitest";
import {
	connectionAdvice,
	embeddedAdvice,
} from "../../src/db/connection-advice.ts";
import { assay } from "../support/program.ts";

test.each([
	["localhost", "write 127.0.0.1 instead of localhost into DATABASE_URL"],
	["db.localhost", "write 127.0.0.1 instead of db.localhost"],
	["postgres", "if postgres is a container or a service"],
	["db.example.invalid", "correct the name of the host in DATABASE_URL, or"],
])("the advice about the name %s without an address says what to do about such a name", (hostname, advice) => {
	for (const code of ["ENOTFOUND", "EAI_AGAIN"]) {
		const error = Object.assign(new Error(code), { code, hostname });
		expect(connectionAdvice(error)).toContain(advice);
	}
});

test("a command names the container whose name this machine does not know", async () => {
	const host = "no-such-container";
	await expect(lookup(host)).rejects.toMatchObject({ hostname: host });
	const DATABASE_URL = `postgres://assay:a@${host}/assay`;
	const { stderr } = await assay(["org", "list"], { DATABASE_URL });
	expect(stderr).toContain(`if ${host} is a container or a service`);
});

test("no advice on the embedded PostgreSQL names DATABASE_URL, because there is none", () => {
	const codes = ["ECONNREFUSED", "28P01", "3D000", "42501", "57P03", "53100"];
	for (const code of [undefined, ...codes]) {
		const error = Object.assign(new Error("timeout expired"), { code });
		expect(embeddedAdvice(error)).not.toContain("DATABASE_URL");
	}
	const full = Object.assign(new Error("no room"), { code: "53100" });
	expect(embeddedAdvice(full)).toContain("make room");
});
