import { type Command, InvalidArgumentError } from "commander";
import type { z } from "zod";
import type { Device } from "../devices/device-record.ts";
import { DEFAULT_TOKEN_DAYS, MAX_TOKEN_DAYS } from "../devices/enrollment.ts";
import { getDevice, listDevices } from "../devices/read-operations.ts";
import {
	addDevice as addDeviceOperation,
	deleteDevice,
	reissueEnrollmentToken,
	revokeDevice,
} from "../devices/write-operations.ts";
import { AppError } from "../errors.ts";
import { parseId } from "../id.ts";
import { parseOrganizationId } from "../organizations/organization-store.ts";
import { MAX_PAGE_SIZE } from "../records/page-sizes.ts";
import {
	describeConflict,
	describeDevice,
	describeDevices,
	describePostures,
} from "./describe-device.ts";
import { parseName } from "./org.ts";
import { print, printable } from "./output.ts";
import { addUnknownKeys } from "./unknown-keys.ts";
import { type Run, withOrganization } from "./with-organization.ts";

const MAX_LISTED = 1000;

export function addDevice(program: Command): void {
	const device = program.command("device").description("Manage devices.");
	addCreate(device);
	addList(device);
	addShow(device);
	addReissue(device);
	addRevoke(device);
	addDelete(device);
	addUnknownKeys(device);
}

interface OfOrganization {
	org: string;
	json?: boolean;
}

interface CreateOptions extends OfOrganization {
	name?: string;
	owner?: string;
	expiresInDays: number;
}

function addCreate(device: Command): void {
	device
		.command("create")
		.description(
			"Create a device and print its enrollment token, which is shown only once.",
		)
		.requiredOption("--org <id>", "id of the device's organization")
		.option("--name <name>", "name of the device", parseName)
		.option("--owner <id>", "id of the person who uses the device")
		.option(
			"--expires-in-days <days>",
			"days until the token expires",
			parseDays,
			DEFAULT_TOKEN_DAYS,
		)
		.option("--json", "print the result as JSON")
		.action(async (options: CreateOptions) => {
			const organizationId = parseOrganizationId(options.org);
			const created = await withOrganization(organizationId, (run) =>
				run(addDeviceOperation, {
					organization_id: organizationId,
					name: options.name,
					owner_id: options.owner,
					enrollment_token_expires_in_days: options.expiresInDays,
				}),
			);
			printToken(options, created);
		});
}

function addReissue(device: Command): void {
	device
		.command("reissue <id>")
		.description(
			"Print a new enrollment token for a device. Earlier tokens stop working; a revoked device may enroll again.",
		)
		.requiredOption("--org <id>", "id of the device's organization")
		.option(
			"--expires-in-days <days>",
			"days until the token expires",
			parseDays,
			DEFAULT_TOKEN_DAYS,
		)
		.option("--json", "print the result as JSON")
		.action(
			async (
				id: string,
				options: OfOrganization & { expiresInDays: number },
			) => {
				requireDeviceId(id);
				const reissued = await withOrganization(
					parseOrganizationId(options.org),
					(run) =>
						run(reissueEnrollmentToken, {
							id,
							enrollment_token_expires_in_days: options.expiresInDays,
						}),
				);
				printToken(options, reissued);
			},
		);
}

function printToken(
	options: OfOrganization,
	given: z.output<typeof addDeviceOperation.output>,
): void {
	const { enrollment_token: token, server_url: serverUrl } = given;
	print(
		options,
		{
			device_id: given.device.id,
			enrollment_token_id: given.enrollment_token_id,
			enrollment_token: token,
			expires_at: given.enrollment_token_expires_at,
			server_url: serverUrl,
		},
		`Device ${given.device.id}${given.device.awaits_approval ? ", which waits for approval; a new token does not approve it" : ""}
Enrollment token (shown only once, works once, expires ${given.enrollment_token_expires_at}):
  ${token}

On the device, install the agent (docs/agent.md), which asks for the token:
  sudo ./assay-agent install --server ${serverUrl}
or, to try it by hand:
  curl ${serverUrl}/api/agent/v1/enroll -d '{"token":"${token}"}'`,
	);
}

