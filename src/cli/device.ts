import { userInfo } from "node:os";
import { type Command, InvalidArgumentError } from "commander";
import {
	parseOrganizationId,
	requireOrganization,
} from "../access/organization.ts";
import { readConfig } from "../config.ts";
import { withTenant } from "../db/pool.ts";
import { createDevice, DEFAULT_TOKEN_DAYS } from "../devices/enrollment.ts";
import { type DeviceSummary, listDevices } from "../devices/fleet.ts";
import { parseName } from "./org.ts";
import { print, table } from "./output.ts";
import { withDatabase } from "./with-database.ts";

const MAX_TOKEN_DAYS = 365;
const MAX_LISTED = 1000;

export function addDevice(program: Command): void {
	const device = program.command("device").description("Devices.");
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
		.action(
			async (options: {
				org: string;
				name?: string;
				expiresInDays: number;
				json?: boolean;
			}) => {
				const organizationId = parseOrganizationId(options.org);
				const serverUrl = readConfig(process.env).baseUrl;
				const created = await withDatabase((database) =>
					withTenant(database.pool, organizationId, async (client) => {
						await requireOrganization(client, organizationId);
						return createDevice(client, {
							organizationId,
							name: options.name,
							tokenDays: options.expiresInDays,
							createdBy: `command line, ${userInfo().username}`,
						});
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
			},
		);
	device
		.command("list")
		.description(
			`List an organization's devices and how lately each was heard of, newest first, at most ${MAX_LISTED}.`,
		)
		.requiredOption("--org <id>", "the organization")
		.option("--json", "print the result as JSON")
		.action(async (options: { org: string; json?: boolean }) => {
			const organizationId = parseOrganizationId(options.org);
			const devices = await withDatabase((database) =>
				withTenant(database.pool, organizationId, async (client) => {
					await requireOrganization(client, organizationId);
					return listDevices(client, organizationId, MAX_LISTED);
				}),
			);
			print(options, { devices }, describeDevices(devices));
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
			device.freshness,
			device.hostname ?? "",
			device.platform ?? "",
			device.conflicts.join(", "),
		]),
	);
}
