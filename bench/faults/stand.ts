import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client } from "pg";
import type { Tenant } from "../failover/writers.ts";
import { type Fleet, makeFleet } from "../fleet.ts";
import { seedRegister } from "../mcp-seed.ts";
import { OwnPostgres } from "../own-postgres.ts";
import { freePort, OwnService } from "../own-service.ts";
import { seed } from "../seed.ts";

const ORGANIZATIONS = 4;

/** A service with its own database, devices and users. */
export interface Stand {
	folder: string;
	postgres: OwnPostgres;
	service: OwnService;
	fleet: Fleet;
	tenants: Tenant[];
	/** Runs `work` with a connection of the database's owner. */
	asOwner: <Result>(
		work: (client: Client) => Promise<Result>,
	) => Promise<Result>;
	close: () => Promise<void>;
}

/**
 * Makes a temporary folder that PostgreSQL can enter. If root runs this program, PostgreSQL runs as
 * another user.
 */
export function makeBenchFolder(): string {
	const folder = mkdtempSync(join(tmpdir(), "assay-bench-"));
	chmodSync(folder, 0o711);
	return folder;
}

/**
 * Makes a stand. If `dataFolder` is given, the database is there instead of in a temporary folder.
 */
export async function makeStand(
	devices: number,
	dataFolder?: string,
): Promise<Stand> {
	const folder = makeBenchFolder();
	const postgres = await OwnPostgres.create(dataFolder ?? join(folder, "db"));
	const service = new OwnService(
		await freePort(),
		join(folder, "service"),
		postgres.url,
	);
	const asOwner: Stand["asOwner"] = async (work) => {
		const client = await postgres.connect();
		try {
			return await work(client);
		} finally {
			await client.end();
		}
	};
	const close = async () => {
		await service.stop();
		await postgres.stop();
		rmSync(folder, { recursive: true, force: true });
	};
	try {
		await service.start();
		const { fleet, tenants } = await asOwner((client) => fill(client, devices));
		return { folder, postgres, service, fleet, tenants, asOwner, close };
	} catch (error) {
		await close();
		throw error;
	}
}

/** Adds devices and users to a database that a service has already migrated. */
export async function fill(
	client: Client,
	devices: number,
): Promise<Pick<Stand, "fleet" | "tenants">> {
	const fleet = makeFleet(devices, ORGANIZATIONS);
	await seed(client, fleet);
	const { organizations, tokens } = await seedRegister(client, {
		organizations: ORGANIZATIONS,
		risks: 400,
	});
	const tenants = organizations.map((organizationId, index) => ({
		organizationId,
		token: tokens[index] as string,
	}));
	return { fleet, tenants };
}
