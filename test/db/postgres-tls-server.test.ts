import { chownSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { connectionOf } from "../../src/db/embedded-users.ts";
import {
	chooseOsUser,
	locateBinaries,
} from "../../src/db/postgres-binaries.ts";
import { type Cluster, readCluster } from "../../src/db/postgres-cluster.ts";
import { startPostmaster, stopPostmaster } from "../../src/db/postmaster.ts";
import { CERTIFICATE, PRIVATE_KEY } from "../agent/certificate.ts";
import { makeFolderSync } from "../support/folder.ts";
import { copyDataFolder } from "../support/made-data.ts";
import { assay, startAssay } from "../support/program.ts";

/** A PostgreSQL with a certificate of its own authority, which accepts only TLS. */
const folder = makeFolderSync("assay-postgres-tls-server-");
const authority = join(folder, "authority.pem");
let cluster: Cluster;

beforeAll(async () => {
	await copyDataFolder(join(folder, "data"));
	const made = readCluster(join(folder, "data"));
	if (!made) throw new Error("there is no database");
	const port = await freePort();
	cluster = { ...made, port };
	const { directory } = cluster;
	const user = chooseOsUser(directory);
	const binaries = await locateBinaries(user, "/var/lib/assay");
	const files = {
		"server.crt": CERTIFICATE,
		"server.key": PRIVATE_KEY,
		"postgresql.auto.conf": "ssl = on\n",
		"pg_hba.conf": "hostssl all all 127.0.0.1/32 scram-sha-256\n",
	};
	for (const [name, text] of Object.entries(files)) {
		const path = join(directory, name);
		writeFileSync(path, text, { mode: 0o600 });
		if (user) chownSync(path, user.uid, user.gid);
	}
	writeFileSync(authority, CERTIFICATE);
	startPostmaster(binaries, directory, user, port);
	const answers = async () => (await ask("select 1")) !== undefined;
	await vi.waitUntil(answers, { timeout: 60_000 });
});

afterAll(async () => {
	await stopPostmaster(cluster.directory);
	rmSync(folder, { recursive: true });
});

function freePort(): Promise<number> {
	return new Promise((resolve) => {
		const probe = createServer().listen(0, "127.0.0.1", () => {
			const { port } = probe.address() as { port: number };
			probe.close(() => resolve(port));
		});
	});
}

/** Runs a statement as the superuser. Returns undefined while the server does not answer. */
async function ask(statement: string) {
	const client = new Client({
		...connectionOf(cluster),
		database: "postgres",
		ssl: { ca: CERTIFICATE },
	});
	try {
		await client.connect();
		return (await client.query(statement)).rows;
	} catch {
		return undefined;
	} finally {
		await client.end().catch(() => {});
	}
}

function settingsWith(parameters: string) {
	const { user, password, port } = connectionOf(cluster);
	const server = `postgres://${user}:${password}@localhost:${port}/assay`;
	return { DATABASE_URL: `${server}?${parameters}` };
}

test.each([
	"sslmode=verify-full&sslrootcert=",
	"sslmode=require&sslrootcert=",
])("the service uses TLS on every connection with %s, and the driver warns of nothing", async (parameters) => {
	const service = await startAssay(settingsWith(`${parameters}${authority}`));
	try {
		expect((await fetch(`${service.url}/health/ready`)).status).toBe(200);
		const connections = await ask(
			"select distinct ssl from pg_stat_ssl join pg_stat_activity using (pid) where datname = 'assay'",
		);
		expect(connections).toEqual([{ ssl: true }]);
	} finally {
		await service.stop("SIGTERM");
	}
	// A warning of the driver or of Node would be a line that is not JSON.
	for (const line of service.stderr().trim().split("\n")) {
		expect(JSON.parse(line)).not.toHaveProperty("level", "warn");
	}
});

test("without the authority, the service names sslrootcert and changes nothing", async () => {
	const settings = settingsWith("sslmode=verify-full");
	const { code, stderr } = await assay(["start"], settings);
	expect(code).toBe(1);
	expect(stderr).toContain("sslrootcert in DATABASE_URL");
});
