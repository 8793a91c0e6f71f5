import { type ChildProcess, spawn } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { fill, makeBenchFolder, type Stand } from "../faults/stand.ts";
import { freePort, OwnService } from "../own-service.ts";
import { adapt, Machine } from "./machine.ts";

const START_TIMEOUT_MS = 180_000;
const OWNER_PASSWORD = "the service's";

/** Two services behind HAProxy that use two PostgreSQL servers under Patroni, as in `deploy/`. */
export interface HaStand extends Pick<Stand, "fleet" | "tenants" | "asOwner"> {
	/** The port for devices and clients. */
	port: number;
	services: OwnService[];
	/** The two machines with PostgreSQL. */
	machines: [Machine, Machine];
	/** Resolves when there is a primary, and a synchronous standby that has every write. */
	untilSynchronous: () => Promise<{ primary: Machine; standby: Machine }>;
	/** Resolves when writes no longer wait for a standby. */
	untilAlone: () => Promise<void>;
	close: () => Promise<void>;
}

export async function makeHaStand(devices: number): Promise<HaStand> {
	const folder = makeBenchFolder();
	const undo: (() => Promise<void> | void)[] = [
		() => rmSync(folder, { recursive: true, force: true }),
	];
	const close = async () => {
		for (let step = undo.pop(); step; step = undo.pop()) await step();
	};
	try {
		// There are 16 million loopback addresses, and only this run uses the ones in this network.
		const network = `127.${100 + (process.pid % 100)}.${(process.pid >> 7) % 200}`;
		const machine = (name: string, host: number, hasPostgres = true) =>
			new Machine(name, folder, network, host, hasPostgres);
		const machines: [Machine, Machine] = [
			machine("db1", 11),
			machine("db2", 12),
		];
		const all = [...machines, machine("witness", 13, false)];
		undo.push(async () => {
			for (const each of all) each.kill();
			// PostgreSQL's last child processes need a moment to leave the folder.
			await sleep(500);
		});
		for (const each of all) each.start();

		const ports = [await freePort(), await freePort(), await freePort()];
		const [port = 0, ...servicePorts] = ports;
		const haproxy = startHaproxy(folder, network, port, servicePorts);
		undo.push(() => void haproxy.kill("SIGKILL"));

		const asOwner: Stand["asOwner"] = async (work) => {
			const client = new Client({
				host: `${network}.1`,
				port: 5000,
				user: "postgres",
				password: "REPLACE-superuser",
				database: "assay",
				connectionTimeoutMillis: 5_000,
			});
			client.on("error", () => {});
			await client.connect();
			try {
				return await work(client);
			} finally {
				await client.end();
			}
		};
		const standbyNow = () =>
			asOwner(async (client) => {
				const { rows } = await client.query<{ awaited: string; name: string }>(
					`select current_setting('synchronous_standby_names') as awaited,
						(select application_name from pg_stat_replication where sync_state = 'sync' and state = 'streaming') as name`,
				);
				if (!rows[0]) throw new Error("a setting has a row");
				return rows[0];
			});
		const untilSynchronous = async () => {
			const standbyName = await eventually(async () => {
				const { name } = await standbyNow();
				if (!name) throw new Error("no standby is synchronous");
				return name;
			}, machines);
			const [one, other] = machines;
			return one.name === standbyName
				? { primary: other, standby: one }
				: { primary: one, standby: other };
		};
		const untilAlone = () =>
			eventually(async () => {
				const { awaited } = await standbyNow();
				if (awaited) throw new Error(`writes wait for ${awaited}`);
			}, machines);

		await eventually(() => makeDatabase(`${network}.1`), machines);
		await untilSynchronous();
		const url = `postgres://assay:${encodeURIComponent(OWNER_PASSWORD)}@${network}.1:5000/assay`;
		const services = servicePorts.map(
			(servicePort, index) =>
				new OwnService(servicePort, join(folder, `service${index}`), url),
		);
		for (const service of services) {
			undo.push(() => service.stop());
			await service.start();
		}
		const { fleet, tenants } = await asOwner((client) => fill(client, devices));
		const rest = { asOwner, untilSynchronous, untilAlone, close };
		return { port, services, machines, fleet, tenants, ...rest };
	} catch (error) {
		await close();
		throw error;
	}
}

/**
 * Creates the database through the proxy, with an owner who is not a superuser. An operator does
 * this once.
 */
async function makeDatabase(host: string): Promise<void> {
	const client = new Client({
		host,
		port: 5000,
		user: "postgres",
		password: "REPLACE-superuser",
		database: "postgres",
		connectionTimeoutMillis: 5_000,
	});
	client.on("error", () => {});
	await client.connect();
	try {
		await client.query(
			`create role assay login createrole password '${OWNER_PASSWORD.replace("'", "''")}'`,
		);
		await client.query("create database assay owner assay");
	} finally {
		await client.end();
	}
}

function startHaproxy(
	folder: string,
	network: string,
	port: number,
	[one, two]: number[],
): ChildProcess {
	const database = adapt("haproxy/database.cfg", [
		["bind 127.0.0.1:", `bind ${network}.1:`],
		["10.0.0.", `${network}.`],
	]);
	const service = adapt("haproxy/service.cfg", [
		[/bind :443 .*/, `bind 127.0.0.1:${port}`],
		["10.0.0.21:8080", `127.0.0.1:${one}`],
		["10.0.0.22:8080", `127.0.0.1:${two}`],
	]);
	const file = join(folder, "haproxy.cfg");
	writeFileSync(file, `${database}\n${service}`);
	const PATH = `/usr/sbin:${process.env.PATH}`;
	const child = spawn("haproxy", ["-db", "-q", "-f", file], {
		env: { PATH },
		detached: true,
		stdio: ["ignore", "inherit", "inherit"],
	});
	child.on("error", () => {});
	return child;
}

/**
 * Retries `attempt` until it succeeds. If it never does, rejects with its last error and the logs
 * of the machines.
 */
async function eventually<Result>(
	attempt: () => Promise<Result>,
	machines: Machine[],
): Promise<Result> {
	const deadline = performance.now() + START_TIMEOUT_MS;
	for (;;) {
		try {
			return await attempt();
		} catch (error) {
			if (performance.now() < deadline) {
				await sleep(250);
				continue;
			}
			const logs = machines.map(({ name, log }) => `${name}:\n${log}`);
			throw new Error(`${error}\n${logs.join("\n")}`, { cause: error });
		}
	}
}
