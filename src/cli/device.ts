import { userInfo } from "node:os";
import { type Command, InvalidArgumentError } from "commander";
import type { PoolClient } from "pg";
import {
	parseOrganizationId,
	requireOrganization,
} from "../access/organization.ts";
import { readConfig } from "../config.ts";
import { withTenant } from "../db/pool.ts";
import { createDevice, DEFAULT_TOKEN_DAYS } from "../devices/enrollment.ts";
import {
	type CurrentPosture,
	currentPostures,
	type DeviceConflict,
	type DeviceSummary,
	getDevice,
	listConflicts,
	listDevices,
} from "../devices/fleet.ts";
import { AppError } from "../errors.ts";
import { parseName } from "./org.ts";
import { print, printable, table } from "./output.ts";
import { withDatabase } from "./with-database.ts";

const MAX_TOKEN_DAYS = 365;
const MAX_LISTED = 1000;

export function addDevice(program: Command): void {
	const device = program.command("device").description("Devices.");
	addCreate(device);
	addList(device);
	addShow(device);
}

/** Runs `work` in a transaction of the organization, which must exist. */
function withOrganization<Result>(
	organizationId: string,
	work: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
	return withDatabase((database) =>
		withTenant(database.pool, organizationId, async (client) => {
			await requireOrganization(client, organizationId);
			return work(client);
		}),
	);
}

interface CreateOptions {
	org: string;
	name?: string;
	expiresInDays: number;
	json?: boolean;
}

function addCreate(device: Command): void {
	device
		.command("create")
		.description(
			"Make a device and print its enrollment token, which is shown only now.",
		)
		.requiredOption("--org <id>", "the organization it belongs to")
		.option(
			"--name <name>",
			"what people call the device and its token",
			parseName,
		)
		.option(
			"--expires-in-days <days>",
			"days until the token expires",
			parseDays,
			DEFAULT_TOKEN_DAYS,
		)
		.option("--json", "print the result as JSON")
		.action(async (options: CreateOptions) => {
			const organizationId = parseOrganizationId(options.org);
			const serverUrl = readConfig(process.env).baseUrl;
			const created = await withOrganization(organizationId, (client) =>
				createDevice(client, {
					organizationId,
					name: options.name,
					tokenDays: options.expiresInDays,
					createdBy: `command line, ${userInfo().username}`,
				}),
			);
			print(
				options,
				{ ...created, server_url: serverUrl },
				`Device ${created.device_id}
Enrollment token (shown only now, works once, expires ${created.expires_at}):
  ${created.enrollment_token}

Give it to the agent on the device together with the address ${serverUrl}, or by hand:
  curl ${serverUrl}/api/agent/v1/enroll -d '{"token":"${created.enrollment_token}"}'`,
			);
		});
}

function addList(device: Command): void {
	device
		.command("list")
		.description(
			`List an organization's devices and how lately each was heard of, newest first, at most ${MAX_LISTED}.`,
		)
		.requiredOption("--org <id>", "the organization")
		.option("--json", "print the result as JSON")
		.action(async (options: { org: string; json?: boolean }) => {
			const organizationId = parseOrganizationId(options.org);
			const devices = await withOrganization(organizationId, (client) =>
				listDevices(client, organizationId, MAX_LISTED),
			);
			print(options, { devices }, describeDevices(devices));
		});
}

function addShow(device: Command): void {
	device
		.command("show <id>")
		.description(
			"Show a device: what it said of itself, conflicts, and each check since when.",
		)
		.requiredOption("--org <id>", "the organization it belongs to")
		.option("--json", "print the result as JSON")
		.action(async (id: string, options: { org: string; json?: boolean }) => {
			const organizationId = parseOrganizationId(options.org);
			const found = await withOrganization(organizationId, async (client) => {
				const summary = await getDevice(client, organizationId, id);
				if (!summary) {
					throw new AppError(
						"not_found",
						`the organization has no device ${id}; assay device list shows those it has`,
					);
				}
				return {
					device: summary,
					conflicts: await listConflicts(client, organizationId, id),
					postures: await currentPostures(client, organizationId, id),
				};
			});
			print(
				options,
				found,
				[
					describeDevice(found.device),
					...found.conflicts.map(describeConflict),
					describePostures(found.postures),
				].join("\n\n"),
			);
		});
}

function parseDays(text: string): number {
	const days = Number(text);
	if (!Number.isInteger(days) || days < 1 || days > MAX_TOKEN_DAYS) {
		throw new InvalidArgumentError(
			`It must be a whole number from 1 to ${MAX_TOKEN_DAYS}.`,
		);
	}
	return days;
}

function describeDevices(devices: DeviceSummary[]): string {
	if (devices.length === 0) {
		return "No devices yet. Make one: npx assay device create --org <id> --name <device>";
	}
	return table(
		["ID", "NAME", "STATUS", "FRESHNESS", "HOSTNAME", "PLATFORM", "CONFLICTS"],
		devices.map((device) => [
			device.id,
			device.name ?? "",
			device.status,
			device.status === "REVOKED" ? "" : device.freshness,
			device.hostname ?? "",
			device.platform ?? "",
			device.conflicts.join(", "),
		]),
	);
}

function describeDevice(device: DeviceSummary): string {
	const facts: [string, string | null][] = [
		["device", device.id],
		["name", device.name],
		[
			"status",
			device.status === "REVOKED"
				? device.status
				: `${device.status}, ${device.freshness}`,
		],
		["last seen", device.last_seen_at?.toISOString() ?? null],
		["hostname", device.hostname],
		["platform", device.platform],
		["os version", device.os_version],
		["agent", device.agent_version],
		["hardware", device.hardware_uuid],
	];
	return facts
		.filter(([, value]) => value !== null)
		.map(([label, value]) => `${label.padEnd(11)}${printable(value ?? "")}`)
		.join("\n");
}

function describeConflict(conflict: DeviceConflict): string {
	const machine = printable(
		`${conflict.hostname} (${conflict.platform}, hardware ${conflict.hardware_uuid})`,
	);
	const when = `${conflict.occurrences} times, last ${conflict.last_seen_at.toISOString()}`;
	return conflict.kind === "DUPLICATE_HARDWARE"
		? `CONFLICT duplicate hardware: ${machine} wants to be this device, but ${conflict.other_device_id} has that hardware; ${when}.
  If it is the same machine enrolled again, revoke the older device; if not, the machines share a cloned hardware id.`
		: `CONFLICT possible clone: ${machine} reports with this device's key; ${when}.
  If its hardware was replaced, enroll it again; if not, the key was copied: revoke the device.`;
}

function describePostures(postures: CurrentPosture[]): string {
	if (postures.length === 0) return "No posture reports yet.";
	return table(
		["CHECK", "STATUS", "SINCE", "OBSERVED"],
		postures.map((posture) => [
			posture.check_key,
			posture.status,
			posture.since.toISOString(),
			posture.observed_at.toISOString(),
		]),
	);
}
