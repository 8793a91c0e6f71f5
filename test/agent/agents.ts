import { expect } from "vitest";
import { withTenant } from "../../src/db/pool.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { runAgent } from "../support/command.ts";
import {
	type DatabaseProxy,
	openDatabaseProxy,
} from "../support/database-proxy.ts";
import { startService, type TestService } from "../support/service.ts";
import { makeAgentFolder } from "./folders.ts";

/** An organization with this machine as one of its devices. */
interface Enrolled {
	organizationId: string;
	deviceId: string;
}

/** A service, and agents on this machine that report to it. */
export interface TestAgents {
	assay: TestService;
	/** A proxy between the service and its database. */
	database: DatabaseProxy;
	/**
	 * Creates an enrollment token in a new organization, which does not have this machine as a device
	 * yet.
	 */
	makeToken: () => Promise<{
		organizationId: string;
		id: string;
		token: string;
	}>;
	/**
	 * Enrolls this machine and stores the key in `folder`, without a service manager. The token goes
	 * to standard input.
	 */
	install: (
		folder: string,
		token?: string,
		more?: string[],
		url?: string,
	) => ReturnType<typeof runAgent>;
	/** Creates a folder in which this machine is enrolled. */
	enroll: () => Promise<Enrolled & { folder: string }>;
	/** Returns the rows of a query about a device of the organization. $1 is the device's id. */
	query: <Row extends object>(device: Enrolled, sql: string) => Promise<Row[]>;
	readStatus: (device: Enrolled) => Promise<string | undefined>;
	countReports: (device: Enrolled) => Promise<number>;
}

export async function startAgents(): Promise<TestAgents> {
	let database: DatabaseProxy | undefined;
	const service = await startService(async (url) => {
		database = await openDatabaseProxy(url);
		return database.url;
	});
	if (!database) throw new Error("the service asked for no database");

	const makeToken = async () => {
		const organizationId = await createOrganization(
			service.database.pool,
			"Acme",
		);
		return { organizationId, ...(await service.makeToken(organizationId)) };
	};

	const install: TestAgents["install"] = (
		folder,
		token = "",
		more = [],
		url = service.service.url,
	) =>
		runAgent(
			["install", "--server", url, "--no-service", "--dir", folder, ...more],
			{},
			token,
		);

	const enroll = async () => {
		const folder = await makeAgentFolder();
		const { id, token, organizationId } = await makeToken();
		const { code, stderr } = await install(folder, `${token}\n`);
		expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
		return { folder, deviceId: id, organizationId };
	};

	const query = <Row extends object>(
		{ organizationId, deviceId }: Enrolled,
		sql: string,
	): Promise<Row[]> =>
		withTenant(
			service.database.pool,
			organizationId,
			async (client) => (await client.query<Row>(sql, [deviceId])).rows,
		);

	return {
		assay: service,
		database,
		makeToken,
		install,
		enroll,
		query,
		readStatus: async (device) => {
			const [row] = await query<{ status: string }>(
				device,
				"select status from devices where id = $1",
			);
			return row?.status;
		},
		countReports: async (device) => {
			const rows = await query(
				device,
				"select distinct report_id from posture_reports where device_id = $1",
			);
			return rows.length;
		},
	};
}
