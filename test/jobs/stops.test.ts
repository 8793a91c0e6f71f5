import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { openServer } from "../../src/db/database.ts";
import { STOP_ORDER, Stops } from "../../src/jobs/stops.ts";
import { queueMail } from "../../src/mail/queue.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { serve } from "../../src/serve.ts";
import { createDatabaseForTest } from "../support/database.ts";
import { makeUser } from "../support/people.ts";
import { ReadableLog } from "../support/readable-log.ts";
import { until } from "../support/until.ts";

test("things stop in a fixed order, whatever the order of their starts, and each only once", async () => {
	const stopped: string[] = [];
	const stops = new Stops();
	for (const name of ["database", "tracing", "web server"] as const) {
		stops.add(name, async () => {
			await null;
			stopped.push(name);
		});
	}
	await Promise.all([stops.run(), stops.run()]);
	expect(stopped).toEqual(["web server", "database", "tracing"]);
});

test("a stop that fails keeps no other from running, and its error is not lost", async () => {
	const stopped: string[] = [];
	const stops = new Stops();
	stops.add("metrics", () => Promise.reject(new Error("no answer")));
	stops.add("database", () => stopped.push("database"));
	await expect(stops.run()).rejects.toThrow("no answer");
	expect(stopped).toEqual(["database"]);

	const several = new Stops();
	several.add("metrics", () => Promise.reject(new Error("first")));
	several.add("database", () => Promise.reject(new Error("second")));
	await expect(several.run()).rejects.toMatchObject({
		message: "first",
		errors: [new Error("first"), new Error("second")],
	});
});

test("the service stops everything that has a place in the order", () => {
	const source = readFileSync(
		join(import.meta.dirname, "../../src/serve.ts"),
		"utf8",
	);
	const added = [...source.matchAll(/\bstops\.add\("([^"]+)",/g)];
	expect(added.map(([, name]) => name).sort()).toEqual([...STOP_ORDER].sort());
});

/** Returns settings with a port that another program has taken. */
async function takenPort(databaseUrl: string) {
	const other = createServer().listen(0, "127.0.0.1");
	onTestFinished(() => {
		other.close();
	});
	await once(other, "listening");
	const { port } = other.address() as AddressInfo;
	const config = readConfig({
		ASSAY_HOST: "127.0.0.1",
		ASSAY_PORT: String(port),
		ASSAY_SECRET: "what the sessions of the tests are signed with",
		ASSAY_SMTP_URL: "smtp://127.0.0.1:1",
		ASSAY_MAIL_FROM: "Assay <assay@example.com>",
		DATABASE_URL: databaseUrl,
	});
	return { config, message: `already listens on 127.0.0.1:${port}` };
}

test("a start on a port that is taken says so, also if something cannot be stopped, and closes its connections", async () => {
	const { url, owner } = await createDatabaseForTest();
	const { config, message } = await takenPort(url);
	const log = new ReadableLog();
	const server = {
		...(await openServer(config)),
		close: () => Promise.reject(new Error("PostgreSQL does not stop")),
	};
	await expect(
		serve(config, log.logger, undefined, undefined, Promise.resolve(server)),
	).rejects.toThrow(message);
	expect(log.lines).toContainEqual(
		expect.objectContaining({
			msg: "a failed start could not stop properly",
			err: expect.objectContaining({ message: "PostgreSQL does not stop" }),
		}),
	);
	await until("the end of the connections", async () => {
		const { rowCount } = await owner.query(
			"select from pg_stat_activity where datname = current_database() and application_name like 'assay%'",
		);
		return rowCount === 0;
	});
});

test("a start that fails sends no mail", async () => {
	const database = await createDatabaseForTest();
	const { url, owner } = database;
	const { config, message } = await takenPort(url);
	const organizationId = await createOrganization(database.pool, "Acme");
	const { id: userId } = await makeUser(database, {
		organizationId,
		role: "admin",
	});
	await queueMail(owner, { kind: "TEST", organizationId, userId });
	await expect(serve(config, new ReadableLog().logger)).rejects.toThrow(
		message,
	);
	const { rows } = await owner.query("select attempts from mails");
	expect(rows).toEqual([{ attempts: 0 }]);
});
