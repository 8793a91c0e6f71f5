import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { toAppError } from "../src/errors.ts";
import { makeFolder } from "./support/folder.ts";

test.each([
	["57014", "the service's database is too slow to answer"],
	["55P03", "overloaded: other requests change the same data"],
	["40P01", "overloaded: other requests change the same data"],
	["ECONNREFUSED", "cannot reach its database"],
	["25006", "does not accept writes"],
	["53100", "cannot store data at the moment"],
])("the 503 for %s says whether the database or the load is the cause", (code, message) => {
	expect(toAppError(Object.assign(new Error("x"), { code }))).toMatchObject({
		code: "service_unavailable",
		message: expect.stringContaining(message),
	});
});

test("a missing database socket counts as an unreachable database, and a missing file of our own as an internal error", async () => {
	const folder = await makeFolder("assay-nothing-");
	onTestFinished(() => rm(folder, { recursive: true }));
	const socket = await new Client({ host: folder, user: "nobody" })
		.connect()
		.catch((error: unknown) => error);
	expect(toAppError(socket)).toMatchObject({ code: "service_unavailable" });
	const file = await readFile(join(folder, "absent")).catch(
		(error: unknown) => error,
	);
	expect(toAppError(file)).toMatchObject({ code: "internal_server_error" });
});
