import { AgentError } from "./agent-error.ts";
import { makeClient, type Outcome } from "./client.ts";
import {
	type Credentials,
	readCredentials,
	storeCredentials,
} from "./credentials.ts";
import { readEnrollmentToken } from "./enrollment-token.ts";
import { clearEnrollmentTrouble } from "./enrollment-trouble.ts";
import { readTextFile } from "./files.ts";
import { prepareFolder, readMarker, writeMarker } from "./folder.ts";
import type { Host } from "./host.ts";
import type { Log } from "./log.ts";
import { storeProxies } from "./proxies.ts";
import { beat, openSession } from "./session.ts";
import { readStateOf } from "./state.ts";
import { findSystemProxy } from "./system-proxy.ts";
import { pinUpdateKey } from "./updates/update-notes.ts";

export interface InstallOptions {
	serverUrl: string;
	folder: string;
	tokenFile?: string | undefined;
	/** E-mail address of the person who uses this device. It counts only with an enrollment key. */
	ownerEmail?: string | undefined;
	caFile?: string | undefined;
	/** The public key with which updates are signed. Undefined if the agent does not update itself. */
	updateKey?: string | undefined;
	/** Sets up the service that starts the agent. Undefined if the user gave --no-service. */
	service?: ServiceSetup | undefined;
	/** True to enroll again even if the device is enrolled already. */
	force?: boolean | undefined;
	/** True if the service enrolls the device and retries, so that no user reads the errors. */
	isUnattended?: boolean | undefined;
}

export interface ServiceSetup {
	/** The name of the service manager, such as systemd or launchd. */
	name: string;
	/** Returns further notes for the user. */
	install(): Promise<string[]>;
}

export interface Installed {
	server_url: string;
	folder: string;
	/** The id of the device. Null until the service has accepted a heartbeat. */
	device_id: string | null;
	service: string | null;
	/** Problems that occurred. Each one says what to do. */
	warnings: string[];
}

/**
 * Enrolls this device. A token works only once. The agent therefore tries everything that can
 * fail on the device before it sends the token, and stores the returned key before it does anything
 * else.
 */
export async function install(
	options: InstallOptions,
	{ host, log, signal }: { host: Host; log: Log; signal: AbortSignal },
): Promise<Installed> {
	const { folder, serverUrl, force = false } = options;
	const earlier = await readCredentials(folder);
	if (earlier && !force && !(await isRejected(folder, earlier))) {
		return onlySetUpService(options, earlier);
	}
	const extraCa = await readCa(options.caFile);
	const client = await makeClient({
		serverUrl,
		platform: host.platform,
		extraCa,
		findProxy: (service) => findSystemProxy(host, service),
	});
	const takeBack = await prepareFolder(folder);
	let credentials: Credentials;
	try {
		const token = await readEnrollmentToken(options.tokenFile);
		const apiKey = await exchange(
			client,
			{ token, ...(options.ownerEmail && { owner_email: options.ownerEmail }) },
			signal,
			options.isUnattended === true,
		);
		credentials = await storeCredentials(folder, serverUrl, apiKey, extraCa);
		await clearEnrollmentTrouble(folder);
		// The service of an unattended agent sets the proxies at each start.
		if (!options.isUnattended) await storeProxies(folder);
		if (options.updateKey) await pinUpdateKey(folder, options.updateKey);
	} catch (error) {
		await takeBack();
		throw error;
	}
	client.rest();
	const warnings: string[] = [];
	if (earlier) await revoke(earlier, host, signal);
	const deviceId = await activate(
		credentials,
		{ folder, host, log, signal },
		warnings,
	);
	const service = await setUpService(options, warnings);
	return {
		server_url: serverUrl,
		folder,
		device_id: deviceId,
		service,
		warnings,
	};
}

/** Returns true if the service has rejected the key. The user then enrolls again on purpose. */
async function isRejected(
	folder: string,
	{ enrollment_id }: Credentials,
): Promise<boolean> {
	return (await readStateOf(folder, enrollment_id)).rejection !== null;
}

/** Repeats only the setup of the service after it failed, which needs no second token. */
async function onlySetUpService(
	options: InstallOptions,
	enrolled: Credentials,
): Promise<Installed> {
	const { folder, serverUrl } = options;
	const marker = await readMarker(folder);
	const isMissing = options.service !== undefined && marker?.service === null;
	if (!isMissing || enrolled.server_url !== serverUrl) {
		throw new AgentError(
			`this device is already enrolled with ${enrolled.server_url}; run the status command to see it, or add --force to enroll it again`,
		);
	}
	const warnings: string[] = [];
	await storeProxies(folder);
	if (options.updateKey) await pinUpdateKey(folder, options.updateKey);
	const service = await setUpService(options, warnings);
	const { device_id } = await readStateOf(folder, enrolled.enrollment_id);
	return { server_url: serverUrl, folder, device_id, service, warnings };
}

