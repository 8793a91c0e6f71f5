import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { readConfig } from "../../src/config/config.ts";
import { withTenant } from "../../src/db/pool.ts";
import { createDevice } from "../../src/devices/enrollment.ts";
import type { ConsoleFiles } from "../../src/http/console-files.ts";
import { makeLogger } from "../../src/log.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { type Service, serve } from "../../src/serve.ts";
import { createDatabase, SHARED, type TestDatabase } from "./database.ts";
import { quickRequest } from "./quick-request.ts";
import { noteShared } from "./shared.ts";

export interface TestService {
	service: Service;
	database: TestDatabase;
	organizationId: string;
	/** Sends `body` to a route of the agent with POST. An object is sent as JSON. */
	post: (
		route: string,
		body: unknown,
		options?: { key?: string; headers?: Record<string, string> },
	) => Promise<Response>;
	/** Creates a device that has exchanged its token and is still PENDING. */
	enrollDevice: (organizationId?: string) => Promise<TestDevice>;
	/** Creates a device that has sent its first heartbeat and is ACTIVE. */
	activateDevice: (organizationId?: string) => Promise<TestDevice>;
	/**
	 * Activates devices, only a few at a time, because the service answers 503 if there are too many
	 * at once.
	 */
	activateDevices: (
		count: number,
		organizationId?: string,
	) => Promise<TestDevice[]>;
	/** Creates a device. Returns its enrollment token. */
	makeToken: (organizationId?: string) => Promise<TestToken>;
	close: () => Promise<void>;
}

const ACTIVATED_TOGETHER = 8;
/** The secret of a service, unless its settings have another one. */
export const SERVICE_SECRET = "what the sessions of the tests are signed with";
/** The work of once a day would remove or pack rows of a test file that lasts long. */
const AFTER_THE_TESTS_MS = 3_600_000;

export interface TestToken {
	id: string;
	token: string;
}

export interface TestDevice {
	id: string;
	key: string;
	hardwareUuid: string;
}

/** Returns a valid heartbeat. By default, no other device has its hardware. */
export function heartbeatBody(fields: Record<string, unknown> = {}) {
	return {
		hardware_uuid: crypto.randomUUID(),
		serial_number: "C02XK1",
		hostname: "laptop",
		platform: "LINUX",
		os_version: "Debian 12",
		agent_version: "1.0.0",
		...fields,
	};
}

/** Returns a valid posture result. */
export function postureResult(fields: Record<string, unknown> = {}) {
	return {
		check_key: "DISK_ENCRYPTION",
		status: "PASS",
		observed_at: new Date().toISOString(),
		...fields,
	};
}

/**
 * Sends a request again while the answer is 503 with Retry-After, as an agent does, and returns the
 * first other answer. A busy machine makes the service turn requests away that it would otherwise
 * take. A test need not wait as long as Retry-After says.
 */
export async function untilTaken(
	send: () => Promise<Response>,
): Promise<Response> {
	for (;;) {
		const answer = await send();
		if (answer.status !== 503 || !answer.headers.has("retry-after")) {
			return answer;
		}
		await answer.arrayBuffer();
		await sleep(200);
	}
}

/**
 * Returns the error of a rejected request. Throws if the answer does not have the form of an error.
 */
export async function readError(response: Response): Promise<{
	status: number;
	error: string;
	message: string;
}> {
	const text = await response.text();
	const type = response.headers.get("content-type");
	const body = JSON.parse(text) as Record<string, unknown>;
	if (
		!type?.startsWith("application/json") ||
		Object.keys(body).sort().join() !== "error,message" ||
		typeof body.error !== "string" ||
		typeof body.message !== "string" ||
		body.message === ""
	) {
		throw new Error(`no error body: ${response.status} ${type} ${text}`);
	}
	return { status: response.status, error: body.error, message: body.message };
}

/**
 * Starts the whole service on a free port, with a new database and an organization. `reach` may put
 * a proxy between the service and its database. `settings` are added to the default settings. The
 * work of once a day does not begin, unless `dailyWorkAfterMs` says when.
 */
