import type { Command } from "commander";
import type { Pool } from "pg";
import {
	adoptDevice,
	UNKNOWN_KEY_COLUMNS,
	type UnknownKey,
} from "../devices/adoption.ts";
import { AppError } from "../errors.ts";
import { parseOrganizationId } from "../organizations/organization-store.ts";
import { parseDuration } from "./duration.ts";
import { counted, print, printable, table } from "./output.ts";
import { withDatabase } from "./with-database.ts";
import { withOrganization } from "./with-organization.ts";

interface KeyState {
	reason: "NEVER_HELD" | "RESTORED";
	waits_until: string | null;
	knocking: number;
}

/** Number of digits of a key's hash that the list shows. */
const SHOWN_DIGITS = 12;

/** Adds the commands for keys that no device has, as after a restore. */
export function addUnknownKeys(device: Command): void {
	device
		.command("unknown-keys")
		.description(
			"List device keys that are in use but unknown, as after a restore. While they wait, the service answers them 503, and agents keep them.",
		)
		.option(
			"--wait <duration>",
			"let unknown keys wait, for example 2d; the service notices within 10 s",
			parseDuration,
		)
		.option(
			"--reject",
			"answer 401 to unknown keys from now on, so that agents forget them",
		)
		.option("--json", "print the keys as JSON")
		.action(
			async (options: { wait?: number; reject?: boolean; json?: boolean }) => {
				const { state, keys } = await withDatabase(async ({ pool }) => {
					if (options.reject) await setWait(pool, null);
					else if (options.wait) await setWait(pool, options.wait);
					return { state: await readState(pool), keys: await readKeys(pool) };
				});
				print(
					options,
					{
						reason: state?.reason ?? null,
						waits_until: state?.waits_until ?? null,
						unknown_keys: keys,
					},
					[describeState(state), describeKeys(keys)].join("\n"),
				);
			},
		);
	device
		.command("adopt [key...]")
		.description(
			"Give unknown keys to devices of an organization, so that the agents continue without a new enrollment. Compare the list of `unknown-keys` with your devices first.",
		)
		.requiredOption("--org <id>", "id of the organization")
		.option("--all", "adopt every unknown key that names its hardware")
		.option("--json", "print the devices as JSON")
		.action(
			async (
				prefixes: string[],
				options: { org: string; all?: boolean; json?: boolean },
			) => {
				const organization_id = parseOrganizationId(options.org);
				const devices = await withOrganization(
					organization_id,
					async (run, { pool }) => {
						const adopted = [];
						const keys = choose(await readKeys(pool), prefixes, options.all);
						for (const { key_hash } of keys) {
							const { device } = await run(adoptDevice, {
								organization_id,
								key_hash,
							});
							adopted.push({ id: device.id, status: device.status, key_hash });
						}
						return adopted;
					},
				);
				print(
					options,
					{ devices },
					[
						`${counted(devices.length, "key")} adopted. The agents continue within half an hour.`,
						...devices.map(
							({ id, key_hash }) =>
								`  ${key_hash.slice(0, SHOWN_DIGITS)} is now the key of device ${id}`,
						),
					].join("\n"),
				);
			},
		);
}

/** Makes the service answer 503 to unknown keys for this many seconds. Null ends this. */
export async function setWait(
	pool: Pool,
	seconds: number | null,
): Promise<void> {
	await pool.query(
		"select set_unknown_key_wait(now() + $1 * interval '1 second')",
		[seconds],
	);
}

async function readState(pool: Pool): Promise<KeyState | undefined> {
	const { rows } = await pool.query<KeyState>(
		"select reason, waits_until, knocking from unknown_key_state()",
	);
	return rows[0];
}

async function readKeys(pool: Pool): Promise<UnknownKey[]> {
	const { rows } = await pool.query<UnknownKey>(
		`select ${UNKNOWN_KEY_COLUMNS} from list_unknown_device_keys() u`,
	);
	return rows;
}

function choose(
	keys: UnknownKey[],
	prefixes: string[],
	all = false,
): UnknownKey[] {
	if (all) return keys.filter(({ hardware_uuid }) => hardware_uuid !== null);
	if (prefixes.length === 0) {
		throw new AppError(
			"bad_request",
			"name the keys, as `assay device unknown-keys` lists them, or add --all",
		);
	}
	return prefixes.map((prefix) => {
		const [found, other] = keys.filter(({ key_hash }) =>
			key_hash.startsWith(prefix),
		);
		if (found && !other) return found;
		const problem = found ? "stands for several keys" : "stands for no key";
		throw new AppError(
			"bad_request",
			`${prefix} ${problem}; \`assay device unknown-keys\` lists them`,
		);
	});
}

function describeState(state: KeyState | undefined): string {
	if (!state) return "Unknown device keys get 401, and agents forget them.";
	return state.reason === "NEVER_HELD"
		? "Unknown device keys get 503, because this database has never held a device. If devices report, check DATABASE_URL or ASSAY_DATA_DIR."
		: `Unknown device keys get 503 until ${state.waits_until}, and agents keep them.`;
}

function describeKeys(keys: UnknownKey[]): string {
	if (keys.length === 0) return "No unknown key was used.";
	return `${counted(keys.length, "unknown key")}. Assay cannot verify what their senders say:\n${table(
		["KEY", "LAST USED", "ADDRESS", "HOSTNAME", "PLATFORM", "HARDWARE"],
		keys.map((key) => [
			key.key_hash.slice(0, SHOWN_DIGITS),
			key.last_seen_at,
			key.address ?? "",
			printable(key.hostname ?? ""),
			key.platform ?? "",
			printable(key.hardware_uuid ?? ""),
		]),
	)}`;
}