async function readCa(file: string | undefined): Promise<string | undefined> {
	if (file === undefined) return undefined;
	const { createSecureContext } = await import("node:tls");
	try {
		const pem = await readTextFile(file);
		if (!pem.includes("-----BEGIN"))
			throw new Error("the file contains no PEM block");
		createSecureContext({ ca: pem });
		return pem;
	} catch (cause) {
		throw new AgentError(
			`${file} contains no readable certificate; --ca-file needs a PEM file with the certificate of your certificate authority`,
			{ cause },
		);
	}
}

async function exchange(
	client: Awaited<ReturnType<typeof makeClient>>,
	body: { token: string; owner_email?: string },
	signal: AbortSignal,
	isUnattended: boolean,
): Promise<string> {
	const outcome = await client.send("enroll", { body, signal });
	if (outcome.kind === "ok") {
		const key = outcome.body.api_key;
		// The key becomes part of a header. A line break in it would start another header.
		if (typeof key === "string" && /^[\x21-\x7e]{1,4096}$/.test(key)) {
			return key;
		}
	}
	if (outcome.kind === "unauthorized") {
		throw new AgentError(
			"the enrollment token or key is unknown, used, expired or revoked; ask an administrator for a new one",
		);
	}
	if (outcome.kind === "refused") {
		throw new AgentError(
			`the service rejected the enrollment token: ${outcome.message}`,
		);
	}
	const reason =
		outcome.kind === "trouble"
			? outcome.reason
			: "its answer is not from an Assay service";
	throw new AgentError(
		`this device is not enrolled: ${reason}. ${nextStep(outcome, isUnattended)}`,
		outcome.kind === "trouble"
			? { retryAfterSeconds: outcome.retryAfterSeconds }
			: {},
	);
}

function nextStep(outcome: Outcome, isUnattended: boolean): string {
	if (isUnattended) return "The agent tries again";
	// If the agent never sent the token, the service cannot have used it up.
	const mayBeTaken = outcome.kind !== "trouble" || outcome.isUnsent !== true;
	return mayBeTaken
		? "Run the command again; if the service then rejects the token, it has been used, and you need a new one"
		: "Run the command again";
}

/**
 * Revokes the earlier enrollment of this machine. Otherwise the hardware would still belong to the
 * earlier device, and the service would reject the new one.
 */
async function revoke(
	earlier: Credentials,
	host: Host,
	signal: AbortSignal,
): Promise<void> {
	const client = await makeClient({
		serverUrl: earlier.server_url,
		platform: host.platform,
		extraCa: earlier.extra_ca,
		findProxy: (service) => findSystemProxy(host, service),
	});
	await client.send("unenroll", {
		key: earlier.api_key,
		signal,
		timeoutMs: 5000,
	});
	client.rest();
}

async function activate(
	credentials: Credentials,
	parts: { folder: string; host: Host; log: Log; signal: AbortSignal },
	warnings: string[],
): Promise<string | null> {
	const session = await openSession(credentials, parts);
	const outcome = await beat(session);
	session.client.rest();
	if (outcome.kind === "refused") {
		warnings.push(
			`The service does not activate this device yet: ${outcome.message}. The device then becomes active within 15 minutes.`,
		);
	}
	if (outcome.kind === "trouble") {
		warnings.push(
			`The first heartbeat did not arrive: ${outcome.reason}. The device is enrolled and becomes active as soon as the agent reaches the service.`,
		);
	}
	if (outcome.kind === "unauthorized") {
		warnings.push(
			"The service rejected the key that it had just given this device. The agent asks again in 5 and in 15 minutes, and then removes the key. If an administrator revoked the device, get a new enrollment token and run the install command again.",
		);
	}
	return session.state.device_id;
}

/**
 * Sets up the service. If this fails, the device stays enrolled and the user can repeat the
 * command.
 */
async function setUpService(
	{ service, folder }: InstallOptions,
	warnings: string[],
): Promise<string | null> {
	if (!service) return null;
	try {
		warnings.push(...(await service.install()));
		await writeMarker(folder, { service: service.name });
		return service.name;
	} catch (error) {
		warnings.push(
			`The service was not set up: ${(error as Error).message}. The device is enrolled. Fix the problem and repeat the command, which then needs no token, or start the agent in another way.`,
		);
		return null;
	}
}