export async function startService(
	reach: (databaseUrl: string) => Promise<string> = async (url) => url,
	settings: Record<string, string> = {},
	webConsole?: ConsoleFiles,
	log?: Logger,
	dailyWorkAfterMs?: number,
): Promise<TestService> {
	const database = await createDatabase();
	const service = await serveFrom(
		await reach(database.url),
		settings,
		webConsole,
		log,
		dailyWorkAfterMs,
	).catch(async (error) => {
		await database.drop();
		throw error;
	});
	return withDevices(service, database, async () => {
		await service.close();
		await database.drop();
	});
}

function serveFrom(
	databaseUrl: string,
	settings: Record<string, string> = {},
	webConsole?: ConsoleFiles,
	log: Logger = makeLogger("silent"),
	dailyWorkAfterMs = AFTER_THE_TESTS_MS,
): Promise<Service> {
	return serve(
		{
			...readConfig({
				ASSAY_PORT: "0",
				ASSAY_SECRET: SERVICE_SECRET,
				DATABASE_URL: databaseUrl,
				...settings,
			}),
			dailyWorkAfterMs,
		},
		log,
		webConsole,
	);
}

/**
 * Starts a service on a database that is a copy of the one of `filled`, and acts for its organization.
 */
export async function startServiceOn(
	database: TestDatabase,
	{ organizationId }: Pick<TestService, "organizationId">,
): Promise<TestService> {
	const service = await serveFrom(database.url);
	return withRequests(service, database, organizationId, async () => {
		await service.close();
		await database.drop();
	});
}

let shared: ReturnType<typeof startShared> | undefined;

/**
 * Returns the service that files of this process share, with a new organization. A file may use it
 * if it needs no settings of its own, looks only at its own organizations, and changes nothing of the
 * service, of its process or of other organizations. The service ends with the process, or earlier
 * by `endShared`.
 */
export async function shareService(): Promise<TestService> {
	shared ??= startShared();
	const { service, database } = await shared;
	return withDevices(service, database, async () => {});
}

async function startShared() {
	const database = await createDatabase(SHARED);
	const service = await serveFrom(database.url);
	noteShared(async () => {
		shared = undefined;
		await service.close();
	});
	return { service, database };
}

async function withDevices(
	service: Service,
	database: TestDatabase,
	close: () => Promise<void>,
): Promise<TestService> {
	const organizationId = await createOrganization(database.owner, "Acme");
	return withRequests(service, database, organizationId, close);
}

function withRequests(
	service: Service,
	database: TestDatabase,
	organizationId: string,
	close: () => Promise<void>,
): TestService {
	const post: TestService["post"] = (route, body, options = {}) =>
		quickRequest(`${service.url}/api/agent/v1/${route}`, {
			method: "POST",
			body:
				typeof body === "string" || body instanceof Uint8Array
					? body
					: JSON.stringify(body),
			headers: {
				...(options.key ? { authorization: `Bearer ${options.key}` } : {}),
				...options.headers,
			},
		});

	const makeToken = async (organization = organizationId) => {
		const created = await withTenant(database.pool, organization, (client) =>
			createDevice(client, {
				organizationId: organization,
				name: "laptop",
				tokenDays: 7,
				createdBy: "test",
			}),
		);
		return { id: created.device_id, token: created.enrollment_token };
	};

	const enrollDevice = async (organization = organizationId) => {
		const { id, token } = await makeToken(organization);
		const answer = await untilTaken(() => post("enroll", { token }));
		const { api_key } = (await answer.json()) as { api_key: string };
		return { id, key: api_key, hardwareUuid: crypto.randomUUID() };
	};

	const activateDevice = async (organization = organizationId) => {
		const device = await enrollDevice(organization);
		const body = heartbeatBody({ hardware_uuid: device.hardwareUuid });
		const answer = await untilTaken(() =>
			post("heartbeat", body, { key: device.key }),
		);
		if (answer.status !== 200) throw new Error(await answer.text());
		return device;
	};

	const activateDevices: TestService["activateDevices"] = async (
		count,
		organization,
	) => {
		const devices: TestDevice[] = [];
		while (devices.length < count) {
			const group = Math.min(ACTIVATED_TOGETHER, count - devices.length);
			devices.push(
				...(await Promise.all(
					Array.from({ length: group }, () => activateDevice(organization)),
				)),
			);
		}
		return devices;
	};

	return {
		service,
		database,
		organizationId,
		post,
		makeToken,
		enrollDevice,
		activateDevice,
		activateDevices,
		close,
	};
}