function addRevoke(device: Command): void {
	device
		.command("revoke <id>")
		.description(
			"Revoke a device: its key and open enrollment tokens stop working at once.",
		)
		.requiredOption("--org <id>", "id of the device's organization")
		.option("--json", "print the result as JSON")
		.action(async (id: string, options: OfOrganization) => {
			requireDeviceId(id);
			const revoked = await withOrganization(
				parseOrganizationId(options.org),
				(run) => run(revokeDevice, { id }),
			);
			print(options, revoked, `Device ${id} is revoked.`);
		});
}

function addDelete(device: Command): void {
	device
		.command("delete <id>")
		.description(
			"Delete a device for good, with its posture history, reports and links. To keep the history as evidence, revoke the device instead.",
		)
		.requiredOption("--org <id>", "id of the device's organization")
		.option("--yes", "confirm the deletion")
		.option("--json", "print the result as JSON")
		.action(async (id: string, options: OfOrganization & { yes?: boolean }) => {
			requireDeviceId(id);
			const organizationId = parseOrganizationId(options.org);
			const deleted = await withOrganization(organizationId, async (run) => {
				if (!options.yes) {
					const found = await run(getDevice, { id });
					throw new AppError("bad_request", describeLoss(found.device));
				}
				return run(deleteDevice, { id });
			});
			print(options, deleted, `Device ${id} is deleted.`);
		});
}

/**
 * Describes what a deletion would lose. The command prints this instead of asking a question,
 * because a program that runs the command could not answer.
 */
function describeLoss({ id, name, hostname, status }: Device): string {
	const known = name ?? hostname;
	const called = known === null ? "" : ` (${printable(known)})`;
	return `device ${id}${called}, ${status}, was not deleted, because that also deletes its posture history and reports for good. Add --yes to delete everything, or revoke the device to keep them`;
}

function addList(device: Command): void {
	device
		.command("list")
		.description(
			`List an organization's devices with their freshness, newest first, at most ${MAX_LISTED}.`,
		)
		.requiredOption("--org <id>", "id of the organization")
		.option("--json", "print the result as JSON")
		.action(async (options: OfOrganization) => {
			const organizationId = parseOrganizationId(options.org);
			const devices = await withOrganization(organizationId, (run) =>
				readDevices(run, organizationId),
			);
			print(options, { devices }, describeDevices(devices));
		});
}

async function readDevices(
	run: Run,
	organizationId: string,
): Promise<Device[]> {
	const devices: Device[] = [];
	let cursor: string | null = null;
	do {
		const page: z.output<typeof listDevices.output> = await run(listDevices, {
			organization_id: organizationId,
			size: MAX_PAGE_SIZE,
			cursor,
		});
		devices.push(...page.devices);
		cursor = page.next_cursor;
	} while (cursor !== null && devices.length < MAX_LISTED);
	return devices;
}

function addShow(device: Command): void {
	device
		.command("show <id>")
		.description(
			"Show a device: what it reported about itself, its conflicts, since when each check has its status, and how to fix those that fail.",
		)
		.requiredOption("--org <id>", "id of the device's organization")
		.option("--json", "print the result as JSON")
		.action(async (id: string, options: OfOrganization) => {
			const organizationId = parseOrganizationId(options.org);
			requireDeviceId(id);
			const found = await withOrganization(organizationId, (run) =>
				run(getDevice, { id }),
			);
			print(
				options,
				found,
				[
					describeDevice(found.device),
					...found.conflicts.map(describeConflict),
					describePostures(found.device.postures),
				].join("\n\n"),
			);
		});
}

function requireDeviceId(text: string): void {
	if (parseId(text)?.kind === "device") return;
	throw new AppError(
		"not_found",
		`there is no device ${text}; \`assay device list\` lists an organization's devices`,
	);
}

function parseDays(text: string): number {
	const days = Number(text);
	if (!Number.isInteger(days) || days < 1 || days > MAX_TOKEN_DAYS) {
		throw new InvalidArgumentError(
			`Give a whole number from 1 to ${MAX_TOKEN_DAYS}.`,
		);
	}
	return days;
}
