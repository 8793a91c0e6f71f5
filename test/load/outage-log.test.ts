import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
	assertHasRoom,
	assertTakesWrites,
	makePool,
} from "../../src/db/pool.ts";
import { OutageLog } from "../../src/load/outage-log.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";
import { openDatabaseProxy } from "../support/database-proxy.ts";
import { makeFolder } from "../support/folder.ts";
import { startAssay } from "../support/program.ts";
import { ReadableLog } from "../support/readable-log.ts";
import { heartbeatBody, startService } from "../support/service.ts";

let database: TestDatabase;
let folder: string;
beforeAll(async () => {
	database = await createDatabase();
	folder = await makeFolder("assay-outage-log-");
});
afterAll(async () => {
	await database.drop();
	await rm(folder, { recursive: true });
});

test("an outage of the database is logged at the first failure, with the cause, and at the end, with a count", async () => {
	const proxy = await openDatabaseProxy(database.url);
	const service = await startAssay({
		DATABASE_URL: proxy.url,
		ASSAY_DATA_DIR: join(folder, "data"),
	});
	const ready = () => fetch(`${service.url}/health/ready`);
	await proxy.cut();
	for (let n = 0; n < 20; n++) {
		expect((await ready()).status).toBe(503);
	}
	await proxy.restore();
	while (!service.stderr().includes("is back")) {
		await new Promise((done) => setTimeout(done, 50));
	}
	expect((await ready()).status).toBe(200);
	expect(await service.stop("SIGTERM")).toBe(0);
	const lines = service
		.stderr()
		.split("\n")
		.filter((line) => line.startsWith("{"))
		.map((line) => JSON.parse(line));
	// Background work fails too, and has no lines of its own.
	const about = lines.filter(({ level }) => level !== "info");
	expect(about).toMatchObject([
		// The first failure may be a connection that was cut, which has no code.
		{ level: "error", reason: expect.any(String) },
		{
			level: "warn",
			refused: 20,
			seconds: expect.any(Number),
			causes: expect.any(Object),
		},
	]);
	expect(service.stderr()).not.toContain("stack");
});

test("the log says that the database is back only when it takes new connections", async () => {
	const log = new ReadableLog();
	const proxy = await openDatabaseProxy(database.url);
	const pool = makePool(
		{ connectionString: proxy.url },
		{ max: 2, timeLimitFactor: 0.1 },
	);
	await pool.query("select 1");
	// As if only the postmaster was stopped: the connection that the pool has still answers.
	proxy.hangNew();
	const outage = new OutageLog(log.logger, pool);
	outage.note(new Error("timeout expired"), {}, "request failed");
	const before = proxy.connections();
	while (proxy.connections() < before + 2 && log.lines.length < 2) {
		await new Promise((done) => setTimeout(done, 50));
	}
	await expect(assertTakesWrites(pool)).resolves.toBeUndefined();
	expect(log.lines).toHaveLength(1);
	await proxy.cut();
	await proxy.restore();
	while (log.lines.length < 2) {
		await new Promise((done) => setTimeout(done, 50));
	}
	expect(log.lines[1]?.msg).toMatch(/^the database is back after \d+ s/);
	await pool.end();
	await proxy.cut();
});

test("background work that fails in an outage has no line, and another error of it has one", async () => {
	const { lines, logger } = new ReadableLog();
	const pool = makePool({ connectionString: database.url }, { max: 1 });
	const outage = new OutageLog(logger, pool);
	const log = outage.forBackgroundWork();
	const lost = Object.assign(new Error("connect ECONNREFUSED"), {
		code: "ECONNREFUSED",
	});
	for (const job of ["mails", "events"]) log.warn({ err: lost, job }, "waits");
	log.error({ err: new Error("a bug"), job: "mails" }, "failed");
	logger.level = "error";
	log.warn("a level that changes later counts");
	outage.close();
	log.error({ err: lost }, "while the service stops");
	await pool.end();
	expect(lines).toMatchObject([
		{
			level: 50,
			code: "ECONNREFUSED",
			job: "mails",
			msg: expect.stringMatching(/^waits: the database does not answer/),
		},
		{ level: 50, err: { message: "a bug" }, msg: "failed" },
		{ level: 50, msg: "while the service stops" },
	]);
	expect(lines[0]).not.toHaveProperty("err");
});

test("the advice about a lost embedded server names no DATABASE_URL, because there is none", async () => {
	const pool = makePool({ connectionString: database.url }, { max: 1 });
	const lost = Object.assign(new Error("connect ECONNREFUSED"), {
		code: "ECONNREFUSED",
	});
	const advice = [true, false].map((isEmbedded) => {
		const { lines, logger } = new ReadableLog();
		const outage = new OutageLog(logger, pool, isEmbedded);
		outage.note(lost, {}, "request failed");
		outage.close();
		return lines[0]?.advice;
	});
	await pool.end();
	expect(advice).toEqual([
		expect.stringContaining("starts its PostgreSQL again"),
		expect.stringContaining("DATABASE_URL"),
	]);
});

test("a database that hangs or is stopped has advice too, which fits the embedded one", async () => {
	const pool = makePool({ connectionString: database.url }, { max: 1 });
	const adviceOn = (error: Error, isEmbedded: boolean) => {
		const { lines, logger } = new ReadableLog();
		const outage = new OutageLog(logger, pool, isEmbedded);
		outage.note(error, {}, "request failed");
		outage.close();
		return lines[0]?.advice;
	};
	const failure = (message: string, code?: string) =>
		Object.assign(new Error(message), code && { code });
	for (const isEmbedded of [true, false]) {
		for (const error of [
			failure("Query read timeout"),
			failure("timeout exceeded when trying to connect"),
			failure("terminating connection", "57P01"),
		]) {
			expect(adviceOn(error, isEmbedded)).toMatch(/^`assay doctor` says/);
		}
		expect(adviceOn(failure("no room", "53100"), isEmbedded)).toMatch(
			/ is full: make room/,
		);
		// One request may be slow without an outage.
		expect(adviceOn(failure("deadlock", "40P01"), isEmbedded)).toBeUndefined();
	}
	const rejected = failure("password authentication failed", "28P01");
	expect(adviceOn(rejected, true)).toMatch(/^`assay doctor` says/);
	expect(adviceOn(rejected, false)).toContain("DATABASE_URL");
	await pool.end();
});

test("the log says that the database has room only when it can store something", async () => {
	const log = new ReadableLog();
	const own = await createDatabase();
	const { owner } = own;
	// PostgreSQL refuses to write files of statements, as on a full disk. Reads and small writes work.
	const name = new URL(own.url).pathname.slice(1);
	await owner.query(`alter database ${name} set temp_file_limit = '64kB'`);
	const pool = makePool({ connectionString: own.url }, { max: 1 });
	const outage = new OutageLog(log.logger, pool);
	const full = Object.assign(new Error("No space left on device"), {
		code: "53100",
	});
	outage.note(full, {}, "request failed");
	await expect(assertTakesWrites(pool)).resolves.toBeUndefined();
	await expect(assertHasRoom(pool)).rejects.toThrow("temporary file size");
	// Two looks later, it still says nothing.
	await new Promise((done) => setTimeout(done, 2_500));
	expect(log.lines).toHaveLength(1);
	await owner.query(`alter database ${name} reset temp_file_limit`);
	while (log.lines.length < 2) {
		await new Promise((done) => setTimeout(done, 50));
	}
	expect(log.lines[1]).toMatchObject({
		refused: 1,
		msg: expect.stringMatching(/^the database has room after \d+ s/),
	});
	await pool.end();
	await own.drop();
});

test("when the disk of the database is full, the log says what to do, and the caller learns only to retry", async () => {
	const log = new ReadableLog();
	const { logger } = log;
	const assay = await startService(undefined, {}, undefined, logger);
	try {
		const device = await assay.activateDevice();
		// PostgreSQL reports a full disk with this code and text.
		await assay.database.owner.query(`
			create function find_no_room() returns trigger language plpgsql as $$
			begin
				raise exception using errcode = '53100',
					message = 'could not extend file "base/5/16384": No space left on device';
			end $$;
			create trigger find_no_room before insert or update on devices
				for each statement execute function find_no_room()`);
		const facts = heartbeatBody({ hardware_uuid: device.hardwareUuid });
		const answer = await assay.post("heartbeat", facts, { key: device.key });
		expect(answer.status).toBe(503);
		expect(answer.headers.get("retry-after")).toMatch(/^\d+$/);
		const { message } = (await answer.json()) as { message: string };
		expect(message).toMatch(/^the service cannot store data at the moment/);
		expect(message).not.toMatch(/disk|space|file|database/);
		const [line] = log.lines.filter(({ level }) => Number(level) >= 40);
		expect(line).toMatchObject({
			advice: expect.stringMatching(/disk .* is full: make room on it/),
			code: "53100",
			msg: expect.stringContaining("the disk of the database is full"),
		});
	} finally {
		await assay.close();
	}
});
